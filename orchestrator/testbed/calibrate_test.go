package testbed

import (
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
	if flows, err := pilotTrace(parse(t, small).Traffic(0.5, 1), 100*time.Hour); err != nil || len(flows) != pilotMost {
		t.Errorf("%d flows in the longest of times, %v; want %d", len(flows), err, pilotMost)
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
			if dilation > 0 && c.Dilation != float64(dilation) || c.Dilation < 1 || c.Dilation > largest(lab) {
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
