package role_test

import (
	"context"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/role"
	"aqmlab/results"
	"aqmlab/trafficgen/live"
	"aqmlab/trafficgen/traffic"
	"aqmlab/units"
)

// loopback are hosts in this process's own namespace. Their port is fixed, so
// that each process has addresses of its own.
func loopback(n int) []role.End {
	pid := os.Getpid()
	ends := make([]role.End, n)
	for i := range ends {
		ends[i].Addr = netip.AddrFrom4([4]byte{127, byte(pid >> 8), byte(pid), byte(i + 1)})
	}
	return ends
}

// serving is a service whose hosts serve, closed at the test's end.
func serving(t *testing.T, ends []role.End) *role.Hosts {
	t.Helper()
	h := role.NewHosts(context.Background())
	if err := h.Serve(ends, &agent.Nothing{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for range 2 {
			if err := h.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return h
}

// flows start a millisecond apart, host 0 asking the others in turn.
func flows(n, hosts int) []traffic.Flow {
	all := make([]traffic.Flow, n)
	for i := range all {
		all[i] = traffic.Flow{ID: i, Start: time.Duration(i+1) * time.Millisecond, Server: 1 + i%(hosts-1), Bytes: int64(1000 * (i + 1)), Service: i % 4}
	}
	return all
}

// replay starts a replay, follows it to its end and returns its records.
func replay(t *testing.T, h *role.Hosts, r live.Config) []results.Flow {
	t.Helper()
	start(t, h, r)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	var s role.State
	var ended []results.Flow
	for !s.Done {
		<-tick.C
		s = role.State{}
		if err := h.Progress(agent.Nothing{}, &s); err != nil {
			t.Fatal(err)
		}
		ended = append(ended, s.Ended...)
	}
	if int64(len(ended)) != s.Completed {
		t.Errorf("%d flows completed, and the states had %d of them", s.Completed, len(ended))
	}
	if s.Completed+s.Failed != int64(len(r.Flows)) {
		t.Errorf("done, with %+v of %d flows", s.Progress, len(r.Flows))
	}
	var left role.Replayed
	if err := h.Finish(agent.Nothing{}, &left); err != nil {
		t.Fatal(err)
	}
	return left.Flows
}

// start opens and starts a replay.
func start(t *testing.T, h *role.Hosts, r live.Config) {
	t.Helper()
	if err := h.Open(r, &agent.Nothing{}); err != nil {
		t.Fatal(err)
	}
	if err := h.Start(monotonic(t)+int64(20*time.Millisecond), &agent.Nothing{}); err != nil {
		t.Fatal(err)
	}
}

func monotonic(t *testing.T) int64 {
	t.Helper()
	now, err := host.Monotonic()
	if err != nil {
		t.Fatal(err)
	}
	return now
}

func checkRecords(t *testing.T, records []results.Flow, trace []traffic.Flow) {
	t.Helper()
	if len(records) != len(trace) {
		t.Fatalf("%d records of %d flows", len(records), len(trace))
	}
	for i, r := range records {
		f := trace[i]
		if !r.Completed() || r.Bytes != f.Bytes || r.Start != f.Start || r.Sent < f.Start || r.FCT <= 0 || int(r.Server) != f.Server {
			t.Errorf("record %+v of flow %+v", r, f)
		}
	}
}

// TestReplay: hosts without a namespace live in the caller's, and may replay
// one trace after another.
func TestReplay(t *testing.T) {
	h := serving(t, loopback(3))
	trace := flows(12, 3)
	for _, connections := range []int{0, 2} {
		checkRecords(t, replay(t, h, live.Config{Flows: trace, Dilation: 2, Connections: connections}), trace)
	}
}

// TestDatagramFlows: hosts that speak UDP send what they are asked for, and their base RTT
// is measured all the same.
func TestDatagramFlows(t *testing.T) {
	ends := loopback(3)
	for i := range ends {
		ends[i].Addr = netip.AddrFrom4([4]byte{127, 1, byte(os.Getpid()), byte(i + 1)}) // not those of other tests
		ends[i].Sorts = []live.Sort{live.Datagrams}
	}
	h := serving(t, ends)
	all := flows(4, 3)
	for i := range all {
		all[i].Rate, all[i].Stop = 8*units.Mbps, time.Minute
	}
	for _, f := range replay(t, h, live.Config{Flows: all, Dilation: 1, Datagram: 300}) {
		if !f.Completed() || f.Received != f.Bytes {
			t.Errorf("%+v", f)
		}
	}
	var rtts []role.RTT
	if err := h.BaseRTT([][2]int{{1, 2}}, &rtts); err != nil || len(rtts) != 1 {
		t.Errorf("base RTTs %v, %v", rtts, err)
	}
}

// TestElsewhere: each process serves and asks for its own hosts, and their
// traces have one time zero.
func TestElsewhere(t *testing.T) {
	ends := loopback(3)
	all := make([]*role.Hosts, len(ends))
	for i := range all {
		mine := slices.Clone(ends)
		for j := range mine {
			mine[j].Elsewhere = i != j
		}
		all[i] = serving(t, mine)
	}
	trace := flows(6, 3)
	checkRecords(t, replay(t, all[0], live.Config{Flows: trace, Dilation: 2}), trace)
	var rtts []role.RTT
	if err := all[1].BaseRTT([][2]int{{1, 2}}, &rtts); err != nil || len(rtts) != 1 {
		t.Errorf("RTTs %v, %v", rtts, err)
	}
}

// TestHostsOutOfOrder: calls that come too early or too late are errors that
// say what is missing, and change nothing.
func TestHostsOutOfOrder(t *testing.T) {
	var (
		nothing agent.Nothing
		state   role.State
		rtts    []role.RTT
	)
	forever := live.Config{Flows: []traffic.Flow{{Start: time.Hour, Server: 1, Bytes: 1}}, Dilation: 1}
	refused := func(what string, err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", what, err, want)
		}
	}
	h := role.NewHosts(context.Background())
	refused("BaseRTT before Serve", h.BaseRTT([][2]int{{0, 1}}, &rtts), "do not serve yet")
	refused("Open before Serve", h.Open(forever, &nothing), "do not serve yet")
	refused("Start before Open", h.Start(0, &nothing), "no trace open")
	refused("Progress before Start", h.Progress(nothing, &state), "not replaying")
	refused("Finish before Start", h.Finish(nothing, &role.Replayed{}), "not replaying")
	if err := h.Serve(loopback(2), &nothing); err != nil {
		t.Fatal(err)
	}
	refused("Serve twice", h.Serve(loopback(2), &nothing), "serve already")
	refused("Progress before Start", h.Progress(nothing, &state), "not replaying")
	refused("Open without time", h.Open(live.Config{Flows: forever.Flows}, &nothing), "dilation")
	start(t, h, forever)
	refused("Start twice", h.Start(0, &nothing), "replaying a trace")
	refused("Open twice", h.Open(forever, &nothing), "replaying a trace")
	if err := h.Progress(nothing, &state); err != nil || state.Done || state.Started != 0 {
		t.Errorf("progress %+v, %v", state, err)
	}
	// Close ends the replay, an hour early.
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	refused("Progress after Close", h.Progress(nothing, &state), "not replaying")
	if err := h.Close(); err != nil {
		t.Errorf("close again: %v", err)
	}
}

// TestProcessEndsReplay: the end of the process's context ends a replay; what
// was cut short says so.
func TestProcessEndsReplay(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	h := role.NewHosts(ctx)
	defer h.Close()
	if err := h.Serve(loopback(2), &agent.Nothing{}); err != nil {
		t.Fatal(err)
	}
	start(t, h, live.Config{Flows: []traffic.Flow{{Start: time.Hour, Server: 1, Bytes: 1}}, Dilation: 1})
	cancel()
	if err := h.Finish(agent.Nothing{}, &role.Replayed{}); err == nil {
		t.Error("a replay that was cut short is no error")
	}
}

// TestServeFails: an address that is taken, or not there, is an error that
// leaves nothing open.
func TestServeFails(t *testing.T) {
	ends := loopback(2)
	taken, err := net.Listen("tcp4", netip.AddrPortFrom(ends[1].Addr, 5001).String())
	if err != nil {
		t.Fatal(err)
	}
	h := role.NewHosts(context.Background())
	defer h.Close()
	if err := h.Serve(ends, &agent.Nothing{}); err == nil || !strings.Contains(err.Error(), "host 1") {
		t.Errorf("error %v, want one that names the host", err)
	}
	if err := taken.Close(); err != nil {
		t.Fatal(err)
	}
	if err := h.Serve(ends, &agent.Nothing{}); err != nil {
		t.Errorf("once the address is free: %v", err)
	}
	other := role.NewHosts(context.Background())
	defer other.Close()
	missing := []role.End{{Namespace: "aqm-none-such", Addr: ends[0].Addr}}
	if err := other.Serve(missing, &agent.Nothing{}); err == nil || !strings.Contains(err.Error(), "aqm-none-such") {
		t.Errorf("error %v, want one that names the namespace", err)
	}
}
