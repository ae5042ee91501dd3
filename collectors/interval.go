package collectors

import (
	"time"

	"aqmlab/results"
	"aqmlab/switch/fabric"
	"aqmlab/switch/port"
	"aqmlab/switch/times"
)

// Since is what has happened since an earlier look at the same network. The zero Look is
// its beginning.
func (l Look) Since(before Look) results.Interval {
	i := results.Interval{At: l.At, Length: l.At - before.At, Queues: []results.QueueStats{}}
	known := map[results.QueueStats]QueueLook{}
	for _, b := range before.Queues {
		known[b.name()] = b
	}
	for _, q := range l.Queues {
		i.Queues = append(i.Queues, q.since(known[q.name()], i.Length))
	}
	lost := map[int]fabric.LossCount{}
	for _, b := range before.Lost {
		lost[b.Number] = b
	}
	for _, n := range l.Lost {
		b := lost[n.Number]
		if n.Packets > b.Packets || n.Cut > b.Cut {
			i.Links = append(i.Links, results.LinkCount{From: n.From, To: n.To, Lost: n.Packets - b.Packets, LostDown: n.Cut - b.Cut})
		}
	}
	return i
}

// name is which queue it is, and no more.
func (q QueueLook) name() results.QueueStats {
	return results.QueueStats{Switch: q.Switch, Port: q.Port, Queue: q.Queue}
}

// since is what has happened to the queue since a look, in a stretch of that length.
func (q QueueLook) since(before QueueLook, length time.Duration) results.QueueStats {
	s := q.name()
	s.Bytes, s.Packets = int64(q.Bytes), int64(q.Packets)
	of := func(f port.Fate) int64 { return q.Fates[f] - before.Fates[f] }
	s.MarkedEnqueue, s.MarkedDequeue = of(port.MarkedOnArrival), of(port.MarkedOnDeparture)
	s.DroppedFull, s.DroppedEnqueue, s.DroppedDequeue = of(port.DroppedFull), of(port.DroppedOnArrival), of(port.DroppedOnDeparture)
	s.Sent = of(port.Sent) + s.MarkedEnqueue + s.MarkedDequeue
	s.SentBytes = q.SentBytes - before.SentBytes
	if length > 0 {
		s.Rate = float64(8*s.SentBytes) / length.Seconds()
	}
	if s.Sent > 0 {
		s.SojournMean = (q.Waited - before.Waited) / time.Duration(s.Sent)
	}
	waited := times.Counts.Since(q.Times, before.Times)
	s.SojournP50, s.SojournP99, s.SojournMax = waited.Quantile(0.5), waited.Quantile(0.99), waited.Quantile(1)
	return s
}

// Used tells whether a packet has been in a queue, now or in the interval.
func Used(s results.QueueStats) bool {
	idle := results.QueueStats{Switch: s.Switch, Port: s.Port, Queue: s.Queue}
	return s != idle
}
