package transport

import (
	"strings"
	"testing"
)

// TestTable: ECN is what DCTCP (RFC 8257), the papers' ECN* (RFC 3168) and DCQCN
// need, and what the plain transports do without. No kernel has DCQCN.
func TestTable(t *testing.T) {
	want := map[string]bool{"dctcp": true, "ecn-star": true, "reno": false, "cubic": false, "dcqcn": true}
	for _, k := range Table() {
		made, err := Table().New(k.Name, nil, struct{}{})
		if err != nil {
			t.Fatal(err)
		}
		ecn, known := want[k.Name]
		if !known || made.ECN != ecn || made.Modelled != (k.Name == "dcqcn") || made.Name != k.Name || k.Doc == "" {
			t.Errorf("%+v, doc %q", made, k.Doc)
		}
		delete(want, k.Name)
	}
	if len(want) > 0 {
		t.Errorf("not in the table: %v", want)
	}
}

// TestG: 1/16 is what RFC 8257, section 3.3, recommends.
func TestG(t *testing.T) {
	made, err := Table().New("dctcp", nil, struct{}{})
	if err != nil || made.G != 0.0625 {
		t.Errorf("default %v, %v; want 0.0625", made.G, err)
	}
	for g, ok := range map[float64]bool{0: false, -0.5: false, 0.25: true, 1: true, 1.01: false} {
		made, err := Table().New("dctcp", map[string]any{"g": g}, struct{}{})
		if (err == nil) != ok || ok && made.G != g {
			t.Errorf("g %v: %v, %v", g, made.G, err)
		}
	}
	if _, err := Table().New("reno", map[string]any{"g": 0.5}, struct{}{}); err == nil {
		t.Error("Reno takes a g")
	}
}

// TestOnLoss: a loss halves the window unless the lab says otherwise (RFC 8257,
// section 3.5).
func TestOnLoss(t *testing.T) {
	for _, tt := range []struct {
		params  map[string]any
		byAlpha bool
		bad     string
	}{
		{params: nil},
		{params: map[string]any{"on_loss": "half"}},
		{params: map[string]any{"on_loss": "alpha"}, byAlpha: true},
		{params: map[string]any{"on_loss": "none"}, bad: "on_loss"},
	} {
		made, err := Table().New("dctcp", tt.params, struct{}{})
		if made.LossByAlpha != tt.byAlpha || (err != nil) != (tt.bad != "") || err != nil && !strings.Contains(err.Error(), tt.bad) {
			t.Errorf("%v: %+v, %v", tt.params, made, err)
		}
	}
}
