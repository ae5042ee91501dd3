package port

import (
	"cmp"
	"reflect"
	"slices"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/packet"
)

// Change readies a port that was built as from says to go on as to says; pool is what
// the port draws from then, where ports of a switch share one. Nothing happens before
// change is called. Errors are those of [New]. Lengths are the same in both.
//
// Another scheme begins anew, and the rest of the port stays as it is. Any other
// difference builds the port anew around its packets: they join its queues in the order
// in which they arrived, each that of its DSCP, and keep their marks and the times since
// when they wait. None is dropped, also when the buffer has less room now. Counts go on.
// Those of a queue that is gone are added to queue 0, where its packets are.
func (p *Port) Change(from, to Spec, kinds Kinds, pool *Pool) (change func(now time.Duration), err error) {
	if samePipeline(from, to) {
		made, err := newJudge(to, kinds, p.scheduler)
		return func(time.Duration) { p.scheme, p.turns = made.scheme, made.turns }, err
	}
	made, err := p.design(to, kinds, pool)
	return func(now time.Duration) { p.rebuild(now, made) }, err
}

// samePipeline tells whether two specs differ in the scheme at most.
func samePipeline(a, b Spec) bool {
	for _, s := range []*Spec{&a, &b} {
		s.Scheme, s.Ingress = kind.Choice{}, kind.Choice{}
	}
	return reflect.DeepEqual(a, b)
}

// rebuild gives the port other parts, and these the packets.
func (p *Port) rebuild(now time.Duration, made parts) {
	waiting, before := p.takeAll(now), p.queues
	p.memory.bytes -= p.bytes
	p.memory.leaves()
	p.bytes = 0
	p.assume(made)
	for i := range before {
		p.queues[p.heir(i)].inherit(&before[i])
	}
	for _, k := range waiting {
		p.rejoin(k)
	}
	for i := range p.queues {
		q := &p.queues[i]
		q.peak = max(q.peak, q.Bytes())
		q.PeakBytes = max(q.PeakBytes, q.peak)
	}
}

// rejoin puts a packet into its queue, for the scheduler at the time at which it arrived.
func (p *Port) rejoin(k *packet.Packet) {
	i, length := p.class(k), p.lengths.Of(int(k.Size))
	if p.sorted {
		own := i
		if p.classed {
			own = p.classifier().Queue(k)
		}
		p.queues[i].Add(k)
		p.sorter().Hold(k.Enqueued, own, k)
	} else {
		p.queues[i].Push(k)
		p.scheduler.Enqueued(k.Enqueued, i, length)
	}
	p.bytes += length
	p.memory.bytes += length
}

// heir is the queue that stands for what was queue i.
func (p *Port) heir(i int) int {
	if i < len(p.queues) {
		return i
	}
	return 0
}

// takeAll empties the port. The packets are in the order in which they arrived.
func (p *Port) takeAll(now time.Duration) []*packet.Packet {
	var all []*packet.Packet
	if p.sorted {
		for p.sorter().Head() != nil {
			spent := p.sorter().Head().Spent // it does not leave the port
			k := p.sorter().Take(now)
			k.Spent = spent
			all = append(all, k)
		}
	}
	for i := range p.queues {
		for k := p.queues[i].Pop(); k != nil; k = p.queues[i].Pop() {
			all = append(all, k)
		}
	}
	slices.SortStableFunc(all, func(a, b *packet.Packet) int { return cmp.Compare(a.Enqueued, b.Enqueued) })
	return all
}

// inherit adds what another queue has counted.
func (q *queue) inherit(from *queue) {
	q.peak, q.longest = max(q.peak, from.peak), max(q.longest, from.longest)
	c, f := &q.Count, &from.Count
	c.Enqueued += f.Enqueued
	c.Sent += f.Sent
	c.SentBytes += f.SentBytes
	c.Marked += f.Marked
	c.DropsFull += f.DropsFull
	c.DropsScheme += f.DropsScheme
	c.PeakBytes = max(c.PeakBytes, f.PeakBytes)
	c.Waited += f.Waited
}
