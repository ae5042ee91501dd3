package board

import (
	"slices"
	"strings"
	"testing"

	"aqmlab/orchestrator/sweep/sweeptest"
)

// TestGrid: what many points have in common stands in columns, and no two in one cell.
func TestGrid(t *testing.T) {
	for _, c := range []struct {
		axes          []string
		rows, columns []string
	}{
		{nil, []string{"droptail", "tcn"}, []string{"", ""}},
		{[]string{"host.init_cwnd=10,20"}, []string{"droptail", "tcn"}, []string{"host.init_cwnd 10", "host.init_cwnd 10", "host.init_cwnd 20", "host.init_cwnd 20"}},
		{[]string{"host.init_cwnd=10,20", "workload.load=0.3"}, []string{"droptail, host.init_cwnd 10", "droptail, host.init_cwnd 20", "tcn, host.init_cwnd 10", "tcn, host.init_cwnd 20"}, []string{"load 0.3", "load 0.3"}},
		{[]string{"workload.load=0.3,0.6 with schemes.tcn.threshold=50us,99us"}, []string{"droptail", "tcn"}, []string{"load 0.3", "load 0.3", "load 0.6", "load 0.6"}},
	} {
		w := sweeptest.Expand(t, c.axes...)
		g := newGrid(w.Axes, w.Measurements())
		var rows, columns []string
		for _, l := range g.rows {
			rows = append(rows, l.label)
		}
		for _, l := range g.columns {
			first, _, _ := strings.Cut(l.label, ",")
			columns = append(columns, first)
		}
		if !slices.Equal(rows, c.rows) || !slices.Equal(columns, c.columns) {
			t.Errorf("%q: rows %q, columns %q", c.axes, rows, columns)
		}
		seen := make(map[cell]bool)
		for _, at := range g.cells {
			if seen[at] {
				t.Errorf("%q: two points at %v", c.axes, at)
			}
			seen[at] = true
		}
	}
}
