package live

import (
	"context"
	"errors"
	"math"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/results"
	"aqmlab/trafficgen"
	"aqmlab/trafficgen/traffic"
	"aqmlab/units"
)

// trace draws flows of up to 200 KB among hosts, four services.
func trace(t testing.TB, hosts, n int, pattern string) []traffic.Flow {
	t.Helper()
	flows, err := trafficgen.Trace(trafficgen.Spec{
		Hosts: hosts, Rate: 10 * units.Gbps, Load: 0.5, Flows: n,
		Sizes:    kind.Choice{Kind: "uniform", Params: map[string]any{"max": "200KB"}},
		Arrival:  kind.Choice{Kind: "poisson"},
		Pattern:  pattern,
		Racks:    []int{0, 0, 1, 1}[:hosts],
		Services: []int{1, 1, 1, 1},
		Seed:     1,
	})
	if err != nil {
		t.Fatal(err)
	}
	return flows
}

func TestRunCompletesEveryFlow(t *testing.T) {
	for _, pattern := range trafficgen.Patterns() {
		n := newLoopback()
		serve(t, n, 0, 1, 2, 3)
		flows := trace(t, 4, 300, pattern)
		c := open(t, n, Config{Flows: flows, Dilation: 2.5, Connections: 2, Limit: time.Minute, Stall: time.Minute})
		if ahead := n.dials(); ahead != 2*len(pairs(flows)) {
			t.Errorf("%s: %d connections opened ahead, want 2 for each of %d pairs", pattern, ahead, len(pairs(flows)))
		}
		records, err := c.Run(t.Context(), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		checkCompleted(t, records, flows)
		var bytes int64
		for _, f := range flows {
			bytes += f.Bytes
		}
		if got, want := c.Progress(), (Progress{300, 300, 0, bytes}); got != want {
			t.Errorf("%s: progress %+v, want %+v", pattern, got, want)
		}
		ended := c.Ended()
		slices.SortFunc(ended, func(a, b results.Flow) int { return int(a.ID - b.ID) })
		if !slices.Equal(ended, records) || c.Ended() != nil {
			t.Errorf("%s: the %d flows that ended are not those of the records", pattern, len(ended))
		}
		for _, d := range n.dialled {
			if _, err := d.Write([]byte{0}); !errors.Is(err, net.ErrClosed) {
				t.Errorf("%s: a connection is open after the run: %v", pattern, err)
			}
		}
	}
}

// A flow that is larger than every buffer on the way arrives to the byte.
func TestRunLargeFlow(t *testing.T) {
	n := newLoopback()
	serve(t, n, 1)
	flows := one(flow(0, 1, 100_000_001))
	checkCompleted(t, replay(t, n, Config{Flows: flows, Connections: 1}), flows)
}

// Records are in lab time: with the wall clock a million times slower, sending
// cannot seem later, nor a flow longer, than the whole test took over a million.
func TestRunReportsLabTime(t *testing.T) {
	const dilation = 1e6
	n := newLoopback()
	serve(t, n, 1)
	flows := one(flow(0, 1, 1000))
	flows[0].Start = 2 * time.Nanosecond // 2 ms on the wall
	begin := time.Now()
	records := replay(t, n, Config{Flows: flows, Dilation: dilation, Connections: 1})
	whole := time.Since(begin)/dilation + 1
	if r := records[0]; r.Sent < 2 || r.Sent > whole || r.FCT > whole || r.Error != "" {
		t.Errorf("record %+v of a test that took %v of lab time", r, whole)
	}
}

// Requests that come while all connections are busy get connections of their
// own: the server answers none before all are there.
func TestPoolGrows(t *testing.T) {
	const flowsAtOnce = 7
	n := newLoopback()
	var all sync.WaitGroup
	all.Add(flowsAtOnce)
	script(t, n, 1, func(c net.Conn) {
		head, size, err := ask(c)
		if err != nil {
			return
		}
		all.Done()
		all.Wait()
		c.Write(append(head[:], make([]byte, size)...))
		ask(c) // until the client closes
	})
	var flows []traffic.Flow
	for i := range flowsAtOnce {
		flows = append(flows, flow(i, 1, int64(1000+i)))
	}
	checkCompleted(t, replay(t, n, Config{Flows: flows, Connections: 2}), flows)
	if got := n.dials(); got != flowsAtOnce {
		t.Errorf("%d connections, want %d", got, flowsAtOnce)
	}
}

// held lets host 1 be reached only after host 2 was.
type held struct {
	*loopback
	reached chan struct{}
}

func (h held) Dial(ctx context.Context, client, server, transport int) (net.Conn, error) {
	if server == 2 {
		defer close(h.reached)
	} else {
		<-h.reached
	}
	return h.loopback.Dial(ctx, client, server, transport)
}

func TestConnectingBlocksNoLaterFlow(t *testing.T) {
	n := newLoopback()
	serve(t, n, 1, 2)
	flows := []traffic.Flow{flow(0, 1, 10), flow(1, 2, 10)}
	checkCompleted(t, replay(t, held{n, make(chan struct{})}, Config{Flows: flows}), flows)
}

func TestServerFailureIsReportedPerFlow(t *testing.T) {
	n := newLoopback()
	serve(t, n, 1)
	script(t, n, 2, func(c net.Conn) { // breaks off after half of the payload
		if head, size, err := ask(c); err == nil {
			c.Write(append(head[:], make([]byte, size/2)...))
		}
	})
	script(t, n, 3, func(c net.Conn) { // answers something else
		if head, _, err := ask(c); err == nil {
			head[15]++
			c.Write(head[:])
			ask(c)
		}
	})
	script(t, n, 4, func(net.Conn) {}) // hangs up
	flows := []traffic.Flow{
		flow(0, 1, 5000), flow(1, 2, 5000), flow(2, 3, 5000), flow(3, 4, 5000), flow(4, 5, 5000), flow(5, 1, 7000),
	}
	c := open(t, n, Config{Flows: flows})
	records, err := c.Run(t.Context(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	checkCompleted(t, records[:1], flows[:1])
	checkCompleted(t, records[5:], flows[5:])
	for i, want := range []struct {
		received int64
		text     string
	}{
		{2500, "reading the payload: unexpected EOF"},
		{0, "reading the response: not a header of this protocol"},
		{0, ""}, // a reset or an end, as the race goes
		{0, "connecting host 0 to host 5: host 5 does not listen"},
	} {
		r := records[i+1]
		if r.Completed() || r.Error == "" || r.FCT != 0 || r.Received != want.received || !strings.HasPrefix(r.Error, want.text) {
			t.Errorf("record %+v, want %d bytes and error %q", r, want.received, want.text)
		}
	}
	if got, want := c.Progress(), (Progress{6, 2, 4, 5000 + 7000 + 2500}); got != want {
		t.Errorf("progress %+v, want %+v", got, want)
	}
}

// wedge is a trace with a flow to a host that answers, one to a host that
// never does, and one whose time does not come.
func wedge(t *testing.T) (n *loopback, flows []traffic.Flow, asked chan struct{}) {
	t.Helper()
	n, asked = newLoopback(), make(chan struct{}, 1)
	serve(t, n, 1)
	script(t, n, 2, silent(asked))
	flows = []traffic.Flow{flow(0, 1, 10), flow(1, 2, 10), flow(2, 1, 10)}
	flows[2].Start = time.Hour
	return n, flows, asked
}

func TestRunStopsWithItsContext(t *testing.T) {
	n, flows, asked := wedge(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	go func() {
		<-asked
		cancel(enough)
	}()
	c := open(t, n, Config{Flows: flows, Connections: 1, Stall: time.Hour, Limit: time.Hour})
	records, err := c.Run(ctx, time.Now())
	if !errors.Is(err, enough) || len(records) != 3 {
		t.Fatalf("%d records, error %v; want 3 and %v", len(records), err, enough)
	}
	for i, want := range []string{1: "not finished: enough", 2: "not started: enough"} {
		if i > 0 && (records[i].Error != want || records[i].FCT != 0 || records[i].Received != 0) {
			t.Errorf("record %+v, want error %q", records[i], want)
		}
	}
	if p := c.Progress(); p.Started != 2 || p.Completed+p.Failed != 3 {
		t.Errorf("progress %+v, want 2 started and 3 ended", p)
	}
}

func TestRunStopsWhileConnecting(t *testing.T) {
	n := newLoopback()
	serve(t, n, 1)
	ctx, cancel := context.WithCancel(t.Context())
	records, err := open(t, dialForever{n, cancel}, Config{Flows: one(flow(0, 1, 10))}).Run(ctx, time.Now())
	if !errors.Is(err, context.Canceled) || records[0].Error != "not finished: context canceled" {
		t.Errorf("records %+v, error %v", records, err)
	}
}

// dialForever connects nothing before its context ends, which it brings about.
type dialForever struct {
	*loopback
	cancel func()
}

func (d dialForever) Dial(ctx context.Context, _, _, _ int) (net.Conn, error) {
	d.cancel()
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestRunEndsAtItsLimits(t *testing.T) {
	for name, c := range map[string]struct {
		cfg  Config
		want error
	}{
		"limit": {Config{Limit: 50 * time.Millisecond}, errLimit},
		"stall": {Config{Stall: 50 * time.Millisecond}, errStall},
	} {
		n, flows, _ := wedge(t)
		c.cfg.Flows, c.cfg.Connections = flows[:2], 1
		record := replay(t, n, c.cfg)[1]
		if record.Completed() || !strings.HasSuffix(record.Error, c.want.Error()) {
			t.Errorf("%s: record %+v, want error %q", name, record, c.want)
		}
	}
}

func TestStall(t *testing.T) {
	idle := Progress{Started: 3, Completed: 2, Failed: 1, Bytes: 100}
	waiting := Progress{Started: 4, Completed: 2, Failed: 1, Bytes: 100}
	more := Progress{Started: 4, Completed: 2, Failed: 1, Bytes: 101}
	started := Progress{Started: 5, Completed: 2, Failed: 1, Bytes: 101}
	for name, c := range map[string]struct {
		looks []Progress
		after int // looks until a stall is seen; 0: none
	}{
		"no flow under way":          {slices.Repeat([]Progress{idle}, 100), 0},
		"bytes come now and then":    {slices.Repeat([]Progress{waiting, waiting, more, more}, 25), 0},
		"nothing moves":              {slices.Repeat([]Progress{waiting}, 100), 1 + stallChecks + 1},
		"after a pause":              {append(slices.Repeat([]Progress{idle}, 50), slices.Repeat([]Progress{waiting}, 50)...), 50 + stallChecks + 1},
		"starting is not progress":   {append(slices.Repeat([]Progress{more}, 5), slices.Repeat([]Progress{started}, 50)...), 1 + stallChecks + 1},
		"movement starts it anew":    {append(slices.Repeat([]Progress{waiting}, 5), slices.Repeat([]Progress{more}, 50)...), 5 + 1 + stallChecks + 1},
		"a short wait is not enough": {slices.Repeat([]Progress{waiting}, 1+stallChecks), 0},
	} {
		var s stall
		got := 1 + slices.IndexFunc(c.looks, s.check)
		if got != c.after {
			t.Errorf("%s: a stall at look %d, want %d", name, got, c.after)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	n := newLoopback()
	serve(t, n, 1)
	good := flow(0, 1, 10)
	change := func(f func(*traffic.Flow)) []traffic.Flow {
		bad := good
		f(&bad)
		return []traffic.Flow{good, bad}
	}
	for want, cfg := range map[string]Config{
		"dilation 0 is not above zero":                 {},
		"dilation NaN is not above zero":               {Dilation: math.NaN()},
		"dilation +Inf is not above zero":              {Dilation: math.Inf(1)},
		"-1 connections":                               {Dilation: 1, Connections: -1},
		"limit -1ns or stall 0s":                       {Dilation: 1, Limit: -1},
		"flow 0: 0 bytes are outside":                  {Dilation: 1, Flows: change(func(f *traffic.Flow) { f.Bytes = 0 })},
		"flow 0: 1099511627777 bytes are":              {Dilation: 1, Flows: change(func(f *traffic.Flow) { f.Bytes = traffic.MaxBytes + 1 })},
		"flow 0: service 64 has no DSCP":               {Dilation: 1, Flows: change(func(f *traffic.Flow) { f.Service = 64 })},
		"5 connections are opened ahead, of which fre": {Dilation: 1, Connections: 5, Fresh: true},
		"flow 0: service 63 has no DSCP: want 0 to 62": {Dilation: 1, Tagging: traffic.Tagging{Thresholds: []units.Size{5}}, Flows: change(func(f *traffic.Flow) { f.Service = 63 })},
		"flow 0: it stops at 1ns, and starts at 1ns":   {Dilation: 1, Flows: change(func(f *traffic.Flow) { f.Stop = f.Start })},
		"flow 0: rate -1bps is below zero":             {Dilation: 1, Flows: change(func(f *traffic.Flow) { f.Rate = -1 })},
		"threshold 0B is not above 0B":                 {Dilation: 1, Tagging: traffic.Tagging{Thresholds: []units.Size{0}}},
		"flow 0 starts at 0s, before":                  {Dilation: 1, Flows: change(func(f *traffic.Flow) { f.Start = 0 })},
		"connecting host 0 to host 9: host 9":          {Dilation: 1, Connections: 50, Flows: change(func(f *traffic.Flow) { f.Server = 9 })},
	} {
		_, err := Open(t.Context(), n, cfg)
		if err == nil || !strings.HasPrefix(err.Error(), "opening connections: "+want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	for _, c := range n.dialled {
		if _, err := c.Write([]byte{0}); !errors.Is(err, net.ErrClosed) {
			t.Errorf("a connection outlived a failed Open: %v", err)
		}
	}
}

func TestRunWithoutFlows(t *testing.T) {
	c := open(t, newLoopback(), Config{Limit: 1})
	if records, err := c.Run(t.Context(), time.Now()); len(records) != 0 || err != nil {
		t.Errorf("%v, %v; want nothing", records, err)
	}
	if _, err := c.Run(t.Context(), time.Now()); !errors.Is(err, errRan) {
		t.Errorf("second run: error %v, want %v", err, errRan)
	}
}
