package response

import (
	_ "embed"
	"io"

	"aqmlab/results/report/figure"
	"aqmlab/results/report/layout"
)

//go:embed page.html.tmpl
var pageTemplate string

// group is some figures under one heading, and their numbers.
type group struct {
	Title, Note string
	Figures     []figure.Figure
	Tables      []layout.Table
}

// content is what the page's template shows.
type content struct {
	*View
	About   []string
	Groups  []group
	Best    layout.Table
	Robust  layout.Table
	Effects layout.Table
}

// WriteHTML writes one self-contained page, which fetches nothing.
func (v *View) WriteHTML(w io.Writer) error {
	c := content{View: v, About: v.about(), Best: v.bestTable(), Robust: v.robustTable(), Effects: v.effectTable()}
	curves := group{Title: "Curves", Note: "Bars: 95 % intervals, cut where they go far beyond the means. A flat line: the axis does not concern the scheme.", Figures: v.curveFigures()}
	for _, p := range v.Panels {
		curves.Tables = append(curves.Tables, v.curveTable(p))
	}
	maps := group{Title: "Maps", Note: "Each map has shades of its own. Framed: the best under each condition, such as a load.", Figures: v.mapFigures()}
	for _, m := range v.Maps {
		maps.Tables = append(maps.Tables, v.mapTable(m))
	}
	fronts := group{Title: "Fronts", Note: aboutFront, Figures: v.frontFigures()}
	for _, f := range v.Fronts {
		if len(f.Settings) > 1 {
			fronts.Tables = append(fronts.Tables, v.frontTable(f))
		}
	}
	c.Groups = []group{curves, maps, fronts}
	if v.mapped {
		c.Groups = []group{maps, curves, fronts}
	}
	return layout.Write(w, pageTemplate, c)
}
