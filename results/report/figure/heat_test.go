package figure

import (
	"bytes"
	"regexp"
	"strconv"
	"testing"
)

// warm has three of four fields, of which the first is framed.
func warm() Figure {
	return Figure{
		Name: "warm", Title: "Warm", X: Axis{Title: "load", Columns: []string{"0.1", "0.9"}}, Y: Axis{Title: "threshold", Rows: []string{"50us", "150us"}},
		Heat: &Heat{Log: true, Fields: []Field{
			{Row: 0, Column: 0, Value: 1, Text: "1us", Note: "best", Framed: true},
			{Row: 0, Column: 1, Value: 10, Text: "10us"},
			{Row: 1, Column: 1, Value: 100, Text: "a text much wider than half of the figure, which has no place"},
		}},
	}
}

// opacities are those of the fills of a document that are not opaque, without the key.
func opacities(document []byte) (all []float64) {
	for _, group := range regexp.MustCompile(`(?s)<g class="field">.*?</g>`).FindAll(document, -1) {
		m := regexp.MustCompile(`fill-opacity="([\d.]+)"`).FindSubmatch(group)
		v, _ := strconv.ParseFloat(string(m[1]), 64)
		all = append(all, v)
	}
	return all
}

// TestHeat: 10 lies in the middle between 1 and 100 by its logarithm.
func TestHeat(t *testing.T) {
	svg := warm().SVG()
	count := elements(t, svg)
	if count["field"] != 3 || count["title"] != 1 {
		t.Errorf("%d fields and %d notes, want 3 and 1", count["field"], count["title"])
	}
	shades := opacities(svg)
	if len(shades) != 3 || shades[0] != palest || shades[2] != deepest || shades[1] < 0.329 || shades[1] > 0.331 {
		t.Errorf("shades %v, want %v, 0.33 and %v", shades, palest, deepest)
	}
	if n := bytes.Count(svg, []byte("much wider")); n != 1 { // in the key alone
		t.Errorf("a text that does not fit stands there %d times", n)
	}
	for _, name := range []string{">0.1<", ">0.9<", ">50us<", ">150us<", ">threshold<", ">load<"} {
		if !bytes.Contains(svg, []byte(name)) {
			t.Errorf("the figure has no %s", name)
		}
	}
	if _, err := warm().PDF(); err != nil {
		t.Error(err)
	}
}

// TestHeatOfEqualValues: without a range there are no shades.
func TestHeatOfEqualValues(t *testing.T) {
	f := warm()
	f.Heat = &Heat{Fields: []Field{{Value: 3, Text: "3"}, {Row: 1, Value: 3, Text: "3"}}}
	for _, v := range opacities(f.SVG()) {
		if v != palest {
			t.Errorf("an opacity of %v", v)
		}
	}
	f.Heat = &Heat{}
	f.SVG()
}

// TestColumnsThatDoNotFit: names of columns that would overlap are left out.
func TestColumnsThatDoNotFit(t *testing.T) {
	a := Axis{}
	for i := range 100 {
		a.Columns = append(a.Columns, "value "+strconv.Itoa(i))
	}
	s := a.scale(40, 340)
	ticks := a.columnTicks(s)
	for i, k := range ticks[1:] {
		if apart := k.at - ticks[i].at; apart < textWidth("value 99") {
			t.Errorf("%s is %v behind the one before", k.text, apart)
		}
	}
	if ticks[0].text != "value 0" || ticks[0].at != s.at(0) {
		t.Errorf("the first is %v", ticks[0])
	}
}

// TestDots: dots have intervals and are not joined.
func TestDots(t *testing.T) {
	f := Figure{X: Axis{High: 2}, Y: Axis{High: 2}, Series: []Series{{Name: "a", Style: 1, Form: Dots, Points: []Point{{X: 1, Y: 1, Low: 0.5, High: 2}, {X: 2, Y: 1}}}}}
	count := elements(t, f.SVG())
	if count["s1"] != 3 || count["f-s1"] != 3 { // an interval with whiskers; two dots and that of the legend
		t.Errorf("%d lines and %d dots, want 3 and 3", count["s1"], count["f-s1"])
	}
}
