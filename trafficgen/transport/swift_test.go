package transport

import (
	"strings"
	"testing"
)

// TestSwift: the constants of algorithm 1, and bounds of the parameters.
func TestSwift(t *testing.T) {
	if p := DefaultSwift(); p.AI != 1 || p.Beta != 0.8 || p.MaxMDF != 0.5 || p.FSMinCwnd != 0.1 || p.FSMaxCwnd != 100 {
		t.Errorf("default %+v", p)
	}
	for name, bad := range map[string]any{
		"ai": 0, "beta": 1.5, "max_mdf": 1, "base_target": "-1s", "headroom": 0, "fs_range": "11s",
		"fs_min_cwnd": 0, "fs_max_cwnd": 0.05, "min_cwnd": 2, "max_cwnd": 0.5, "retx_reset": 0,
	} {
		if _, err := Table().New("swift", map[string]any{name: bad}, struct{}{}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s %v: %v", name, bad, err)
		}
	}
}
