package live

import (
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"aqmlab/collectors/meter"
	"aqmlab/trafficgen/traffic"
	"aqmlab/units"
)

// With fresh connections each flow has its own, closed behind it.
func TestFreshConnections(t *testing.T) {
	n := newLoopback()
	serve(t, n, 1)
	var flows []traffic.Flow
	for i := range 20 {
		f := flow(i, 1, 1000)
		f.Query, f.Workload = 1+i/2, i%2
		f.Start = time.Duration(i+1) * time.Millisecond
		flows = append(flows, f)
	}
	c := open(t, n, Config{Flows: flows, Fresh: true})
	if n.dials() != 0 {
		t.Errorf("%d connections opened ahead", n.dials())
	}
	records, err := c.Run(t.Context(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	checkCompleted(t, records, flows)
	if n.dials() != len(flows) || len(c.pool.list[ends{server: 1}]) != 0 {
		t.Errorf("%d connections for %d flows, of which %d are left", n.dials(), len(flows), len(c.pool.list[ends{server: 1}]))
	}
}

// The handshake is part of a flow's time only where the configuration says so.
func TestHandshake(t *testing.T) {
	const slow = 30 * time.Millisecond
	for _, counted := range []bool{false, true} {
		n := newLoopback()
		serve(t, n, 1)
		flows := one(flow(0, 1, 1000))
		c := open(t, n, Config{Flows: flows, Fresh: true, Handshake: counted})
		r := newRun(c, time.Now())
		conn, err := r.open(t.Context(), ends{server: 1})
		if err != nil {
			t.Fatal(err)
		}
		if (conn.opening > 0) != counted {
			t.Errorf("counted %v: the handshake took %v", counted, conn.opening)
		}
		if counted {
			conn.opening += slow
		}
		r.finish(t.Context(), 0, conn, conn.send(r.request(flows[0]), meter.For{}))
		rec := r.records[0]
		if rec.Error != "" || (rec.FCT >= slow && rec.Sent < 0) != counted {
			t.Errorf("counted %v: record %+v of a flow with a handshake of %v", counted, rec, conn.opening)
		}
	}
}

// A pushed flow's clock starts when the server does: a server that takes its
// time before it begins to send makes the flow later and not longer.
func TestPushCountsFromTheServer(t *testing.T) {
	n := newLoopback()
	ahead := make(chan int64, 1) // of what the server's clock says
	script(t, n, 1, func(c net.Conn) {
		for {
			head, size, err := ask(c)
			if err != nil {
				return
			}
			at := now(t) + <-ahead
			for i := range 8 {
				head[23-i] = byte(at >> (8 * i))
			}
			c.Write(append(head[:], make([]byte, size)...))
		}
	})
	push := flow(0, 1, 1000)
	push.Push = true
	for _, c := range []struct {
		ahead time.Duration
		want  string
	}{
		{0, ""},
		{time.Hour, errForeignClock.Error()},
		{-time.Hour, errForeignClock.Error()},
	} {
		ahead <- int64(c.ahead)
		before := time.Now()
		rec := replay(t, n, Config{Flows: one(push), Connections: 1})[0]
		if rec.Error != c.want || c.want == "" && (rec.FCT <= 0 || rec.FCT > time.Since(before) || rec.Sent <= 0) {
			t.Errorf("a clock that is %v ahead: record %+v, want error %q", c.ahead, rec, c.want)
		}
	}
}

func TestPushedFlowsComplete(t *testing.T) {
	n := newLoopback()
	serve(t, n, 0, 1, 2, 3)
	flows := trace(t, 4, 200, "all-to-all")
	for i := range flows {
		flows[i].Push = true
	}
	checkCompleted(t, replay(t, n, Config{Flows: flows, Connections: 1}), flows)
}

// A long flow ends at its time, complete with what the server wrote until then,
// and its connection with it.
func TestStop(t *testing.T) {
	for name, cfg := range map[string]Config{
		"plain":  {},
		"tagged": {Tagging: traffic.Tagging{Thresholds: []units.Size{100 * units.KB}}},
		"fresh":  {Fresh: true},
	} {
		n := newLoopback()
		serve(t, n, 1)
		long, short := flow(0, 1, traffic.MaxBytes), flow(1, 1, 1000)
		long.Stop, short.Start = 50*time.Millisecond, time.Millisecond
		flows := []traffic.Flow{long, short}
		cfg.Flows, cfg.Limit, cfg.Dilation = flows, time.Minute, 2
		c := open(t, n, cfg)
		records, err := c.Run(t.Context(), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		r := records[0]
		if !r.Completed() || r.Bytes < 1 || r.Bytes == traffic.MaxBytes || r.Sent+r.FCT < long.Stop {
			t.Errorf("%s: record %+v of a flow that stops at %v", name, r, long.Stop)
		}
		checkCompleted(t, records[1:], flows[1:])
	}
}

// A flow whose bytes are done before its time is an ordinary one.
func TestStopAfterTheLastByte(t *testing.T) {
	n := newLoopback()
	serve(t, n, 1)
	f := flow(0, 1, 100_000)
	f.Stop = time.Hour
	checkCompleted(t, replay(t, n, Config{Flows: one(f)}), one(f))
}

func TestServerThatStopsEarly(t *testing.T) {
	n := newLoopback()
	script(t, n, 1, func(c net.Conn) {
		if head, _, err := ask(c); err == nil {
			c.Write(append(head[:], 0))
		}
	})
	f := flow(0, 1, 1000)
	f.Stop = time.Hour
	if r := replay(t, n, Config{Flows: one(f)})[0]; r.Completed() || r.Error != errEarly.Error() || r.Received != 1 {
		t.Errorf("record %+v, want one byte and error %q", r, errEarly)
	}
}

// The server's kernel keeps the rate of lab time: at 80 Mbps, 2 MB take 0.2 s.
// What it sends at once in the beginning is less than half of them.
func TestRate(t *testing.T) {
	n := newLoopback()
	serve(t, n, 1)
	f := flow(0, 1, 2_000_000)
	f.Rate = 80 * units.Mbps
	r := replay(t, n, Config{Flows: one(f), Dilation: 0.5, Connections: 1})[0]
	if !r.Completed() || r.FCT < 100*time.Millisecond {
		t.Errorf("record %+v, want 0.2 s", r)
	}
}

// A rate holds for its flow and not for others on the connection.
func TestRateIsLifted(t *testing.T) {
	n := newLoopback()
	serve(t, n, 1)
	conn, sides := exchange(t, n, "")
	for _, rate := range []int64{1_000_000, 0} {
		if err := conn.send(request{bytes: 10, rate: rate}, meter.For{}); err != nil {
			t.Fatal(err)
		}
		if err := conn.receive(); err != nil {
			t.Fatal(err)
		}
		want := rate
		if rate == 0 {
			want = -1 // all bits: no limit
		}
		if got := option(t, sides["server"], unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE); int64(int32(got)) != want {
			t.Errorf("paced at %d bytes a second, want %d", got, want)
		}
	}
}

func TestRequestsAreInWallTime(t *testing.T) {
	f := flow(7, 1, 1000)
	f.Rate, f.Stop, f.Service = 8*units.Gbps, time.Hour, 3
	c := &Client{cfg: Config{Flows: one(f), Dilation: 4, Tagging: traffic.Tagging{Thresholds: []units.Size{5}}}}
	q := newRun(c, time.Now()).request(f)
	if q.rate != 250_000_000 || q.lasts <= 3*time.Hour || q.lasts > 4*time.Hour || q.service != 3 || q.count != 1 || q.thresholds[0] != 5 {
		t.Errorf("request %+v", q)
	}
	f.Rate = 1
	if q := newRun(c, time.Now().Add(-24*time.Hour)).request(f); q.rate != 1 || q.lasts != 1 {
		t.Errorf("request %+v, want the least rate and time there are", q)
	}
}
