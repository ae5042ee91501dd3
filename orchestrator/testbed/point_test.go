package testbed

import (
	"context"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"aqmlab/labs"
	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/backend"
	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/netns"
	"aqmlab/orchestrator/role"
	"aqmlab/results"
	"aqmlab/switch/aqm"
	"aqmlab/switch/wire"
	"aqmlab/trafficgen"
	"aqmlab/trafficgen/traffic"
)

// TestJudge: a run is low-fidelity if the p99 lateness exceeds 10 % of the base
// RTT, if frames were lost at the kernel's edge, or if the CPUs had no idle
// time left; each is said.
func TestJudge(t *testing.T) {
	late := func(d time.Duration) measurement {
		return measurement{sw: role.Measured{Report: wire.Report{LatenessP99: d}}}
	}
	lost := late(0)
	lost.sw.EdgeDrops = 3
	busySwitch := late(0)
	busySwitch.sw.Busy = 0.97
	busyHosts := measurement{cpu: 0.96}
	all := measurement{cpu: 1, sw: role.Measured{Report: wire.Report{LatenessP99: time.Millisecond, EdgeDrops: 1}}}
	kept := late(time.Millisecond)
	kept.sw.Waited = 0.07
	tests := []struct {
		name    string
		m       measurement
		reasons []string // a part of each
	}{
		{"late for others", kept, []string{"kept the switch from its CPU for 7 % of the time (it was not given a real-time priority)"}},
		{"perfect", measurement{}, nil},
		{"late by 10 %", late(200 * time.Microsecond), nil},
		{"late by more", late(201 * time.Microsecond), []string{"201µs"}},
		{"frames lost", lost, []string{"3 frames"}},
		{"busy switch", busySwitch, []string{"busy 97 %"}},
		{"busy hosts", busyHosts, []string{"busy 96 %"}},
		{"busy to the limit", measurement{cpu: 0.94}, nil},
		{"everything", all, []string{"1ms", "1 frames", "busy 100 %"}},
	}
	tb := &Testbed{lab: parse(t, small)} // its base RTT is 2 ms
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := tb.judge(tt.m)
			if f.Low() != (len(tt.reasons) > 0) || !f.Low() && f.Label != results.FidelityOK {
				t.Errorf("label %q with %d reasons expected", f.Label, len(tt.reasons))
			}
			if len(f.Reasons) != len(tt.reasons) {
				t.Fatalf("reasons %q, want %q", f.Reasons, tt.reasons)
			}
			for i, want := range tt.reasons {
				if !strings.Contains(f.Reasons[i], want) {
					t.Errorf("reason %q lacks %q", f.Reasons[i], want)
				}
			}
		})
	}
}

func TestJudgeKeepsTheFigures(t *testing.T) {
	tb := &Testbed{lab: parse(t, small)}
	f := tb.judge(measurement{cpu: 0.25, sw: role.Measured{Report: wire.Report{
		LatenessP50: time.Microsecond, LatenessP99: 20 * time.Microsecond, LatenessMax: time.Millisecond, Clamped: 7, Busy: 0.5,
	}}})
	want := results.Fidelity{
		Label:       results.FidelityOK,
		LatenessP50: results.Micros(time.Microsecond),
		LatenessP99: results.Micros(20 * time.Microsecond),
		LatenessMax: results.Micros(time.Millisecond),
		ShareOfRTT:  0.01,
		Clamped:     7,
		CPUHeadroom: 0.5, // of the busier
	}
	if !reflect.DeepEqual(f, want) {
		t.Errorf("fidelity %+v, want %+v", f, want)
	}
	tb.lab.RTT.Min = 0 // nothing to compare the lateness with
	if f := tb.judge(measurement{sw: role.Measured{Report: wire.Report{LatenessP99: time.Hour}}}); f.Low() || f.ShareOfRTT != 0 {
		t.Errorf("without a base RTT: %+v", f)
	}
}

// TestFabric: the links' delays give the lab's base RTT once the hosts' and the
// switch's own time is added, which is counted on the wall; they are never
// negative.
func TestFabric(t *testing.T) {
	plan := netns.Plan{Switches: []string{"s1"}, Hosts: []string{"h1", "h2", "h3"}, Subnet: subnet, MTU: 1500, Uplink: 1e8}
	network, err := plan.Lab("00ff")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name     string
		overhead time.Duration
		dilation float64
		delay    time.Duration // of each of the four crossings of a link
	}{
		{"no overhead", 0, 1, 500 * time.Microsecond},
		{"overhead", 100 * time.Microsecond, 1, 475 * time.Microsecond},
		{"overhead of dilated time", 100 * time.Microsecond, 10, 497500 * time.Nanosecond},
		{"overhead of the whole RTT", 2 * time.Millisecond, 1, 0},
		{"overhead beyond the RTT", 20 * time.Millisecond, 1, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tb := &Testbed{lab: parse(t, small), net: network, overhead: tt.overhead, dilation: tt.dilation}
			spec, err := tb.fabric("tcn", 1)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range spec.Links {
				if l.Delay != tt.delay {
					t.Errorf("link %s-%s has a delay of %v, want %v", l.A, l.B, l.Delay, tt.delay)
				}
			}
			for i, h := range spec.Hosts {
				if h.Addr != network.Hosts[i].Addr {
					t.Errorf("%s has address %s in the fabric, %s in its namespace", h.Name, h.Addr, network.Hosts[i].Addr)
				}
			}
			if spec.Port.Scheme.Kind != "tcn" || spec.Port.RTTs != aqm.OneRTT(2*time.Millisecond) {
				t.Errorf("ports are %+v, want TCN's, for the lab's RTT", spec.Port)
			}
		})
	}
	if _, err := (&Testbed{lab: parse(t, small), net: network}).fabric("red", 1); err == nil {
		t.Error("a scheme that the lab does not have is no error")
	}
}

// TestHostCounts: a host counts what came during the point.
func TestHostCounts(t *testing.T) {
	tb := &Testbed{net: &netns.Lab{Hosts: []netns.Host{{Name: "h1"}, {Name: "h2"}}}}
	before := []host.Counters{{Timeouts: 1, Retransmits: 1, CEPackets: 1, DeliveredCE: 1}, {CEPackets: 50}}
	after := []host.Counters{{Timeouts: 3, Retransmits: 6, CEPackets: 10, DeliveredCE: 18}, {CEPackets: 50}}
	want := []results.HostCount{{Host: "h1", Timeouts: 2, Retransmits: 5, CEReceived: 9, ECEReceived: 17}, {Host: "h2"}}
	if got := tb.hostCounts(before, after); !reflect.DeepEqual(got, want) {
		t.Errorf("counts %+v, want %+v", got, want)
	}
	if got := tb.hostCounts(before, nil); len(got) != 0 {
		t.Errorf("counts %+v of nothing", got)
	}
}

// TestPause: looking at a replay in virtual time costs little of it, and never
// leaves it alone for long.
func TestPause(t *testing.T) {
	wall, virtual := &Testbed{}, &Testbed{virtual: true}
	for going, want := range map[time.Duration]time.Duration{
		0:                      time.Millisecond,
		100 * time.Millisecond: 2 * time.Millisecond,
		time.Minute:            20 * time.Millisecond,
	} {
		if got := virtual.pause(going); got != want {
			t.Errorf("after %v in virtual time: %v, want %v", going, got, want)
		}
		if got := wall.pause(going); got != pollEvery {
			t.Errorf("after %v: %v, want %v", going, got, pollEvery)
		}
	}
}

// onePoint is a point of a lab's trace.
func onePoint(t *testing.T, lab *labs.Lab) backend.Point {
	t.Helper()
	load, seed := lab.Workload.Load[0], lab.Seeds[0]
	flows, err := trafficgen.Trace(lab.Traffic(load, seed))
	if err != nil {
		t.Fatal(err)
	}
	return backend.Point{Coord: results.Coord{Scheme: lab.Schemes[0].Name, Load: load, Seed: seed}, Flows: flows}
}

// TestRunPoint: a point's flows, counts and samples hold together.
func TestRunPoint(t *testing.T) {
	tb := testbed(t, parse(t, small))
	p := onePoint(t, tb.lab)
	calls, last := 0, backend.Progress{}
	got, err := tb.Run(t.Context(), p, func(s backend.Progress) { calls, last = calls+1, s })
	if err != nil {
		t.Fatal(err)
	}
	if calls == 0 || last.Completed != 12 {
		t.Errorf("told of the progress %d times, at last %+v", calls, last)
	}
	if len(got.Flows) != 12 || len(got.Hosts) != 3 || len(got.Ports) != 3 || len(got.Queues) == 0 {
		t.Fatalf("%d flows, %d hosts, %d queues of ports, %d samples", len(got.Flows), len(got.Hosts), len(got.Ports), len(got.Queues))
	}
	// 64 KB at 100 Mbps, and the base RTT.
	const least = 5120*time.Microsecond + 2*time.Millisecond
	for i, f := range got.Flows {
		if !f.Completed() || f.Start != p.Flows[i].Start || f.FCT < least {
			t.Errorf("flow %d: %+v", i, f)
		}
	}
	var delivered int64
	for _, s := range got.Services {
		delivered += s.Bytes
	}
	if delivered != 12*64_000 {
		t.Errorf("the service delivered %d bytes over time, of 12 flows of 64 KB", delivered)
	}
	before := time.Duration(0)
	for _, q := range got.Queues {
		if q.At < before {
			t.Fatalf("a sample at %v follows one at %v", q.At, before)
		}
		before = q.At
	}
}

// TestKilledSwitch: a point whose switch dies says so at once, instead of
// waiting for hosts that cannot reach each other.
func TestKilledSwitch(t *testing.T) {
	kill := func(tb *Testbed) error {
		p, err := os.FindProcess(tb.switches[0].PID())
		if err != nil {
			return err
		}
		return p.Kill()
	}
	t.Run("while replaying", func(t *testing.T) {
		tb := testbed(t, parse(t, small, func(l *labs.Lab) { l.Workload.Flows = 500 }))
		killed := false
		_, err := tb.Run(t.Context(), onePoint(t, tb.lab), func(s backend.Progress) {
			if s.Completed > 0 && !killed {
				killed = true
				if err := kill(tb); err != nil {
					t.Error(err)
				}
			}
		})
		namesSwitch(t, err)
	})
	t.Run("while connecting", func(t *testing.T) {
		tb := testbed(t, parse(t, small))
		err := tb.whileWhole(t.Context(), func(ctx context.Context) error {
			if err := kill(tb); err != nil {
				return err
			}
			<-tb.switches[0].Done()
			_, err := tb.hosts.baseRTT(ctx, [][2]int{{0, 1}})
			return err
		})
		namesSwitch(t, err)
	})
	t.Run("while idle", func(t *testing.T) {
		tb := testbed(t, parse(t, small))
		if err := kill(tb); err != nil {
			t.Fatal(err)
		}
		<-tb.switches[0].Done()
		_, err := tb.Run(t.Context(), onePoint(t, tb.lab), func(backend.Progress) {})
		namesSwitch(t, err)
	})
}

func namesSwitch(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, agent.ErrDied) || !strings.Contains(err.Error(), "switch") || strings.Contains(err.Error(), "call ") {
		t.Errorf("error %v; want one that says that the switch died, and not which call met it", err)
	}
}

// TestTestbedCanBeWatched: the same of real hosts and the switch's process.
func TestTestbedCanBeWatched(t *testing.T) {
	tb := testbed(t, parse(t, small))
	var seen []results.Seen
	var errs []error
	_, err := tb.Run(t.Context(), onePoint(t, tb.lab), func(s backend.Progress) {
		got, err := s.Look()
		if s.Completed > 0 && got.FCT[results.All].Count == 0 {
			t.Errorf("%d flows completed, and none was seen", s.Completed)
		}
		seen, errs = append(seen, got), append(errs, err)
	})
	if err := errors.Join(append(errs, err)...); err != nil {
		t.Fatal(err)
	}
	last := seen[len(seen)-1]
	if last.FCT[results.All].Count != 12 || last.Queue == nil || len(last.Queue.Us) == 0 {
		t.Errorf("at last %+v", last)
	}
}

// TestHostPort: with host.port: switch what a host sends too fast waits at its own port, where
// the lab's buffer and scheme are, and not in the host. A receiver as fast as its sender
// then has no queue.
func TestHostPort(t *testing.T) {
	lab := parse(t, small, func(l *labs.Lab) { l.Host.Port = labs.HostSwitchPort })
	tb := testbed(t, lab)
	flows := []traffic.Flow{{Server: 1, Bytes: 1_000_000}}
	point, err := tb.Run(t.Context(), backend.Point{Coord: results.Coord{Scheme: "droptail"}, Flows: flows}, func(backend.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	peaks := map[string]int64{}
	for _, q := range point.Ports {
		peaks[q.Switch+" to "+q.Port] += q.PeakBytes
	}
	// Slow start goes on until the buffer of 100 KB is full, or the receiver's first window of
	// 64 KB. A token bucket would let 15 KB go at once.
	if own, other := peaks["h2 to s1"], peaks["s1 to h1"]; own < 30_000 || other > own/4 {
		t.Errorf("at most %d bytes waited at the host's own port, and %d at its receiver's", own, other)
	}
}
