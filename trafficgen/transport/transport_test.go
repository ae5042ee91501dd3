package transport

import (
	"strings"
	"testing"
)

// TestTable: ECN is what DCTCP (RFC 8257), the papers' ECN* (RFC 3168) and DCQCN
// need, and what the plain transports do without. No kernel has DCQCN, Prague, Swift or
// version 3 of BBR.
func TestTable(t *testing.T) {
	want := map[string]bool{"dctcp": true, "ecn-star": true, "reno": false, "cubic": false, "dcqcn": true, "prague": true, "swift": false, "bbr": false, "bbr3": false, "udp": false}
	modelled := map[string]bool{"dcqcn": true, "prague": true, "swift": true, "bbr3": true}
	for _, k := range Table() {
		made, err := Table().New(k.Name, nil, struct{}{})
		if err != nil {
			t.Fatal(err)
		}
		ecn, known := want[k.Name]
		if !known || made.ECN != ecn || made.Modelled != modelled[k.Name] || made.RDMA != (k.Name == "dcqcn") || made.Datagrams != (k.Name == "udp") || made.Name != k.Name || k.Doc == "" {
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
	if err != nil || made.DCTCP.G != 0.0625 {
		t.Errorf("default %v, %v; want 0.0625", made.DCTCP.G, err)
	}
	for g, ok := range map[float64]bool{0: false, -0.5: false, 0.25: true, 1: true, 1.01: false} {
		made, err := Table().New("dctcp", map[string]any{"g": g}, struct{}{})
		if (err == nil) != ok || ok && made.DCTCP.G != g {
			t.Errorf("g %v: %v, %v", g, made.DCTCP.G, err)
		}
	}
	if _, err := Table().New("reno", map[string]any{"g": 0.5}, struct{}{}); err == nil {
		t.Error("Reno takes a g")
	}
}

// TestDCTCP: a new connection halves for its first mark (RFC 8257, section 4.2), and
// for a loss (section 3.5), but not below two segments, unless the lab says
// otherwise.
func TestDCTCP(t *testing.T) {
	made, err := Table().New("dctcp", nil, struct{}{})
	if want := (DCTCP{G: 0.0625, InitialAlpha: 1, MinWindow: 2, OnLoss: "half"}); err != nil || made.DCTCP != want {
		t.Errorf("default %+v, %v; want %+v", made.DCTCP, err, want)
	}
	made, err = Table().New("dctcp", map[string]any{"initial_alpha": 0, "min_window": 1, "on_loss": "alpha"}, struct{}{})
	if want := (DCTCP{G: 0.0625, MinWindow: 1, OnLoss: "alpha"}); err != nil || made.DCTCP != want {
		t.Errorf("got %+v, %v; want %+v", made.DCTCP, err, want)
	}
	for _, tt := range []struct {
		kind, name string
		value      any
	}{
		{"dctcp", "initial_alpha", -0.1}, {"dctcp", "initial_alpha", 1.1}, {"dctcp", "min_window", 0}, {"dctcp", "on_loss", "none"},
		{"ecn-star", "min_window", 0}, {"ecn-star", "g", 0.5},
	} {
		if _, err := Table().New(tt.kind, map[string]any{tt.name: tt.value}, struct{}{}); err == nil || !strings.Contains(err.Error(), tt.name) {
			t.Errorf("%s: %s %v: %v", tt.kind, tt.name, tt.value, err)
		}
	}
}
