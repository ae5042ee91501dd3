package testbed

import (
	"context"
	"testing"
	"time"

	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/backend"
	"aqmlab/orchestrator/role"
	"aqmlab/results"
	"aqmlab/trafficgen/live"
	"aqmlab/trafficgen/traffic"
)

// TestFleet: a crew inside each host gives the records of a trace as the one
// crew of all hosts does: every flow's, once, in the trace's order.
func TestFleet(t *testing.T) {
	tb := testbed(t, parse(t, small))
	// The testbed's crew listens at the same places.
	if err := tb.hosts[0].Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	tb.hosts = nil
	var ends []role.End
	for i, h := range tb.net.Hosts {
		p, err := agent.Spawn(t.Context(), agent.Options{Role: role.HostsRole, Namespace: h.Namespace})
		if err != nil {
			t.Fatal(err)
		}
		tb.hosts = append(tb.hosts, newHostProcess(p, h.Name, i))
		ends = append(ends, role.End{Addr: h.Addr}) // in its own namespace
	}
	if err := tb.hosts.serve(t.Context(), ends); err != nil {
		t.Fatal(err)
	}
	var trace []traffic.Flow
	for i := range 30 { // two of the three hosts ask, in turns of unequal length
		client := (i / 4) % 2
		trace = append(trace, traffic.Flow{ID: 100 + i, Start: time.Duration(i) * time.Millisecond, Client: client, Server: 2 - i%2*(1-client), Bytes: int64(1000 + i)})
	}
	m, err := tb.measure(t.Context(), backend.Point{Coord: results.Coord{Scheme: "tcn"}, Flows: trace}, func(s backend.Progress) {
		if s.Completed+s.Failed > int64(len(trace)) {
			t.Errorf("progress %+v of %d flows", s, len(trace))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Flows) != len(trace) {
		t.Fatalf("%d records of %d flows", len(m.Flows), len(trace))
	}
	for i, r := range m.Flows {
		if f := trace[i]; r.ID != int64(f.ID) || int(r.Client) != f.Client || !r.Completed() || r.Sent < f.Start {
			t.Errorf("record %d is %+v, of flow %+v", i, r, f)
		}
	}
	pairs := [][2]int{{0, 1}, {1, 2}, {0, 2}, {2, 0}}
	var rtts []role.RTT
	_, err = tb.WithSwitch(t.Context(), backend.Point{Coord: results.Coord{Scheme: "tcn"}}, func(ctx context.Context) error {
		rtts, err = tb.hosts.baseRTT(ctx, pairs)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range rtts {
		if p := pairs[i]; r.Src.Addr() != ends[p[0]].Addr || r.Dst.Addr() != ends[p[1]].Addr || r.Least <= 0 {
			t.Errorf("pair %v gives %+v", p, r)
		}
	}
}

// TestEmptyTrace: without flows there is nothing to wait for.
func TestEmptyTrace(t *testing.T) {
	run, err := fleet{}.start(t.Context(), live.Config{}, 0, here{}.clock)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := run.progress(t.Context()); err != nil || !s.Done {
		t.Errorf("progress %+v, %v", s, err)
	}
	if records, services, err := run.finish(t.Context()); err != nil || len(records)+len(services) > 0 {
		t.Errorf("records %v, services %v, %v", records, services, err)
	}
}
