package sim

import (
	"fmt"
	"math"
	"time"

	"aqmlab/results"
	"aqmlab/switch/event"
	"aqmlab/switch/packet"
	"aqmlab/trafficgen/traffic"
)

// probes send their packets beside the flows. These carry a negative number in
// place of a connection's, -1 for the first probe, and as their sequence number
// that of the sample.
type probes struct {
	sim      *Simulation
	list     []*probe
	underWay int // packets that were sent, and are neither back nor dropped
}

// probe is one of them.
type probe struct {
	traffic.Probe
	owner   *probes
	conn    int32
	hash    uint32 // of its packets, for ECMP
	timer   *event.Timer
	samples []results.ProbeSample // lost until they are answered
}

// newProbes schedules the first packet of each.
func newProbes(s *Simulation) (*probes, error) {
	ps := &probes{sim: s}
	if err := traffic.CheckProbes(s.config.Probes, len(s.config.Fabric.Hosts)); err != nil {
		return nil, fmt.Errorf("probes: %w", err)
	}
	for i, c := range s.config.Probes {
		p := &probe{Probe: c, owner: ps, conn: int32(-1 - i), hash: s.sessions.hash(uint64(c.From), uint64(c.To), uint64(i))}
		p.timer = event.NewTimer(p.send)
		ps.list = append(ps.list, p)
		p.next()
	}
	return ps, nil
}

// next waits for the time of the next packet.
func (p *probe) next() {
	if at, ok := p.At(len(p.samples)); ok {
		p.owner.sim.loop.Schedule(p.timer, at)
	}
}

func (p *probe) send(now time.Duration) {
	s := p.owner.sim
	k := s.pool.Get()
	k.Size, k.Hash, k.DSCP, k.ECN = traffic.ProbeBytes, p.hash, p.DSCP, packet.NotECT
	k.Src, k.Dst = int32(p.From), int32(p.To)
	k.PureACK, k.Answer, k.ECE = false, false, false
	k.Segment = packet.Segment{Conn: p.conn, Seq: int64(len(p.samples))}
	p.samples = append(p.samples, results.ProbeSample{Probe: p.Name, At: now, Lost: true})
	p.owner.underWay++
	s.network.Send(now, p.From, k)
	p.next()
}

// isProbe tells whether a packet is that of a probe.
func isProbe(k *packet.Packet) bool { return k.Segment.Conn < 0 }

// deliver takes a packet that reached a host. The far host sends it back.
func (ps *probes) deliver(now time.Duration, host int, k *packet.Packet) {
	p := ps.list[-1-k.Segment.Conn]
	if host == p.To {
		k.Src, k.Dst = int32(p.To), int32(p.From)
		ps.sim.network.Send(now, host, k)
		return
	}
	sample := &p.samples[k.Segment.Seq]
	sample.RTT, sample.Lost = now-sample.At, false
	ps.underWay--
	ps.sim.pool.Put(k)
}

// finish stops the probes, and waits for answers under way.
func (ps *probes) finish() {
	s := ps.sim
	for _, p := range ps.list {
		s.loop.Cancel(p.timer)
	}
	end := max(s.crew.Now(), s.until-1) + s.config.Patience
	for ps.underWay > 0 {
		at, pending := s.crew.Next()
		if !pending || at > end {
			return
		}
		s.move(min(s.crew.End(at), end), math.MaxInt)
	}
}

// measured is what the probes have measured, one after another.
func (ps *probes) measured() []results.ProbeSample {
	var all []results.ProbeSample
	for _, p := range ps.list {
		all = append(all, p.samples...)
	}
	return all
}

// release takes a packet that the network dropped.
func (s *Simulation) release(k *packet.Packet) {
	if isProbe(k) {
		s.probes.underWay--
	}
	s.pool.Put(k)
}
