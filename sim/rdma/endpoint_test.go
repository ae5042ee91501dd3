package rdma

import (
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/switch/event"
	"aqmlab/switch/packet"
	"aqmlab/trafficgen/transport"
	"aqmlab/units"
)

// full is how long n full packets take on a link of 10 Gbps.
func full(n int) time.Duration { return time.Duration(n) * 12304 / 10 }

func config(hosts int) Config {
	return Config{
		DCQCN:   transport.DefaultDCQCN(),
		Uplinks: slices.Repeat([]units.Rate{10 * units.Gbps}, hosts),
		MTU:     1500,
		RTO:     time.Millisecond,
	}
}

// sent is a packet that left a host, and when.
type sent struct {
	at time.Duration
	packet.Packet
}

// bench is a stack whose packets go nowhere but on a list.
type bench struct {
	event.Loop
	*Stack
	pool packet.Pool
	log  []sent
}

func newBench(t testing.TB, c Config) *bench {
	t.Helper()
	b := &bench{}
	s, err := NewStack(&b.Loop, &b.pool, func(at time.Duration, _ int, k *packet.Packet) {
		b.log = append(b.log, sent{at, *k})
		b.pool.Put(k)
	}, c)
	if err != nil {
		t.Fatal(err)
	}
	b.Stack = s
	return b
}

// flow is an endpoint at host 0 of a connection with host 1.
func (b *bench) flow(conn int32) *Endpoint {
	e := b.Endpoint()
	e.Establish(Ends{Conn: conn, Local: 0, Remote: 1, Hash: 77}, new(tally))
	return e
}

// tally is a user that adds up what it is told.
type tally struct {
	delivered int64
	acked     int // times that all was
	failed    time.Duration
}

func (u *tally) Delivered(_ time.Duration, n int64) { u.delivered += n }
func (u *tally) Acked(time.Duration)                { u.acked++ }
func (u *tally) Failed(now time.Duration)           { u.failed = now }

// hand gives an endpoint a packet from its peer.
func (b *bench) hand(e *Endpoint, ecn packet.ECN, s packet.Segment) {
	k := b.pool.Get()
	s.Conn = e.ends.Conn
	k.ECN, k.DSCP, k.Segment = ecn, 5, s
	e.Receive(b.Now(), k)
}

// run advances to at and returns the packets sent since the last call.
func (b *bench) run(at time.Duration) []sent {
	b.RunUntil(at)
	log := b.log
	b.log = nil
	return log
}

// TestPackets: packets do not cross the end of a message, carry its DSCP, are
// ECN-capable, and the last one and every sixteenth ask for an acknowledgement.
func TestPackets(t *testing.T) {
	b := newBench(t, config(2))
	e := b.flow(9)
	e.Write(0, 2*1456+100, 3)
	e.Write(0, 17*1456, 4)
	log := b.run(time.Millisecond / 2)
	var seq int64
	for i, k := range log {
		start, end := int64(0), int64(2*1456+100) // of its message
		size, dscp := int32(1500), uint8(3)
		if i > 2 {
			dscp, start, end = 4, end, end+17*1456
		}
		if i == 2 {
			size = 144
		}
		asks := i == 2 || i == 3+15 || i == 3+16
		s := packet.Segment{Conn: 9, Len: size - 44, Seq: seq, Left: uint32(end - seq), Before: uint32(seq - start)}
		if asks {
			s.Flags = packet.REQ
		}
		seq += int64(size - 44)
		if k.Segment != s || k.Size != size || k.DSCP != dscp || k.ECN != packet.ECT0 || k.PureACK || k.Answer || k.Src != 0 || k.Dst != 1 || k.Hash != 77 {
			t.Errorf("packet %d is %+v", i, k.Packet)
		}
	}
	if len(log) != 20 {
		t.Errorf("%d packets, want 20", len(log))
	}
}

// TestPace: packets leave back to back at line rate (1.2304 us each), at half of
// it after a cut, and the wait for the next one shrinks when the rate grows in
// the middle of it: the timer's first round ends after 55 us, 0.8624 us after the
// 23rd packet left, and the remaining 1.5984 us at 5 Gbps are 1.0656 us at 7.5.
func TestPace(t *testing.T) {
	b := newBench(t, config(2))
	e := b.flow(1)
	e.Write(0, 10*1456, 0)
	for i, k := range b.run(100 * us) {
		if want := full(i); max(k.at-want, want-k.at) > 1 {
			t.Errorf("at line rate packet %d leaves at %v, want %v", i, k.at, want)
		}
	}
	b.hand(e, packet.NotECT, packet.Segment{Flags: packet.CNP})
	e.Write(100*us, 30*1456, 0)
	log := b.run(200 * us)
	for i, k := range log {
		want := 100*us + full(2*i)
		if i > 22 {
			want = 100*us + 55*us + 1066 + full(i-23)*4/3
		}
		if max(k.at-want, want-k.at) > 5 {
			t.Errorf("packet %d leaves at %v, want %v", i, k.at, want)
		}
	}
	if len(log) != 30 {
		t.Errorf("%d packets, want 30", len(log))
	}
}

// TestTurns: flows of one host share its link packet by packet, answers go
// before them, and a host that flow control stops sends nothing.
func TestTurns(t *testing.T) {
	b := newBench(t, config(2))
	flows := []*Endpoint{b.flow(0), b.flow(1), b.flow(2)}
	for _, e := range flows {
		e.Write(0, 4*1456, 0)
	}
	b.RunUntil(3 * us) // in the middle of the third
	b.hand(flows[1], packet.NotECT, packet.Segment{Seq: 0, Len: 100, Flags: packet.REQ})
	b.RunUntil(5 * us) // of the fifth: the answer took 86 bytes, 0.0688 us
	b.Pause(b.Now(), 0, true)
	b.RunUntil(50 * us)
	b.Pause(b.Now(), 0, false)
	type turn struct {
		conn int32
		at   time.Duration
	}
	var got []turn
	for _, k := range b.run(100 * us)[:8] {
		got = append(got, turn{k.Segment.Conn, k.at})
	}
	const ack = 69 * time.Nanosecond
	want := []turn{ // the first flow got in line again before the others came
		{0, 0}, {0, full(1)}, {1, full(2)}, {1, full(3)}, {2, full(3) + ack}, {0, full(4) + ack},
		{1, 50 * us}, {2, 50*us + full(1)},
	}
	if !slices.EqualFunc(got, want, func(a, b turn) bool { return a.conn == b.conn && max(a.at-b.at, b.at-a.at) < 5 }) {
		t.Errorf("turns\n%v, want\n%v", got, want)
	}
}

// TestNotifications: a mark is answered at once unless a notification was sent in
// the 50 us before it; marks of that time are answered together at its end
// (DCQCN paper, section 3.1, NP algorithm).
func TestNotifications(t *testing.T) {
	c := config(2)
	c.CNPDSCP = 7
	b := newBench(t, c)
	e := b.flow(1)
	var seq int64
	for _, m := range []struct {
		at  time.Duration
		ecn packet.ECN
	}{
		{3 * us, packet.ECT0},
		{10 * us, packet.CE},                       // answered
		{20 * us, packet.CE}, {59 * us, packet.CE}, // together at 60 us
		{70 * us, packet.ECT0},  // 110 us passes without
		{130 * us, packet.CE},   // answered
		{200 * us, packet.ECT0}, // not
	} {
		b.RunUntil(m.at)
		b.hand(e, m.ecn, packet.Segment{Seq: seq, Len: 1456})
		seq += 1456
	}
	var at []time.Duration
	for _, k := range b.run(time.Millisecond) {
		at = append(at, k.at)
		if k.Segment != (packet.Segment{Conn: 1, Flags: packet.CNP}) || k.DSCP != 7 || k.ECN != packet.NotECT || k.Size != 60 || k.PureACK || !k.Answer {
			t.Errorf("%+v is no notification", k.Packet)
		}
	}
	if want := []time.Duration{10 * us, 60 * us, 130 * us}; !slices.Equal(at, want) {
		t.Errorf("notifications at %v, want %v", at, want)
	}
	if n := b.Counters(0).Notifications; n != 3 {
		t.Errorf("counted %d", n)
	}
}

// TestAnswers: what a receiver says to each packet, that of 100 bytes from Seq.
func TestAnswers(t *testing.T) {
	b := newBench(t, config(2))
	e := b.flow(1)
	got := &e.user.(*tally).delivered
	const ack, nak = packet.ACK, packet.ACK | packet.NAK
	for i, tt := range []struct {
		seq       int64
		asks      bool
		delivered int64 // then
		ack       int64
		flags     packet.Flags
	}{
		{0, false, 100, 0, 0},
		{100, true, 200, 200, ack},
		{300, false, 200, 200, nak}, // a gap
		{400, true, 200, 200, 0},    // is reported once
		{100, true, 200, 200, ack},  // again, because the ACK may be lost
		{100, false, 200, 0, 0},
		{200, false, 300, 0, 0},
		{400, true, 300, 300, nak}, // the next gap
		{300, true, 400, 400, ack},
	} {
		var flags packet.Flags
		if tt.asks {
			flags = packet.REQ
		}
		b.hand(e, packet.ECT0, packet.Segment{Seq: tt.seq, Len: 100, Flags: flags})
		log := b.run(b.Now() + us)
		if *got != tt.delivered || len(log) > 1 || (len(log) == 1) != (tt.flags != 0) {
			t.Fatalf("step %d: %d delivered, answers %+v", i, *got, log)
		}
		if len(log) == 1 && (log[0].Segment != packet.Segment{Conn: 1, Ack: tt.ack, Flags: tt.flags} || log[0].DSCP != 5 || log[0].Size != 48 || log[0].PureACK || !log[0].Answer) {
			t.Errorf("step %d: answer %+v", i, log[0].Packet)
		}
	}
	if n := b.Counters(0).Refusals; n != 2 {
		t.Errorf("%d refusals counted, want 2", n)
	}
}

// TestShares: a flow that is held to 3 Gbps gets them from a link of 10 Gbps that
// another flow fills: having to wait for its turn does not cost it rate.
func TestShares(t *testing.T) {
	b := newBench(t, config(2))
	flows := []*Endpoint{b.flow(0), b.flow(1)}
	flows[1].reaction.rate = 3 * units.Gbps
	for _, e := range flows {
		e.Write(0, 10_000_000, 0)
	}
	var packets [2]int
	for _, k := range b.run(time.Millisecond) {
		packets[k.Segment.Conn]++
	}
	if packets[1] < 243 || packets[1] > 245 || packets[0]+packets[1] != 813 {
		t.Errorf("%d and %d packets in a millisecond, want 244 (3 Gbps) of 813", packets[0], packets[1])
	}
}

func TestBadConfig(t *testing.T) {
	for want, spoil := range map[string]func(*Config){
		"no hosts":         func(c *Config) { c.Uplinks = nil },
		"uplink of host 1": func(c *Config) { c.Uplinks[1] = units.Mbps },
		"MTU":              func(c *Config) { c.MTU = 44 },
		"RTO":              func(c *Config) { c.RTO = 0 },
	} {
		c := config(2)
		spoil(&c)
		if _, err := NewStack(&event.Loop{}, &packet.Pool{}, nil, c); err == nil || !strings.Contains(err.Error(), "rdma: "+want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
}
