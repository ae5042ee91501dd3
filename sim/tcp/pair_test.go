package tcp

import (
	"testing"
	"time"

	"aqmlab/switch/event"
	"aqmlab/switch/packet"
)

// fate is what becomes of a packet on the way.
type fate struct {
	drop bool
	mark bool
	late time.Duration // beyond the delay of the link
}

// pair is a connection over a link with a constant delay, on which a rule may
// drop, mark or delay.
type pair struct {
	loop  event.Loop
	pool  packet.Pool
	ends  [2]*Endpoint
	users [2]tally
	n     [2]Counters
	delay time.Duration
	rule  func(now time.Duration, k *packet.Packet) fate
}

// newPair is a link of that one-way delay, with both ends closed.
func newPair(t *testing.T, c Config, delay time.Duration) *pair {
	t.Helper()
	p := &pair{delay: delay, rule: func(time.Duration, *packet.Packet) fate { return fate{} }}
	s, err := NewStack(&p.loop, &p.pool, p.carry, c)
	if err != nil {
		t.Fatal(err)
	}
	p.ends = [2]*Endpoint{s.Endpoint(), s.Endpoint()}
	return p
}

func (p *pair) view(i int) (Ends, *Counters, *tally) {
	return Ends{Local: int32(i), Remote: int32(1 - i), Conn: 1}, &p.n[i], &p.users[i]
}

func (p *pair) establish() *pair {
	for i, e := range p.ends {
		ends, n, user := p.view(i)
		e.Establish(ends, n, user)
	}
	return p
}

// open begins a handshake from end 0 to end 1.
func (p *pair) open() {
	ends, n, user := p.view(1)
	p.ends[1].Listen(ends, n, user)
	ends, n, user = p.view(0)
	p.ends[0].Open(p.loop.Now(), ends, n, user)
}

func (p *pair) carry(now time.Duration, _ int, k *packet.Packet) {
	f := p.rule(now, k)
	if f.drop {
		p.pool.Put(k)
		return
	}
	if f.mark && k.ECN.Capable() {
		k.Mark()
	}
	to := p.ends[k.Dst]
	p.loop.Schedule(event.NewTimer(func(now time.Duration) { to.Receive(now, k) }), now+p.delay+f.late)
}

// drain runs what is left to run and checks that nothing is left over.
func (p *pair) drain(t *testing.T) {
	t.Helper()
	for n := 0; p.loop.Step(); n++ {
		if n == 5_000_000 {
			t.Fatal("it goes on for ever")
		}
	}
	if n := p.pool.Taken(); n != 0 {
		t.Errorf("%d packets are not back in the pool", n)
	}
	for i, e := range p.ends {
		if e.retransmit.set || e.rcv.delay.set || e.uplink.drained.set {
			t.Errorf("end %d has an alarm set", i)
		}
	}
}
