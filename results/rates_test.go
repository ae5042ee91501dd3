package results

import (
	"slices"
	"testing"
	"time"
)

// TestCapacity: 100 bit/s from 0 on and 40 bit/s from 3 s on.
func TestCapacity(t *testing.T) {
	rates := []PortRate{{Rate: 100}, {At: Micros(3 * time.Second), Rate: 40}}
	for _, c := range []struct {
		from, to time.Duration // seconds
		want     float64
	}{{0, 1, 100}, {0, 3, 300}, {2, 5, 180}, {4, 6, 80}, {-1, 0, 100}, {3, 3, 0}} {
		if got := Capacity(rates, c.from*time.Second, c.to*time.Second); got != c.want {
			t.Errorf("from %d s to %d s: %v bits, want %v", c.from, c.to, got, c.want)
		}
	}
}

func TestRatesOf(t *testing.T) {
	all := []PortRate{{Rate: 10}, {Switch: "s1", Port: "h1", Rate: 3}, {Switch: "s1", Port: "h1", At: 5, Rate: 4}}
	if got := RatesOf(all, PortName{"s1", "h1"}); !slices.Equal(got, all[1:]) {
		t.Errorf("a port that is listed: %v", got)
	}
	if got := RatesOf(all, PortName{"s1", "h2"}); !slices.Equal(got, all[:1]) {
		t.Errorf("another: %v", got)
	}
	if got := RatesOf(nil, PortName{"s1", "h2"}); got != nil {
		t.Errorf("of an older run: %v", got)
	}
}
