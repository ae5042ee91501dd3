package response

import (
	"io"
	"testing"
)

// BenchmarkShow does everything with 10,976 points: two schemes, three axes of 14 values
// each, two seeds.
func BenchmarkShow(b *testing.B) {
	s := typical(14, 2)
	b.ReportMetric(float64(len(s.Points)), "points")
	for b.Loop() {
		v, err := New(s, Options{})
		if err != nil {
			b.Fatal(err)
		}
		for _, write := range []func(io.Writer) error{v.WriteText, v.WriteHTML, v.WriteJSON, v.WriteCSV} {
			if err := write(io.Discard); err != nil {
				b.Fatal(err)
			}
		}
		for _, f := range v.Figures() {
			f.SVG()
			if _, err := f.PDF(); err != nil {
				b.Fatal(err)
			}
		}
	}
}
