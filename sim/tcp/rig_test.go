package tcp

import (
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/event"
	"aqmlab/switch/packet"
)

const (
	mss = 1000
	us  = time.Microsecond
	ms  = time.Millisecond
)

func config(control string) Config {
	return Config{
		Control: kind.Choice{Kind: control}, MSS: mss, Header: 52, InitCwnd: 10,
		RTOInit: 10 * ms, RTOMin: 5 * ms, RTOMax: time.Second, DelayedAck: 1, IdleRestart: true, LossRecovery: RACK,
	}
}

// sackConfig is config with RFC 6675 for the recovery of losses.
func sackConfig(control string) Config {
	c := config(control)
	c.LossRecovery = SACK
	return c
}

// recoveries are the ways to recover losses.
var recoveries = []string{RACK, SACK, SACKPRR}

// recoveryFor is a way to recover losses, or RACK for a control that it does not suit.
func recoveryFor(control, recovery string) string {
	if recovery == SACK && (control == "bbr" || control == "bbr3") {
		return RACK
	}
	return recovery
}

// tally is a user that counts.
type tally struct {
	established, acked int
	delivered          int64
	onDelivered        func(now time.Duration, n int64)
	onAcked            func(now time.Duration)
}

func (u *tally) Established(time.Duration) { u.established++ }

func (u *tally) Delivered(now time.Duration, n int64) {
	u.delivered += n
	if u.onDelivered != nil {
		u.onDelivered(now, n)
	}
}

func (u *tally) Acked(now time.Duration) {
	u.acked++
	if u.onAcked != nil {
		u.onAcked(now)
	}
}

// rig is one endpoint whose other end is the test: it writes down what the
// endpoint sends, and hands it segments.
type rig struct {
	*Endpoint
	t    *testing.T
	loop event.Loop
	pool packet.Pool
	user tally
	n    Counters
	out  []packet.Packet // sent since the last look
}

// newRig is an established endpoint.
func newRig(t *testing.T, c Config) *rig {
	t.Helper()
	r := &rig{t: t}
	s, err := NewStack(&r.loop, &r.pool, func(_ time.Duration, host int, k *packet.Packet) {
		if host != 3 {
			t.Errorf("host %d sent", host)
		}
		r.out = append(r.out, *k)
		r.pool.Put(k)
	}, c)
	if err != nil {
		t.Fatal(err)
	}
	r.Endpoint = s.Endpoint()
	r.Establish(Ends{Local: 3, Remote: 4, Conn: 9, Hash: 77, DSCP: 5}, &r.n, &r.user)
	return r
}

// at lets the time pass.
func (r *rig) at(now time.Duration) *rig { r.loop.RunUntil(now); return r }

// in hands over a segment.
func (r *rig) in(k packet.Packet) {
	p := r.pool.Get()
	k.Segment.Conn = 9
	*p = k
	r.Receive(r.loop.Now(), p)
}

// ack hands over an acknowledgement of what was sent a millisecond ago.
func (r *rig) ack(ack int64, blocks ...packet.Block) { r.in(ackOf(r.loop.Now(), ack, blocks...)) }

// echo is ack with an ECN echo.
func (r *rig) echo(ack int64, blocks ...packet.Block) {
	k := ackOf(r.loop.Now(), ack, blocks...)
	k.ECE = true
	r.in(k)
}

func ackOf(now time.Duration, ack int64, blocks ...packet.Block) packet.Packet {
	s := packet.Segment{Ack: ack, Flags: packet.ACK, Stamp: now, Echo: now - ms, Blocks: uint8(len(blocks))}
	copy(s.SACK[:], blocks)
	return packet.Packet{PureACK: true, Segment: s}
}

// data hands over payload.
func (r *rig) data(seq int64, n int32, ecn packet.ECN) {
	now := r.loop.Now()
	r.in(packet.Packet{ECN: ecn, Segment: packet.Segment{Seq: seq, Len: n, Flags: packet.ACK, Stamp: now}})
}

// sent are the first bytes of the segments with payload sent since the last
// look, and forgets them.
func (r *rig) sent() []int64 {
	seqs := []int64{}
	for _, k := range r.out {
		if k.Segment.Len > 0 {
			seqs = append(seqs, k.Segment.Seq/mss)
		}
	}
	r.out = nil
	return seqs
}

// last is the last segment sent.
func (r *rig) last() packet.Packet {
	r.t.Helper()
	if len(r.out) == 0 {
		r.t.Fatal("nothing was sent")
	}
	return r.out[len(r.out)-1]
}

// segments writes that many full segments.
func (r *rig) segments(n int64) { r.Write(r.loop.Now(), n*mss, Tag{}) }

// run is a block of segments, from first up to but not including end.
func run(first, end int64) packet.Block { return packet.Block{First: first * mss, End: end * mss} }
