package testbed

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/labs"
	"aqmlab/orchestrator/role"
	"aqmlab/results"
	"aqmlab/switch/wire"
	"aqmlab/trafficgen/traffic"
	"aqmlab/units"
)

// TestDilations: auto tries ever larger ones, from 1 to the largest, each about half
// as much again.
func TestDilations(t *testing.T) {
	tried := dilations(0)
	if tried[0] != 1 || tried[len(tried)-1] != maxDilation {
		t.Errorf("tried %v; want them to reach from 1 to %d", tried, maxDilation)
	}
	if got := dilations(1e6); !slices.Equal(got, []float64{maxDilation}) {
		t.Errorf("for an overhead beyond all: %v", got)
	}
	for i, d := range tried {
		if i > 0 && (d <= tried[i-1] || d > 1.6*tried[i-1]) {
			t.Errorf("%v follows %v: too large a step, or none", d, tried[i-1])
		}
		if got := dilations(d); !slices.Equal(got, tried[i:]) {
			t.Errorf("from %v on: %v, want %v", d, got, tried[i:])
		}
		if got := dilations(d + 0.01); d < maxDilation && !slices.Equal(got, tried[i+1:]) {
			t.Errorf("above %v: %v, want %v", d, got, tried[i+1:])
		}
	}
}

// TestChoose: the smallest dilation that is good is taken, a machine that was busy
// for a while is not held to what it could do then, and one that is never good
// enough does its best.
func TestChoose(t *testing.T) {
	all := []float64{1, 2, 3, 4, 6, 9, 14, 21}
	for _, tt := range []struct {
		name  string
		needs []float64 // by try; the last holds for the rest
		want  float64
		good  bool
		tries int
	}{
		{"quiet", []float64{1}, 1, true, 1},
		{"needs two", []float64{2}, 2, true, 2},
		{"needs three", []float64{3}, 3, true, 3},
		{"needs four", []float64{4}, 4, true, 5}, // and 2 again
		{"needs nine", []float64{9}, 9, true, 7},
		{"busy at first", []float64{99, 99, 99, 99, 99, 99, 2}, 2, true, 9}, // 14, 4, 2
		{"busy for two tries", []float64{99, 99, 3}, 3, true, 3},
		{"too slow", []float64{99}, 21, false, len(all)},
		{"busy at last", []float64{99, 99, 30, 99, 99, 99, 150, 300}, 3, false, len(all)},
		{"no better for it", []float64{2, 4, 6, 8, 12, 18, 28, 42}, 1, false, len(all)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tries := 0
			got, bad, err := choose(all, func(d float64) (float64, error) {
				tries++
				return tt.needs[min(tries, len(tt.needs))-1] / d, nil
			})
			if err != nil || got != tt.want || bad <= 1 != tt.good || tries != tt.tries {
				t.Errorf("dilation %v, %.2g bad, after %d tries (%v); want %v, good: %v, after %d", got, bad, tries, err, tt.want, tt.good, tt.tries)
			}
		})
	}
	broken := errors.New("broken")
	for fail := 1; fail <= 6; fail++ {
		tries := 0
		_, _, err := choose(all, func(d float64) (float64, error) {
			if tries++; tries == fail {
				return 0, broken
			}
			return 9 / d, nil
		})
		if !errors.Is(err, broken) || tries != fail {
			t.Errorf("error %v after %d tries, want that of try %d", err, tries, fail)
		}
	}
}

// TestVerdict: a pilot is good if deliveries are at most 8 % of the base RTT late,
// the lab itself uses at most 85 % of its CPUs, and no frame is lost. Lateness for
// which other programs are to blame is no reason for a dilation.
func TestVerdict(t *testing.T) {
	tb := &Testbed{lab: parse(t, small)} // its base RTT is 2 ms
	for _, tt := range []struct {
		name string
		m    measurement
		good bool
		why  string
	}{
		{"perfect", measured(wire.Report{}, 0), true, ""},
		{"late to the limit", measured(wire.Report{LatenessP99: 160 * time.Microsecond}, 0), true, ""},
		{"late", measured(wire.Report{LatenessP99: 161 * time.Microsecond}, 0), false, "161µs late"},
		{"late for others", measured(wire.Report{LatenessP99: time.Second, Waited: 0.2}, 0), true, ""},
		{"late, others or not", measured(wire.Report{LatenessP99: time.Second, Waited: 0.005}, 0), false, "1s late"},
		{"busy switch", measured(wire.Report{Busy: 0.88}, 0), false, "busy 88 %"},
		{"busy hosts", measured(wire.Report{Waited: 0.2}, 0.88), false, "busy 88 %"},
		{"busy to the limit", measured(wire.Report{Busy: 0.85}, 0.85), true, ""},
		{"lost", measured(wire.Report{Delivered: 1000, EdgeDrops: 1, Waited: 0.2}, 0), false, "1 frames were lost"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bad, why := verdict(tt.m, tb.judge(tt.m))
			if bad <= 1 != tt.good || !strings.Contains(why, tt.why) {
				t.Errorf("%.2f bad: %s; want good: %v, %s", bad, why, tt.good, tt.why)
			}
		})
	}
}

// measured is a measurement of a switch, and the share of the hosts' CPUs that the
// lab used.
func measured(r wire.Report, cpu float64) measurement {
	return measurement{cpu: cpu, sw: role.Measured{Report: r}}
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
			if i := slices.IndexFunc(flows, func(f traffic.Flow) bool { return f.Bytes != pilotBytes }); i >= 0 {
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

// TestPilotOfDatagrams: flows of datagrams have a rate and a time to stop in the pilot, and
// others do not.
func TestPilotOfDatagrams(t *testing.T) {
	lab := parse(t, small, func(l *labs.Lab) {
		l.Transports = []labs.Speech{{Name: "cbr", Transport: kind.Choice{Kind: "udp"}, Hosts: []string{"h2"}, DSCP: -1}}
	})
	flows := []traffic.Flow{{ID: 0, Start: time.Second, Bytes: 100_000}, {ID: 1, Start: time.Second, Bytes: 100_000, Transport: 1}}
	got, err := paceDatagrams(flows, lab, 100*units.Mbps)
	if err != nil || got[0].Rate != 0 || got[0].Stop != 0 || got[1].Rate != 100*units.Mbps || got[1].Stop != 1016*time.Millisecond {
		t.Errorf("%+v, %v", got, err)
	}
}
