package orchestrator

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/labs"
	"aqmlab/results"
	"aqmlab/trafficgen"
)

// TestDilations: auto tries whole factors, ever larger, from 1 to the largest.
func TestDilations(t *testing.T) {
	var tried []float64
	for d := 1.0; d <= maxDilation; d = next(d) {
		tried = append(tried, d)
		if len(tried) > 1000 {
			t.Fatalf("no end: %v", tried[:20])
		}
	}
	if tried[0] != 1 || tried[len(tried)-1] != maxDilation {
		t.Errorf("tried %v; want them to reach from 1 to %d", tried, maxDilation)
	}
	for i, d := range tried {
		if d != math.Trunc(d) {
			t.Errorf("%v is not whole", d)
		}
		if i > 0 && (d <= tried[i-1] || d > 2*tried[i-1]) {
			t.Errorf("%v follows %v: too large a step, or none", d, tried[i-1])
		}
	}
}

func TestRoundUp(t *testing.T) {
	for _, d := range []float64{0, 0.3, 1, 1.01, 2, 2.5, 7, 50, 127.9, 128} {
		got := roundUp(d)
		if got < d || got < 1 || got > maxDilation {
			t.Errorf("%v is rounded to %v", d, got)
		}
		for smaller := 1.0; smaller < got; smaller = next(smaller) {
			if smaller >= d {
				t.Errorf("%v is rounded to %v, though %v would do", d, got, smaller)
			}
		}
	}
	for _, d := range []float64{128.1, 1e9, math.Inf(1)} {
		if got := roundUp(d); got <= maxDilation {
			t.Errorf("%v, more than can be tried, is rounded to %v", d, got)
		}
	}
}

// TestPilotTrace: the pilot offers the lab's load, for its time, whoever asks.
func TestPilotTrace(t *testing.T) {
	const within = 10 * time.Second
	for pattern, clients := range map[string]float64{"many-to-one": 1, "all-to-all": 3} {
		t.Run(pattern, func(t *testing.T) {
			lab := parse(t, small, func(l *labs.Lab) { l.Workload.Pattern = pattern })
			flows, err := pilotTrace(lab.Traffic(0.5, 1), within)
			if err != nil {
				t.Fatal(err)
			}
			last := flows[len(flows)-1].Start
			if last > within || last < within*8/10 {
				t.Errorf("the last of %d flows starts at %v, want just before %v", len(flows), last, within)
			}
			// 0.5 of 100 Mbps in flows of 100 KB are 62.5 flows a second a client.
			if got, want := float64(len(flows)), 62.5*within.Seconds()*clients; math.Abs(got-want) > 0.2*want {
				t.Errorf("%v flows, want about %v", got, want)
			}
			if i := slices.IndexFunc(flows, func(f trafficgen.Flow) bool { return f.Bytes != pilotBytes }); i >= 0 {
				t.Errorf("flow %d has %d bytes", i, flows[i].Bytes)
			}
		})
	}
	if flows, err := pilotTrace(parse(t, small).Traffic(0.5, 1), 1); err != nil || len(flows) != 1 {
		t.Errorf("%d flows in the shortest of times, %v; want one", len(flows), err)
	}
}

// TestCalibrate: after calibration hosts see the lab's base RTT. The RTT is
// long, and the tolerance wide, for a machine that does other things as well.
func TestCalibrate(t *testing.T) {
	for name, dilation := range map[string]labs.Dilation{"fixed": 2, "auto": 0} {
		t.Run(name, func(t *testing.T) {
			lab := parse(t, strings.Replace(small, "rtt: 2ms", "rtt: 20ms", 1), func(l *labs.Lab) { l.Dilation = dilation })
			tb := testbed(t, lab)
			c, err := tb.Calibrate(t.Context(), func(text string) { t.Log(text) })
			if err != nil {
				t.Fatal(err)
			}
			if dilation > 0 && c.Dilation != float64(dilation) || c.Dilation < 1 || c.Dilation > maxDilation {
				t.Errorf("dilation %v for one of %v", c.Dilation, dilation)
			}
			if off := float64(c.BaseRTT)/float64(tb.lab.RTT.Min) - 1; math.Abs(off) > 0.2 {
				t.Errorf("base RTT %v, want the lab's %v", c.BaseRTT, tb.lab.RTT.Min)
			}
			if len(c.RTTs) != 3 || c.RTTs[2].Host != "h3" || c.RTTs[2].Connections != 1 || c.RTTs[2].Lab.Mean != results.Micros(tb.lab.RTT.Min) {
				t.Errorf("base RTTs %+v, want one of each host", c.RTTs)
			}
			if c.Overhead <= 0 || c.Overhead > time.Second {
				t.Errorf("hosts and switch add %v", c.Overhead)
			}
			if want := int64(100e6 / c.Dilation); tb.plan.Uplink != want {
				t.Errorf("uplinks of %d bit/s, want %d", tb.plan.Uplink, want)
			}
		})
	}
}
