package response

import (
	"fmt"
	"slices"
	"strings"

	"aqmlab/results"
	"aqmlab/results/report/layout"
)

// tableWidth is the widest line of text, in characters.
const tableWidth = 100

// mostRows is how many rows of a table of settings people are shown.
const mostRows = 30

// curveTable has the values of the axis below each other and the lines beside each
// other.
func (v *View) curveTable(p Panel) layout.Table {
	t := layout.Table{Name: "curve", Title: heading(v.Metric, p.Held), Wide: true, Head: []string{v.Over[0].Key}}
	for _, l := range p.Lines {
		t.Head = append(t.Head, l.Name())
	}
	for level, value := range v.Over[0].Values {
		row, there := []string{value}, false
		for _, l := range p.Lines {
			i := slices.IndexFunc(l.Places, func(p Place) bool { return l.Flat || p.level == level })
			if i < 0 {
				row = append(row, "-")
				continue
			}
			there = there || !l.Flat
			row = append(row, flagged(showEstimate(v.Metric, l.Places[i].Estimate), l.Places[i].Low))
		}
		if there {
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// mapTable has the values of the second axis below each other.
func (v *View) mapTable(m Map) layout.Table {
	x, y := v.Over[0], v.Over[1]
	t := layout.Table{Name: "map", Title: heading(v.Metric, m.Name()) + ": " + y.Key + " down, " + x.Key + " across", Wide: true, Head: append([]string{""}, x.Values...)}
	for row, value := range y.Values {
		cells := append([]string{value}, slices.Repeat([]string{"-"}, len(x.Values))...)
		for _, s := range m.Spots {
			if s.row != row {
				continue
			}
			cells[1+s.column] = flagged(show(v.Metric, s.Estimate.Mean), s.Low)
			if s.Best {
				cells[1+s.column] = "*" + cells[1+s.column]
			}
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// frontTable has the settings that no other beats.
func (v *View) frontTable(f Front) layout.Table {
	ahead := f.Ahead()
	t := layout.Table{
		Name: "front", Title: fmt.Sprintf("%s: %d of %d settings that no other beats", join(", ", v.Front[0].Name+" and "+v.Front[1].Name, f.Condition), len(ahead), len(f.Settings)),
		Head: []string{"setting", v.Front[0].Name, v.Front[1].Name},
	}
	if len(ahead) > mostRows {
		t.Title += fmt.Sprintf(", the first %d", mostRows)
	}
	for _, s := range ahead[:min(len(ahead), mostRows)] {
		t.Rows = append(t.Rows, []string{s.Name(), flagged(showEstimate(v.Front[0], s.A), s.Low), flagged(showEstimate(v.Front[1], s.B), s.Low)})
	}
	return t
}

// bestTable has a row for each condition and scheme, and a column for each metric.
func (v *View) bestTable() layout.Table {
	t := layout.Table{Name: "best", Title: "Best setting of each scheme", Wide: true, Head: []string{"scheme"}}
	for _, m := range v.metrics() {
		t.Head = append(t.Head, m.Name)
	}
	at := make(map[string]map[string]Best)
	name := func(b Best) string {
		if b.Condition == "" {
			return b.Scheme
		}
		return b.Scheme + " at " + b.Condition
	}
	for _, b := range v.Bests {
		if at[name(b)] == nil {
			at[name(b)] = make(map[string]Best)
		}
		at[name(b)][b.Metric] = b
	}
	for _, row := range results.Distinct(v.Bests, name) {
		cells := []string{row}
		for _, m := range v.metrics() {
			b, ok := at[row][m.Name]
			if !ok {
				cells = append(cells, "-")
				continue
			}
			value := flagged(showEstimate(m, b.Estimate), b.Low)
			if b.First {
				value = "*" + value
			}
			cells = append(cells, join(" with ", value, b.Values))
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// robustTable has the settings that suit all conditions.
func (v *View) robustTable() layout.Table {
	t := layout.Table{Name: "robust", Title: "Closest to its best under every condition", Wide: true, Head: []string{"scheme", "metric", "setting", "worse than its best by", "at"}}
	for _, r := range v.Robusts {
		where := r.Where
		if r.Worst == 0 {
			where = "-"
		}
		t.Rows = append(t.Rows, []string{r.Scheme, r.Metric, flagged(r.Values, r.Low), fmt.Sprintf("%.1f %%", r.Worst), where})
	}
	return t
}

// effectTable has a row for each scheme and axis.
func (v *View) effectTable() layout.Table {
	t := layout.Table{Name: "effects", Title: "How far each axis moves " + v.Metric.Name, Wide: true, Head: []string{"scheme", "axis", "range", "lowest at", "highest at", "by chance up to", "beyond chance"}}
	for _, e := range v.Effects {
		noise, beyond := "not known", "not known"
		if e.Noise != nil {
			noise, beyond = fmt.Sprintf("%.1f %%", *e.Noise), "no"
			if e.Beyond {
				beyond = "yes"
			}
		}
		t.Rows = append(t.Rows, []string{e.Scheme, e.Axis, fmt.Sprintf("%.1f %%", e.Percent), e.Lowest, e.Highest, noise, beyond})
	}
	return t
}

// join puts words that are not empty together.
func join(between string, words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), between)
}
