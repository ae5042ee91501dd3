package testbed

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"aqmlab/labs"
	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/host/cc"
)

// TestWallMillis: a lab time is given to the kernel in whole milliseconds of
// the wall clock, never shorter than it is.
func TestWallMillis(t *testing.T) {
	tests := []struct {
		lab      time.Duration
		dilation float64
		want     time.Duration
	}{
		{0, 5, 0},
		{10 * time.Millisecond, 1, 10 * time.Millisecond},
		{10 * time.Millisecond, 1.5, 15 * time.Millisecond},
		{1, 1, time.Millisecond},
		{300 * time.Microsecond, 4, 2 * time.Millisecond},
		{10*time.Millisecond + 1, 1, 11 * time.Millisecond},
		{10 * time.Millisecond, 128, 1280 * time.Millisecond},
	}
	for _, tt := range tests {
		if got := wallMillis(tt.lab, tt.dilation); got != tt.want {
			t.Errorf("%v at dilation %v takes %v, want %v", tt.lab, tt.dilation, got, tt.want)
		}
	}
}

// TestSplitCPUs: switch and hosts share out the CPUs that this process may
// use, and neither takes the other's.
func TestSplitCPUs(t *testing.T) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		t.Fatal(err)
	}
	for _, switches := range []int{1, 3, 1000} {
		got, err := SplitCPUs(switches)
		if err != nil {
			t.Fatal(err)
		}
		if n := min(switches, set.Count()/2); len(got.Switches) != n {
			t.Errorf("%d switches have CPUs %v, want %d of %d", switches, got.Switches, n, set.Count())
		}
		all := slices.Concat(got.Hosts, got.Switches)
		if len(all) != set.Count() || !slices.IsSorted(all) || len(slices.Compact(all)) != set.Count() {
			t.Errorf("%v are shared out of %d CPUs", all, set.Count())
		}
		for _, cpu := range all {
			if !set.IsSet(cpu) {
				t.Errorf("CPU %d is not ours", cpu)
			}
		}
	}
}

// TestPace: what the kernel is told of time is dilated.
func TestPace(t *testing.T) {
	tb := &Testbed{lab: parse(t, small), dilation: 8}
	tb.dilatePlan()
	if tb.plan.Uplink != 12_500_000 || tb.plan.TCP.RTOMin != 80*time.Millisecond {
		t.Errorf("uplinks of %d bit/s and RTOs from %v, want 12.5 Mbps and 80 ms", tb.plan.Uplink, tb.plan.TCP.RTOMin)
	}
}

// TestUpAndDown: Down removes everything, and does nothing the second time.
func TestUpAndDown(t *testing.T) {
	needRoot(t)
	root := t.TempDir()
	tb, err := Up(t.Context(), parse(t, small), Options{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	id, pids := tb.journal.ID(), []int{tb.switches[0].PID(), tb.hosts[0].PID()}
	for _, pid := range pids {
		if err := unix.Kill(pid, 0); err != nil {
			t.Errorf("helper process %d: %v", pid, err)
		}
	}
	for range 2 {
		if err := tb.Down(t.Context()); err != nil {
			t.Error(err)
		}
		nothingLeft(t, root, id, pids...)
		emptyRoot(t, root)
	}
}

// TestUpGivenUp: an Up whose context ends, before or while it is at it, says
// so and leaves nothing.
func TestUpGivenUp(t *testing.T) {
	needRoot(t)
	why := errors.New("had enough")
	for name, after := range map[string]time.Duration{"at once": 0, "early": 10 * time.Millisecond, "later": 60 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			if after == 0 {
				cancel(why)
			} else {
				defer time.AfterFunc(after, func() { cancel(why) }).Stop()
			}
			root := t.TempDir()
			tb, err := Up(ctx, parse(t, small), Options{Root: root})
			if err == nil { // the machine was faster
				err = errors.Join(why, tb.Down(t.Context()))
			}
			if !errors.Is(err, why) {
				t.Errorf("error %v, want %v", err, why)
			}
			emptyRoot(t, root)
		})
	}
}

// TestUpFails: what cannot be brought up is removed again.
func TestUpFails(t *testing.T) {
	needRoot(t)
	tests := []struct {
		name  string
		spoil func(*labs.Lab)
		want  string
	}{
		{"transport", func(l *labs.Lab) { l.Host.Transport = "quic" }, "quic"},
		{"baseline", func(l *labs.Lab) { l.Baseline = "red" }, "red"},
		{"hosts", func(l *labs.Lab) { l.Topology.Hosts = 0 }, "no hosts"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			_, err := Up(t.Context(), parse(t, small, tt.spoil), Options{Root: root})
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "bringing up lab small") {
				t.Errorf("error %v; want one that names the lab and %q", err, tt.want)
			}
			emptyRoot(t, root)
		})
	}
}

// TestDownAfterADeath: a helper that has died is told of, and does not keep the
// rest from being removed.
func TestDownAfterADeath(t *testing.T) {
	needRoot(t)
	root := t.TempDir()
	tb, err := Up(t.Context(), parse(t, small), Options{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	id, pids := tb.journal.ID(), []int{tb.switches[0].PID(), tb.hosts[0].PID()}
	if err := unix.Kill(tb.hosts[0].PID(), unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-tb.hosts[0].Done()
	if err := tb.Down(t.Context()); !errors.Is(err, agent.ErrDied) || !strings.Contains(err.Error(), "hosts") {
		t.Errorf("error %v; want that the hosts' process died", err)
	}
	nothingLeft(t, root, id, pids...)
	if err := tb.Down(t.Context()); err != nil {
		t.Errorf("down again: %v", err)
	}
}

// TestPlanOfTransports: hosts use the congestion control and the ECN of the lab's
// transport.
func TestPlanOfTransports(t *testing.T) {
	needRoot(t)
	for transport, ecn := range map[string]bool{"dctcp": true, "ecn-star": true, "reno": false, "cubic": false} {
		lab := parse(t, small, func(l *labs.Lab) { l.Host.Transport = transport })
		spoken, err := lab.Host.BuildTransport()
		if err != nil {
			t.Fatal(err)
		}
		handle, err := cc.Acquire(spoken, "test")
		if err != nil {
			t.Fatal(err)
		}
		spec, err := lab.Fabric(lab.Baseline, 0)
		if err != nil {
			t.Fatal(err)
		}
		tb := &Testbed{lab: lab, speaks: []Congestion{{Name: handle.Name(), ECN: handle.ECN()}}, dilation: 1}
		tb.planFor(spec)
		p := tb.plan
		if p.TCP.Congestion != handle.Name() || p.TCP.ECN != ecn || p.TCP.InitCwnd != lab.Host.InitCwnd {
			t.Errorf("%s: TCP is %+v", transport, p.TCP)
		}
		if !slices.Equal(p.Switches, []string{"s1"}) || !slices.Equal(p.Hosts, []string{"h1", "h2", "h3"}) || p.MTU != lab.Host.MTU {
			t.Errorf("plan %+v", p)
		}
		if err := handle.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestUpNeedsRoot(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may")
	}
	if _, err := Up(t.Context(), parse(t, small), Options{Root: t.TempDir()}); !errors.Is(err, ErrNotRoot) {
		t.Errorf("error %v, want ErrNotRoot", err)
	}
}
