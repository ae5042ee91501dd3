package tcp

import (
	"math"
	"testing"
	"time"
)

// TestCubicFunction: RFC 9438, section 4.2, by hand. After a loss at 100
// segments the window is 70 and K = cbrt(30 / 0.4) = 4.217163 s; the function
// passes 70 at 0, 100 at K, and lies C (t - K)^3 beside 100 elsewhere.
func TestCubicFunction(t *testing.T) {
	c := &cubic{p: Cubic{Beta: 0.7, C: 0.4, FastConvergence: true}}
	w := newWindow(mss, 100)
	c.cut(&w, congestion{cause: lost, flight: 100 * mss})
	if w.cwnd != 70*mss || w.ssthresh != 70*mss {
		t.Fatalf("window %d, threshold %d, want 70000", w.cwnd, w.ssthresh)
	}
	c.begin(0, 70)
	for at, want := range map[time.Duration]float64{
		0:                            70,
		time.Second:                  86.680764, // 0.4 * (-3.217163)^3 = -13.319236
		2 * time.Second:              95.640336, // 0.4 * (-2.217163)^3 = -4.359664
		4217163327 * time.Nanosecond: 100,
		5 * time.Second:              100.191906, // 0.4 * 0.782837^3
		6217163327 * time.Nanosecond: 103.2,      // 0.4 * 2^3
	} {
		if got := c.at(at); math.Abs(got-want) > 1e-5 {
			t.Errorf("W(%v) = %.6f, want %.6f", at, got, want)
		}
	}
}

// TestCubicGrowth: sections 4.3 to 4.5. A window follows the function while that
// is above Reno's, at most by half in a round trip.
func TestCubicGrowth(t *testing.T) {
	for name, tt := range map[string]struct {
		at, rtt time.Duration
		cwnd    float64
		wEst    float64
		want    float64 // growth by an ACK of one segment
	}{
		// alpha is 9/17; W(2 s) = 95.640336; wEst stays below.
		"concave":       {1900 * ms, 100 * ms, 94, 75, (95.640336 - 94) / 94},
		"convex":        {6117163327, 100 * ms, 103, 90, (103.2 - 103) / 103},
		"above already": {1900 * ms, 100 * ms, 97, 75, 0},
		"half a window": {60 * time.Second, 100 * ms, 100, 75, 0.5},
		// W(1 s) = 86.68 is below 90 + 9/17/80.
		"Reno-friendly": {time.Second, 100 * ms, 80, 90, 10 + 9.0/17/80},
		// Beyond the window before the loss, Reno's grows by a segment in a window.
		"as Reno": {4 * time.Second, 100 * ms, 101, 101, 1.0 / 101},
	} {
		c := &cubic{p: Cubic{Beta: 0.7, C: 0.4}, wMax: 100, cwndPrior: 100}
		c.begin(0, 70)
		c.wEst = tt.wEst
		if got := c.growth(ack{now: tt.at, rtt: tt.rtt}, tt.cwnd, 1); math.Abs(got-tt.want) > 1e-5 {
			t.Errorf("%s: grows by %v, want %v", name, got, tt.want)
		}
	}
}

// TestCubicCut: sections 4.6 to 4.8.
func TestCubicCut(t *testing.T) {
	for name, tt := range map[string]struct {
		fast       bool
		last       float64 // wMax before
		cause      cause
		wMax, want float64
	}{
		"larger window":         {true, 80, lost, 100, 70},
		"fast convergence":      {true, 120, lost, 85, 70},
		"without it":            {false, 120, lost, 100, 70},
		"timeout forgets":       {true, 120, timedOut, 0, 100}, // collapse does the rest
		"without a loss so far": {true, 0, lost, 100, 70},
	} {
		c := &cubic{p: Cubic{Beta: 0.7, C: 0.4, FastConvergence: tt.fast}, wMax: tt.last, avoiding: true}
		w := newWindow(mss, 100)
		c.cut(&w, congestion{cause: tt.cause, flight: 100 * mss})
		if c.wMax != tt.wMax || w.cwnd != int64(tt.want*mss) || w.ssthresh != 70*mss || c.cwndPrior != 100 || c.avoiding {
			t.Errorf("%s: wMax %v, window %d, threshold %d, prior %v", name, c.wMax, w.cwnd, w.ssthresh, c.cwndPrior)
		}
	}
}

// TestCubicStartsAtInflection: where slow start ends without a loss, or after a
// timeout, K is 0 and the window starts from where it is (section 4.8).
func TestCubicStartsAtInflection(t *testing.T) {
	c := &cubic{p: Cubic{Beta: 0.7, C: 0.4}}
	c.begin(time.Second, 40)
	if c.k != 0 || c.wMax != 40 || c.at(0) != 40 || c.at(2*time.Second) != 43.2 {
		t.Errorf("K %v, wMax %v", c.k, c.wMax)
	}
}

// TestCubicLongRun: a window of 100 after a loss is back at 100 after K, and the
// time in which the application writes nothing does not count.
func TestCubicLongRun(t *testing.T) {
	for name, pause := range map[string]time.Duration{"busy": 0, "with a pause": 20 * time.Second} {
		c := config("cubic")
		c.IdleRestart, c.RTOInit = false, time.Second
		p := newPair(t, c, 50*ms).establish()
		e := p.ends[0]
		e.win.cwnd = 100 * mss
		e.cut(congestion{cause: lost, flight: 100 * mss})
		e.Write(0, 1<<40, Tag{})
		p.loop.RunUntil(2 * time.Second)
		if pause > 0 {
			e.Stop(p.loop.Now())
			p.loop.RunUntil(2*time.Second + pause)
			e.Write(p.loop.Now(), 1<<40, Tag{})
		}
		// K is 4.217 s; the first ACK, from which it counts, comes after 0.1 s.
		p.loop.RunUntil(4317*ms + pause)
		if got := float64(e.win.cwnd) / mss; got < 99.5 || got > 100.5 {
			t.Errorf("%s: window %.2f after K, want 100", name, got)
		}
	}
}
