package transport

import (
	"strings"
	"testing"
	"time"

	"aqmlab/units"
)

// TestDCQCN: the defaults are those of the paper, sections 3 and 5.2, and a lab
// may change each within its bounds.
func TestDCQCN(t *testing.T) {
	made, err := Table().New("dcqcn", nil, struct{}{})
	p := made.DCQCN
	if err != nil || p.G != 0.00390625 || p.AlphaTimer != 55*time.Microsecond || p.CNPInterval != 50*time.Microsecond ||
		p.Timer != 55*time.Microsecond || p.ByteCounter != 10_000_000 || p.FastRecovery != 5 || p.RAI != 40_000_000 || p.RHAI != 400_000_000 {
		t.Errorf("defaults %+v, %v", made, err)
	}
	for _, tt := range []struct {
		name string
		ok   []any
		bad  []any
	}{
		{"g", []any{1, 0.0625}, []any{0, -0.5, 1.01}},
		{"alpha_timer", []any{"1ns"}, []any{"0s", 55}},
		{"cnp_interval", []any{"4us"}, []any{"0s"}},
		{"cnp_dscp", []any{-1, 0, 63}, []any{-2, 64, 1.5}},
		{"timer", []any{"1.5ms"}, []any{"0s"}},
		{"byte_counter", []any{"150KB"}, []any{"0B", 7}},
		{"fast_recovery", []any{0, 1}, []any{-1}},
		{"rai", []any{"5Mbps"}, []any{"0bps"}},
		{"rhai", []any{"50Mbps"}, []any{"0bps"}},
		{"min_rate", []any{"1Mbps"}, []any{"0bps"}},
		{"ack_every", []any{1}, []any{0}},
	} {
		for _, v := range tt.ok {
			if _, err := Table().New("dcqcn", map[string]any{tt.name: v}, struct{}{}); err != nil {
				t.Errorf("%s %v: %v", tt.name, v, err)
			}
		}
		for _, v := range tt.bad {
			if _, err := Table().New("dcqcn", map[string]any{tt.name: v}, struct{}{}); err == nil || !strings.Contains(err.Error(), "dcqcn: "+tt.name) {
				t.Errorf("%s %v: error %v", tt.name, v, err)
			}
		}
	}
	made, err = Table().New("dcqcn", map[string]any{"rai": "5Mbps"}, struct{}{})
	if err != nil || made.DCQCN.RAI != 5*units.Mbps || made.DCQCN.RHAI != 400*units.Mbps {
		t.Errorf("with a step of 5 Mbps: %+v, %v", made.DCQCN, err)
	}
}
