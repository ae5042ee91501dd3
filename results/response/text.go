package response

import (
	"bytes"
	"io"

	"aqmlab/results/report/layout"
)

// What stands below tables, in text and on pages.
const (
	aboutMeans = "Means over seeds; ± is half of the 95 % interval (Student's t), relative to the mean."
	aboutStar  = "A star: the best under its condition, such as a load; it need not be better than the next by more than chance."
	aboutFront = "A setting beats another if it is no worse in both metrics' means and better in one. Settings are compared under equal conditions only."
	aboutLow   = "!: rests on points of low fidelity: the machine did not keep up."
	aboutRange = "Range: of the means at the values of the axis, over all values of the other axes, relative to the mean over all. By chance: what seeds alone lead to in at most 5 of 100 sweeps."
)

// WriteText prints the view for people: the curves or, if two axes were named, the maps;
// then the fronts, the best settings and the effects.
func (v *View) WriteText(w io.Writer) error {
	var b bytes.Buffer
	say := func(text string) { b.WriteString(layout.Wrap(text, tableWidth, "  ") + "\n") }
	put := func(t layout.Table) {
		if len(t.Rows) > 0 {
			b.WriteString(t.Text(tableWidth) + "\n")
		}
	}
	say(v.Title + ": " + v.Metric.Name + ", " + v.Metric.Doc)
	b.WriteByte('\n')
	if v.mapped {
		for _, m := range v.Maps {
			put(v.mapTable(m))
		}
	}
	if !v.mapped || len(v.Maps) == 0 {
		for _, p := range v.Panels {
			put(v.curveTable(p))
		}
	}
	for _, f := range v.Fronts {
		if len(f.Settings) > 1 {
			put(v.frontTable(f))
		}
	}
	put(v.bestTable())
	put(v.robustTable())
	put(v.effectTable())
	for _, text := range v.about() {
		say(text)
	}
	for _, note := range v.Notes {
		say(note)
	}
	for _, warning := range v.Warnings {
		say("warning: " + warning)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// about explains what of the tables is there.
func (v *View) about() []string {
	all := []string{aboutMeans}
	if len(v.Bests) > 0 {
		all = append(all, aboutStar)
	}
	if len(v.Fronts) > 0 {
		all = append(all, aboutFront)
	}
	if v.grid.low() > 0 {
		all = append(all, aboutLow)
	}
	if len(v.Effects) > 0 {
		all = append(all, aboutRange)
	}
	return all
}
