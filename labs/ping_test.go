package labs_test

import (
	"testing"
	"time"

	"aqmlab/labs"
	"aqmlab/switch/event"
	"aqmlab/switch/fabric"
	"aqmlab/switch/packet"
)

// pinger is a lab's network at whose edge data is answered by a pure ACK.
type pinger struct {
	event.Loop
	*fabric.Network
	pool packet.Pool
	back time.Duration // when the last ACK came
}

func newPinger(t *testing.T, l *labs.Lab, seed uint64) *pinger {
	t.Helper()
	spec, err := l.Fabric(l.Baseline, seed)
	if err != nil {
		t.Fatal(err)
	}
	p := &pinger{}
	p.Network, err = fabric.New(&p.Loop, spec, fabric.Attachment{Edge: p, Release: p.pool.Put})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *pinger) Deliver(now time.Duration, host int, k *packet.Packet) {
	if k.PureACK {
		p.back = now
		p.pool.Put(k)
		return
	}
	k.Src, k.Dst, k.PureACK = k.Dst, k.Src, true
	p.Send(now, host, k)
}

// ping is the RTT of an empty segment of a flow on the idle network.
func (p *pinger) ping(t *testing.T, from, to int, hash uint32) time.Duration {
	t.Helper()
	k := p.pool.Get()
	k.Src, k.Dst, k.Hash, k.Size = int32(from), int32(to), hash, 40
	k.DSCP, k.ECN, k.PureACK = 0, packet.NotECT, false
	start := p.Now()
	p.Send(start, from, k)
	p.RunUntil(start + time.Second)
	if p.back <= start || p.pool.Taken() != 0 {
		t.Fatalf("no answer from host %d to host %d: %d packets are lost", to, from, p.pool.Taken())
	}
	return p.back - start
}

// hundredTbps makes transmission times vanish.
const hundredTbps = "topology.rate=100000Gbps"

// near tells whether two times are the same but for what transmissions take at
// hundredTbps, and for rounding.
func near(a, b time.Duration) bool { return max(a, b)-min(a, b) < 50*time.Nanosecond }
