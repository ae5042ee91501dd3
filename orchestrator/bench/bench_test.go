package bench

import (
	"context"
	"fmt"
	"math"
	"os"
	"testing"

	"aqmlab/labs"
	"aqmlab/orchestrator/backend"
	"aqmlab/orchestrator/netns"
	"aqmlab/orchestrator/role"
	"aqmlab/orchestrator/testbed"
	"aqmlab/switch/port"
)

// TestMain makes this test binary the helper processes of its testbeds.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "agent" {
		if err := role.Serve(context.Background(), os.Args[2], port.Kinds{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("real hosts need root")
	}
}

// parse reads a lab and lets change it.
func parse(t *testing.T, text string, change ...func(*labs.Lab)) *labs.Lab {
	t.Helper()
	lab, err := labs.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range change {
		c(lab)
	}
	return lab
}

// up brings up a lab that is removed at the test's end.
func up(t *testing.T, lab *labs.Lab) *testbed.Testbed {
	t.Helper()
	needRoot(t)
	tb, err := testbed.Up(t.Context(), lab, testbed.Options{Root: t.TempDir(), Log: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tb.Down(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return tb
}

func TestSpread(t *testing.T) {
	for _, tt := range []struct {
		of   []int
		want Spread
	}{
		{[]int{7}, Spread{Median: 7, Min: 7, Max: 7}},
		{[]int{9, 1, 5}, Spread{Median: 5, Min: 1, Max: 9}},
		{[]int{4, 1, 9, 2, 3}, Spread{Median: 3, Min: 1, Max: 9}},
	} {
		if got := spread(tt.of, func(v int) float64 { return float64(v) }); got != tt.want {
			t.Errorf("spread of %v is %+v, want %+v", tt.of, got, tt.want)
		}
	}
}

// TestTheory: 995 Mbps of 1538 bytes on the wire for 1448 of payload, which are
// a packet of 1500 less IPv4, TCP and its timestamps.
func TestTheory(t *testing.T) {
	b := bench{other: parse(t, shapedLab)}
	if got, want := b.theory(), 0.995*1448/1538; math.Abs(got-want) > 1e-9 {
		t.Errorf("%v Gbps, want %v", got, want)
	}
}

// TestBridge: the two hosts reach each other through a bridge, and through the
// switch again once it is gone.
func TestBridge(t *testing.T) {
	lab := parse(t, forwardLab, func(l *labs.Lab) { l.Topology.Rate = 1e9 })
	b := bench{Testbed: up(t, lab), forward: lab}
	if err := b.direct(); err != nil {
		t.Fatal(err)
	}
	const bytes = 1_000_000
	plausible := func(way string, s sample, err error) {
		t.Helper()
		if err != nil || s.gbps <= 0 || s.rtt <= 0 {
			t.Errorf("through the %s: %+v, %v", way, s, err)
		}
	}
	if err := netns.Do(b.Network().Switches[0], b.addBridge); err != nil {
		t.Fatal(err)
	}
	s, err := b.path(t.Context(), bytes)
	plausible("bridge", s, err)
	if err := netns.Do(b.Network().Switches[0], netns.RemoveBridge); err != nil {
		t.Fatal(err)
	}
	s, m, err := b.switched(t.Context(), lab, bytes)
	plausible("switch", s, err)
	if m.Delivered < bytes/1500 {
		t.Errorf("the switch delivered %d frames of a flow of %d bytes", m.Delivered, bytes)
	}
}

// TestBenchCollectors: each round has a turn without and one with collectors.
func TestBenchCollectors(t *testing.T) {
	change := func(l *labs.Lab) { l.Topology.Rate = 1e9 } // which this machine keeps up with
	without, with := parse(t, forwardLab, change), parse(t, collectedLab, change)
	b := bench{up(t, without), without, with}
	got, err := b.collectors(t.Context(), 2, 1_000_000)
	if err != nil {
		t.Fatal(err)
	}
	if got.Rounds != 2 || got.WithoutGbps.Min <= 0 || got.WithGbps.Min <= 0 || got.Ratio.Min <= 0 || got.Ratio.Max < got.Ratio.Min {
		t.Errorf("measured %+v", got)
	}
}

// TestBenchBringUp: every round is timed, and none leaves anything.
func TestBenchBringUp(t *testing.T) {
	needRoot(t)
	got, err := MeasureBringUp(t.Context(), Star{Hosts: 2, Runtime: backend.Row{Name: "netns"}}, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Runtime != "netns" || got.Hosts != 2 || got.Rounds != 2 || got.Up.Min <= 0 || got.Up.Max < got.Up.Min || got.Down.Min <= 0 {
		t.Errorf("measured %+v", got)
	}
	if _, err := MeasureBringUp(t.Context(), Star{Hosts: 1}, 1, nil); err == nil {
		t.Error("a star of one host is no error")
	}
}
