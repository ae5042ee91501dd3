package response

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// views are sets that are awkward to show, by name.
func views(t *testing.T) map[string]*View {
	half := typical(5, 3)
	half.Points = half.Points[:len(half.Points)/3]
	words := sheet([]Axis{axis("host.transport", "dctcp cubic"), axis("schemes.tcn.threshold", "50us 1ms 2s")}, "tcn red", 2,
		func(scheme string, values []string, seed uint64) map[string]float64 {
			return map[string]float64{"small.p99": float64(len(values[0]) * len(values[1]) * int(seed)), "large.avg": 7, "completed": 0.5}
		})
	nothing := sheet([]Axis{axis("workload.load", "0.1 0.2")}, "<tcn>", 1, func(string, []string, uint64) map[string]float64 { return nil })
	one := sheet(nil, "tcn", 2, func(string, []string, uint64) map[string]float64 { return p99(3) })
	return map[string]*View{
		"whole":   viewOf(t, typical(4, 3), Options{Title: "quick & <slow>"}),
		"mapped":  viewOf(t, typical(4, 3), Options{Over: []string{"host.rto_min", "schemes.tcn.threshold"}}),
		"held":    viewOf(t, typical(4, 3), Options{At: map[string]string{"host.rto_min": "2ms", "schemes.tcn.threshold": "17us"}}),
		"half":    viewOf(t, half, Options{}),
		"words":   viewOf(t, words, Options{Over: []string{"host.transport"}}),
		"other":   viewOf(t, words, Options{Over: []string{"schemes.tcn.threshold"}, Metric: "completed"}),
		"nothing": viewOf(t, nothing, Options{}),
		"point":   viewOf(t, one, Options{}),
	}
}

func TestText(t *testing.T) {
	for name, v := range views(t) {
		var b bytes.Buffer
		if err := v.WriteText(&b); err != nil {
			t.Error(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > tableWidth {
				t.Errorf("%s: a line of %d characters: %s", name, n, line)
			}
			if strings.HasSuffix(line, " \n") || strings.Contains(line, "NaN") || strings.Contains(line, "Inf") {
				t.Errorf("%s: the line %q", name, line)
			}
		}
		for _, warning := range v.Warnings {
			if !strings.Contains(strings.Join(strings.Fields(b.String()), " "), "warning: "+warning) {
				t.Errorf("%s: the text does not say: %s", name, warning)
			}
		}
	}
}

// TestTextOfCurve: rows are values of the axis, what does not concern a scheme is the
// same in all.
func TestTextOfCurve(t *testing.T) {
	v := viewOf(t, twoSchemes(), Options{Over: []string{"schemes.tcn.threshold"}, At: map[string]string{"workload.load": "0.5"}})
	want := strings.Join([]string{
		"small.p99",
		"schemes.tcn.threshold          tcn          red",
		"50us                   1105.0us ±1%  105.0us ±9%",
		"78us                   2105.0us ±0%  105.0us ±9%",
		"150us                  3105.0us ±0%  105.0us ±9%",
	}, "\n")
	got := v.curveTable(v.Panels[0]).Text(tableWidth)
	if fields(got) != fields(want) {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// fields are the words of a text with one space between.
func fields(s string) string { return strings.Join(strings.Fields(s), " ") }

// TestHTML: a page is one document that fetches nothing, and has every figure.
func TestHTML(t *testing.T) {
	for name, v := range views(t) {
		var b bytes.Buffer
		if err := v.WriteHTML(&b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		page := b.String()
		for _, fetches := range []string{"<link", "src=", "@import", "url(", "href="} {
			if strings.Contains(page, fetches) {
				t.Errorf("%s: the page has %s", name, fetches)
			}
		}
		if got, want := strings.Count(page, "<figure>"), len(v.Figures()); got != want {
			t.Errorf("%s: %d figures, want %d", name, got, want)
		}
		if strings.Contains(page, "<slow>") || strings.Contains(page, "<tcn>") || strings.Contains(page, "NaN") {
			t.Errorf("%s: what is not escaped, or no number", name)
		}
	}
}

// TestFigures: every figure can be drawn in both forms, under a name of its own.
func TestFigures(t *testing.T) {
	for name, v := range views(t) {
		seen := make(map[string]bool)
		for _, f := range v.Figures() {
			d := xml.NewDecoder(bytes.NewReader(f.SVG()))
			for {
				if _, err := d.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("%s, %s: %v", name, f.Name, err)
				}
			}
			if svg := f.SVG(); bytes.Contains(svg, []byte("NaN")) || bytes.Contains(svg, []byte("Inf")) {
				t.Errorf("%s: %s has a place that is none", name, f.Name)
			}
			if _, err := f.PDF(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if seen[f.Name] || strings.ContainsAny(f.Name, "/ ,") {
				t.Errorf("%s: a figure is called %q", name, f.Name)
			}
			seen[f.Name] = true
		}
	}
	first := func(o Options) string { return viewOf(t, typical(4, 2), o).Figures()[0].Name }
	if got := first(Options{Over: []string{"host.rto_min"}}); !strings.HasPrefix(got, "curve-") {
		t.Errorf("over one axis the first figure is %s", got)
	}
	if got := first(Options{Over: []string{"workload.load", "host.rto_min"}}); !strings.HasPrefix(got, "map-") {
		t.Errorf("over two axes the first figure is %s", got)
	}
}

func TestJSON(t *testing.T) {
	for name, v := range views(t) {
		var b bytes.Buffer
		if err := v.WriteJSON(&b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if strings.Contains(b.String(), ": null") && name == "whole" {
			t.Errorf("%s has null for a list", name)
		}
	}
	var b bytes.Buffer
	if err := viewOf(t, twoSchemes(), Options{}).WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Cells []struct {
			Scheme  string
			Values  map[string]string
			Figures map[string]struct {
				N    int
				Mean float64
				CI95 []float64
			}
		}
		Curves []struct {
			Lines []struct {
				Scheme string
				Places []struct {
					Value    string
					Estimate struct{ Mean float64 }
				}
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Cells) != 8 { // six of tcn, and two of red
		t.Errorf("%d cells, want 8", len(got.Cells))
	}
	red := got.Cells[1]
	if f := red.Figures["small.p99"]; red.Scheme != "red" || fmt.Sprint(red.Values) != "map[workload.load:0.5]" || f.N != 3 || f.Mean != 105 || len(f.CI95) != 2 {
		t.Errorf("the second cell is %+v", red)
	}
	if place := got.Curves[0].Lines[0].Places[1]; place.Value != "0.9" || place.Estimate.Mean != 1205 {
		t.Errorf("a place of a curve is %+v", place)
	}
}

func TestCSV(t *testing.T) {
	var b bytes.Buffer
	if err := viewOf(t, twoSchemes(), Options{}).WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if want := "scheme,workload.load,schemes.tcn.threshold,metric,unit,seeds,mean,low,high,low_fidelity"; strings.Join(rows[0], ",") != want || len(rows) != 9 {
		t.Errorf("%d rows below %v, want 8 below %s", len(rows)-1, rows[0], want)
	}
	red := rows[slices.IndexFunc(rows, func(row []string) bool { return row[0] == "red" })]
	if got := strings.Join(red[:7], ","); got != "red,0.5,,small.p99,us,3,105" || !(float(t, red[7]) < 105 && float(t, red[8]) > 105) {
		t.Errorf("the row of red is %v", red)
	}
}

// full is a disk without room.
type full struct{}

var errFull = errors.New("full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriteErrors(t *testing.T) {
	v := viewOf(t, twoSchemes(), Options{})
	for _, write := range []func(io.Writer) error{v.WriteText, v.WriteHTML, v.WriteJSON, v.WriteCSV} {
		if err := write(full{}); !errors.Is(err, errFull) {
			t.Errorf("on a full disk: %v", err)
		}
	}
}
