package transport

import (
	"strings"
	"testing"
	"time"
)

// TestPrague: alpha as in DCTCP; a virtual round trip of 25 ms, to which flows go over
// after 500 round trips; bursts of 250 us (the draft's reference).
func TestPrague(t *testing.T) {
	want := Prague{G: 0.0625, InitialAlpha: 1, MinWindow: 2, VirtualRTT: 25 * time.Millisecond, Transition: 500, Burst: 250 * time.Microsecond}
	if got := DefaultPrague(); got != want {
		t.Errorf("default %+v, want %+v", got, want)
	}
	for name, bad := range map[string]any{"g": 0, "initial_alpha": 1.5, "min_window": 0, "virtual_rtt": "11s", "transition": -1, "burst": "2s", "rtt_virt": "1ms"} {
		if _, err := Table().New("prague", map[string]any{name: bad}, struct{}{}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s %v: %v", name, bad, err)
		}
	}
	if _, err := Table().New("prague", map[string]any{"virtual_rtt": "0s", "transition": 0, "burst": "0s"}, struct{}{}); err != nil {
		t.Error(err)
	}
}
