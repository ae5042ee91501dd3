package tcp

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"aqmlab/switch/packet"
	"aqmlab/trafficgen/transport"
)

func TestConfigErrors(t *testing.T) {
	for want, change := range map[string]func(*Config){
		"tcp: MSS of 28 bytes: want above 28":                                                                               func(c *Config) { c.MSS = 28 },
		"tcp: header of 0 bytes: want at least 1":                                                                           func(c *Config) { c.Header = 0 },
		"tcp: initial window of 0 segments: want at least 1":                                                                func(c *Config) { c.InitCwnd = 0 },
		"tcp: an ACK every 0 segments: want at least 1":                                                                     func(c *Config) { c.DelayedAck = 0 },
		"tcp: delayed ACKs wait for at most 0s: want above zero":                                                            func(c *Config) { c.DelayedAck = 2 },
		`tcp: loss recovery "sack": want rack or sack-prr for windows that are held and for super-packets`:                  func(c *Config) { c.LossRecovery, c.Hold = SACK, true },
		"tcp: super-packets of 1500 bytes: want whole segments of 1000":                                                     func(c *Config) { c.SuperPacket = 1500 },
		"tcp: receive buffer of 3999 to 9000 bytes: want zero, or at least four segments, and no less at the end":           func(c *Config) { c.Receive = Receive{Buffer: 3999, Most: 9000} },
		"tcp: receive window of 999 bytes: want zero or at least the MSS, 1000":                                             func(c *Config) { c.ReceiveWindow = 999 },
		"tcp: small queue of 1ms: want zero, or more and the uplinks' backlog":                                              func(c *Config) { c.SmallQueue = ms },
		"tcp: least timeout 0s: want above zero":                                                                            func(c *Config) { c.RTOMin = 0 },
		"tcp: largest timeout 4ms: want at least the least, 5ms":                                                            func(c *Config) { c.RTOMax = 4 * ms },
		"tcp: initial timeout 0s: want above zero, at most 1s":                                                              func(c *Config) { c.RTOInit = 0 },
		"tcp: initial timeout 2s: want above zero, at most 1s":                                                              func(c *Config) { c.RTOInit = 2 * time.Second },
		`tcp: loss recovery "reno": want rack, sack or sack-prr`:                                                            func(c *Config) { c.LossRecovery = "reno" },
		`tcp: loss recovery "sack": want rack or sack-prr for bbr, which goes by the times of segments`:                     func(c *Config) { c.Control.Kind, c.LossRecovery = "bbr", SACK },
		"tcp: negative clock granularity":                                                                                   func(c *Config) { c.Granularity = -1 },
		`tcp: congestion control: unknown kind "vegas": want one of dctcp, ecn-star, reno, cubic, prague, swift, bbr, bbr3`: func(c *Config) { c.Control.Kind = "vegas" },
	} {
		c := config("reno")
		change(&c)
		if _, err := NewStack(nil, nil, nil, c); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestControls: each models a transport that labs name, and speaks ECN when that
// does.
func TestControls(t *testing.T) {
	for _, k := range Controls() {
		lab, err := transport.Table().New(k.Name, nil, struct{}{})
		if err != nil {
			t.Fatal(err)
		}
		model, err := Controls().New(k.Name, nil, struct{}{})
		if err != nil {
			t.Fatal(err)
		}
		if (model.echo != echoNever) != lab.ECN || model.data.Capable() != lab.ECN || k.Doc == "" {
			t.Errorf("%s: %+v", k.Name, model)
		}
	}
}

// TestHandshake: a connection opens in one round trip and a half; what is
// written before goes out with the first ACK, and is delivered.
func TestHandshake(t *testing.T) {
	p := newPair(t, config("dctcp"), 50*us)
	var log []string
	p.rule = func(now time.Duration, k *packet.Packet) fate {
		log = append(log, now.String())
		return fate{}
	}
	p.open()
	p.ends[0].Write(0, 10, Tag{})
	p.drain(t)
	if want := []string{"0s", "50µs", "100µs", "150µs"}; !slices.Equal(log, want) {
		t.Errorf("sent at %v, want %v", log, want)
	}
	if p.users[0].established != 1 || p.users[1].established != 1 || p.users[1].delivered != 10 || p.users[0].acked != 1 {
		t.Errorf("%+v", p.users)
	}
	for i, e := range p.ends {
		if e.rtt.srtt != float64(100*us) {
			t.Errorf("end %d measured %v, want 100us", i, time.Duration(e.rtt.srtt))
		}
	}
}

// TestLostLastAck: when the ACK that ends the handshake is lost, the answer is
// sent again, and acknowledged; data would do as well.
func TestLostLastAck(t *testing.T) {
	for _, early := range []bool{false, true} {
		p := newPair(t, config("reno"), 50*us)
		lost := false
		p.rule = func(_ time.Duration, k *packet.Packet) fate {
			drop := !lost && k.PureACK
			lost = lost || drop
			return fate{drop: drop}
		}
		p.open()
		p.loop.RunUntil(ms)
		if early {
			p.ends[0].Write(ms, 10, Tag{})
		}
		p.drain(t)
		if p.users[1].established != 1 || (p.n[1].Timeouts == 0) != early {
			t.Errorf("data first %v: established %d, %+v", early, p.users[1].established, p.n)
		}
	}
}

// TestFullDuplex: requests and responses on one connection; ACKs ride on data.
func TestFullDuplex(t *testing.T) {
	p := newPair(t, config("dctcp"), 50*us).establish()
	acks := 0
	p.rule = func(_ time.Duration, k *packet.Packet) fate {
		if k.PureACK {
			acks++
		}
		return fate{}
	}
	rounds := 0
	p.users[1].onDelivered = func(now time.Duration, n int64) { p.ends[1].Write(now, n, Tag{}) }
	p.users[0].onDelivered = func(now time.Duration, n int64) {
		if rounds++; rounds < 100 {
			p.ends[0].Write(now, n, Tag{})
		}
	}
	p.ends[0].Write(0, 100, Tag{})
	p.drain(t)
	if rounds != 100 || acks != 1 {
		t.Errorf("%d rounds with %d pure ACKs, want 100 with 1", rounds, acks)
	}
	if now := p.loop.Now(); p.users[0].delivered != 10_000 || p.users[0].acked != 100 {
		t.Errorf("%+v at %v", p.users, now)
	}
}

// TestStop: what was not sent is dropped, what was sent arrives, and the stream
// goes on from there.
func TestStop(t *testing.T) {
	p := newPair(t, config("reno"), 50*us).establish()
	lost := false
	p.rule = func(_ time.Duration, k *packet.Packet) fate {
		drop := !lost && k.Segment.Seq == 3*mss
		lost = lost || drop
		return fate{drop: drop}
	}
	e := p.ends[0]
	e.Write(0, 1<<50, Tag{})
	p.loop.RunUntil(60 * us)
	e.Stop(60 * us)
	p.drain(t)
	if p.users[1].delivered != 10*mss || p.users[0].acked != 1 {
		t.Errorf("delivered %d, acked %d", p.users[1].delivered, p.users[0].acked)
	}
	e.Write(p.loop.Now(), 500, Tag{})
	p.drain(t)
	if p.users[1].delivered != 10*mss+500 || p.users[0].acked != 2 {
		t.Errorf("delivered %d, acked %d", p.users[1].delivered, p.users[0].acked)
	}
}

// TestRelease: an endpoint may be released in an upcall and used again at once;
// packets of the connection before are dropped, and nothing of it is left.
func TestRelease(t *testing.T) {
	p := newPair(t, config("dctcp"), 50*us).establish()
	s := p.ends[0].stack
	conns := 0
	p.users[0].onAcked = func(now time.Duration) {
		conns++
		p.ends[0].Release()
		p.ends[1].Release()
		p.ends[0], p.ends[1] = s.Endpoint(), s.Endpoint()
		for i, e := range p.ends {
			ends, n, user := p.view(i)
			ends.Conn = int32(1 + conns)
			e.Establish(ends, n, user)
		}
		if conns < 50 {
			p.ends[0].Write(now, 30*mss, Tag{})
		}
	}
	p.ends[0].Write(0, 30*mss, Tag{})
	p.drain(t)
	if conns != 50 || p.users[1].delivered != 50*30*mss {
		t.Errorf("%d connections, delivered %d", conns, p.users[1].delivered)
	}
	if s.free != nil {
		t.Error("more than two endpoints were made")
	}
	p.ends[0].Release()
	if p.loop.Step() {
		t.Error("a timer is left")
	}
	k := p.pool.Get()
	k.Segment = packet.Segment{Conn: int32(1 + conns), Len: 10, Flags: packet.ACK}
	if p.ends[0].Receive(0, k); p.pool.Taken() != 0 {
		t.Error("a released endpoint keeps a packet")
	}
}

// TestHeader: what switches and the other end are told.
func TestHeader(t *testing.T) {
	r := newRig(t, config("dctcp"))
	r.at(ms).Write(ms, 600, Tag{DSCPs: []uint8{11}})
	got := r.last()
	want := packet.Packet{
		Size: 652, Src: 3, Dst: 4, Hash: 77, DSCP: 11, ECN: packet.ECT0,
		Segment: packet.Segment{Conn: 9, Len: 600, Flags: packet.ACK | packet.PSH, Stamp: ms, Left: 600},
	}
	got.Frame, got.Next = nil, nil
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
