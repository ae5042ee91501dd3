package coexist

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"aqmlab/results"
)

// Busiest is the port that used the largest part of what its link could carry between two
// times; of several, that whose queue was the longest. Where rates are not known, it is the
// one that sent the most. ok is false without samples.
func Busiest(m results.Manifest, samples []results.QueueSample, from, to time.Duration) (port results.PortName, ok bool) {
	type load struct {
		sent, packets, peak int64
		used                float64
	}
	ports := make(map[results.PortName]load)
	for _, s := range samples {
		name := results.PortName{Switch: s.Switch, Port: s.Port}
		l := ports[name]
		ports[name] = load{sent: l.sent + s.Sent, packets: l.packets + s.Packets, peak: max(l.peak, s.PeakBytes)}
	}
	if len(m.Rates) == 0 || len(ports) == 0 {
		return results.Bottleneck(samples)
	}
	for name, l := range ports {
		if could := results.Capacity(results.RatesOf(m.Rates, name), from, to); could > 0 {
			l.used = float64(8*results.OnWire(l.sent, l.packets)) / could
			ports[name] = l
		}
	}
	return slices.MaxFunc(slices.Collect(maps.Keys(ports)), func(a, b results.PortName) int {
		return cmp.Or(
			cmp.Compare(ports[a].used, ports[b].used), cmp.Compare(ports[a].peak, ports[b].peak),
			cmp.Compare(b.Switch, a.Switch), cmp.Compare(b.Port, a.Port))
	}), true
}

// Usage is which part of what its link could carry a port used in each of some parts of
// the time up to end; none where rates are not known. A part is right to the time between
// two samples, so it may be a little above 1.
func Usage(m results.Manifest, samples []results.QueueSample, port results.PortName, end time.Duration, parts int) []results.XY {
	rates := results.RatesOf(m.Rates, port)
	if len(rates) == 0 || end <= 0 {
		return nil
	}
	sent := make([]int64, parts)
	for _, s := range samples {
		if s.Switch == port.Switch && s.Port == port.Port {
			sent[results.BinOf(max(s.At-1, 0), end, parts)] += results.OnWire(s.Sent, s.Packets)
		}
	}
	var all []results.XY
	for i, bytes := range sent {
		from, to := end*time.Duration(i)/time.Duration(parts), end*time.Duration(i+1)/time.Duration(parts)
		if could := results.Capacity(rates, from, to); could > 0 {
			all = append(all, results.XY{X: results.Middle(i, end, parts), Y: float64(8*bytes) / could})
		}
	}
	return all
}

// bottleneck adds what the busiest port did: how much of its link was used while there was
// something to send, how long packets waited from the first byte of flows to the last, and
// what became of them.
func (j *Judgement) bottleneck(m results.Manifest, p results.Point, from, to time.Duration) {
	port, ok := Busiest(m, p.Queues, from, to)
	if !ok {
		return
	}
	j.Port = port.String()
	stop := lastOffered(p.Flows, to)
	var used, packets int64
	var waited time.Duration
	for _, s := range p.Queues {
		if s.Switch != port.Switch || s.Port != port.Port || s.At <= from || s.At > to {
			continue
		}
		packets += s.Packets
		waited += s.Waited * time.Duration(s.Packets)
		if s.At <= stop {
			used += results.OnWire(s.Sent, s.Packets)
		}
	}
	if rates := results.RatesOf(m.Rates, port); len(rates) > 0 && packets > 0 && stop > from {
		j.add(Utilisation, "", float64(8*used)/results.Capacity(rates, from, stop))
	}
	classes := classesOf(p, port)
	whole := waits{mean: results.Microseconds(waited) / float64(max(packets, 1)), some: packets > 0}
	for _, c := range classes {
		whole.merge(c.waits)
	}
	j.wait("", whole)
	var all results.ClassCount
	for _, q := range p.Ports {
		if q.Switch == port.Switch && q.Port == port.Port {
			all.Sent, all.Marked = all.Sent+q.Sent, all.Marked+q.Marked
			all.DropsFull, all.DropsScheme = all.DropsFull+q.DropsFull, all.DropsScheme+q.DropsScheme
		}
	}
	j.fates("", all)
	if len(classes) > 1 {
		for _, c := range classes {
			j.wait(c.name, c.waits)
			j.fates(c.name, c.ClassCount)
		}
	}
}

// class is the packets of one DSCP in one queue of a port.
type class struct {
	results.ClassCount
	name  string
	waits waits
}

// classesOf are those of a port, in the order of queues.
func classesOf(p results.Point, port results.PortName) []class {
	type key struct{ queue, dscp int }
	found := make(map[key]*class)
	for _, c := range p.Classes {
		if c.Switch != port.Switch || c.Port != port.Port {
			continue
		}
		name := fmt.Sprintf("queue %d", c.Queue)
		if c.DSCP != c.Queue {
			name += fmt.Sprintf(", DSCP %d", c.DSCP)
		}
		w := waits{mean: results.Microseconds(c.Waited) / float64(max(c.Sent, 1)), longest: c.Longest, some: c.Sent > 0, times: map[time.Duration]int64{}}
		found[key{c.Queue, c.DSCP}] = &class{c, name, w}
	}
	for _, d := range p.Delays {
		if c := found[key{int(d.Queue), int(d.DSCP)}]; c != nil && d.Switch == port.Switch && d.Port == port.Port {
			c.waits.times[d.UpTo] += d.Packets
		}
	}
	var all []class
	for _, k := range slices.SortedFunc(maps.Keys(found), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.queue, b.queue), cmp.Compare(a.dscp, b.dscp))
	}) {
		all = append(all, *found[k])
	}
	return all
}

// waits are how long packets waited.
type waits struct {
	some    bool
	mean    float64 // us
	longest time.Duration
	times   map[time.Duration]int64 // how many waited at most so long, and longer than the next shorter time; nil: not known
}

// merge adds the times of others; means are known of all together.
func (w *waits) merge(o waits) {
	if w.times == nil {
		w.times = make(map[time.Duration]int64)
	}
	for t, n := range o.times {
		w.times[t] += n
	}
	w.longest = max(w.longest, o.longest)
}

// quantile is a time in us that a share of the packets waited at most.
func (w waits) quantile(ascending []time.Duration, share float64) float64 {
	var all int64
	for _, n := range w.times {
		all += n
	}
	left := int64(results.NearestRank(int(all), share))
	for _, t := range ascending {
		if left -= w.times[t]; left <= 0 {
			return results.Microseconds(min(t, w.longest))
		}
	}
	return results.Microseconds(w.longest)
}

// wait adds how long packets waited.
func (j *Judgement) wait(of string, w waits) {
	if !w.some {
		return
	}
	j.add(DelayMean, of, w.mean)
	if len(w.times) == 0 {
		return
	}
	ascending := slices.Sorted(maps.Keys(w.times))
	for _, q := range []struct {
		name  string
		share float64
	}{{DelayP50, 0.5}, {DelayP95, 0.95}, {DelayP99, 0.99}, {DelayP999, 0.999}} {
		j.add(q.name, of, w.quantile(ascending, q.share))
	}
}

// fates adds what became of packets.
func (j *Judgement) fates(of string, c results.ClassCount) {
	drops := c.DropsFull + c.DropsScheme
	if c.Sent > 0 {
		j.add(Marks, of, float64(c.Marked)/float64(c.Sent))
	}
	if c.Sent+drops > 0 {
		j.add(Losses, of, float64(drops)/float64(c.Sent+drops))
	}
}
