package coexist

import (
	"time"

	"aqmlab/results"
)

// window is a stretch of time over which goodput is added up.
type window struct {
	bytes   []int64         // of each party
	flows   []time.Duration // of each party: the time that its flows were under way, all together
	covered []time.Duration // of each party: the time in which it had any
}

// windowsOf adds up goodput and flows under way in windows of a length, from time zero on.
func windowsOf(p Parties, samples []results.ServiceSample, joins []join, length time.Duration) []window {
	var all []window
	at := func(t time.Duration) *window {
		for int(t/length) >= len(all) {
			n := len(p.Names)
			all = append(all, window{make([]int64, n), make([]time.Duration, n), make([]time.Duration, n)})
		}
		return &all[t/length]
	}
	for _, s := range samples {
		if i := p.Sample(s); i >= 0 {
			at(s.At - s.Over).bytes[i] += s.Bytes
		}
	}
	stretches(joins, len(p.Names), func(from, to time.Duration, flows []int) {
		for from < to {
			end := min((from/length+1)*length, to)
			w := at(from)
			for i, n := range flows {
				w.flows[i] += time.Duration(n) * (end - from)
				if n > 0 {
					w.covered[i] += end - from
				}
			}
			from = end
		}
	})
	return all
}

// shared tells whether every party had a flow under way throughout.
func (w window) shared(length time.Duration) bool {
	for _, c := range w.covered {
		if c < length {
			return false
		}
	}
	return true
}

// share adds what the parties got. Where windows are shared by all, only those count:
// otherwise a party would have less than the others because it had nothing to send. In
// a point without any, each party's part is of all that was delivered.
func (j *Judgement) share(p Parties, all []window, point results.Point) {
	n := len(p.Names)
	if n == 0 {
		return
	}
	bytes, flows := make([]int64, n), make([]time.Duration, n)
	var fair, even []float64
	var counted []window
	for _, w := range all {
		if w.shared(time.Duration(j.Window)) {
			counted = append(counted, w)
		}
	}
	j.Windows = len(counted)
	if len(counted) == 0 {
		counted = all
	}
	for _, w := range counted {
		perFlow, each := make([]float64, n), make([]float64, n)
		for i := range n {
			bytes[i] += w.bytes[i]
			flows[i] += w.flows[i]
			each[i] = float64(w.bytes[i])
			if w.flows[i] > 0 {
				perFlow[i] = each[i] / float64(w.flows[i])
			}
		}
		if index, ok := JainIndex(perFlow); ok {
			fair = append(fair, index)
		}
		if index, ok := JainIndex(each); ok {
			even = append(even, index)
		}
	}
	var total int64
	for _, b := range bytes {
		total += b
	}
	if total == 0 {
		return
	}
	for i, name := range p.Names {
		j.add(Share, name, float64(bytes[i])/float64(total))
		if flows[i] > 0 {
			j.add(PerFlow, name, 8*float64(bytes[i])/flows[i].Seconds())
		}
	}
	if n > 1 && j.Windows > 0 {
		j.add(Jain, "", results.EstimateOf(fair).Mean)
		j.add(JainParties, "", results.EstimateOf(even).Mean)
	}
}

// flows adds how fair shares are between long flows, whoever they are of: those that were
// under way for half of the time with flows, or more. Goodput is that of a flow's own time.
func (j *Judgement) flows(p results.Point, from, to time.Duration) {
	var goodput []float64
	for _, f := range p.Flows {
		if begin, end, ok := spanOf(f, to); ok && end-begin >= (to-from)/2 && end > begin {
			goodput = append(goodput, float64(f.Received)/(end-begin).Seconds())
		}
	}
	if index, ok := JainIndex(goodput); ok && len(goodput) > 1 {
		j.add(JainFlows, "", index)
	}
}

// JainIndex is Jain's fairness index (Jain, Chiu and Hawe, DEC-TR-301, 1984; RFC 5166,
// section 2.3.1): the square of the sum of values over their number times the sum of their
// squares. It is 1 where all are equal, and 1/n where one of n has all. ok is false where
// all are zero.
func JainIndex(values []float64) (index float64, ok bool) {
	sum, squares := 0.0, 0.0
	for _, v := range values {
		sum += v
		squares += v * v
	}
	if squares == 0 {
		return 0, false
	}
	return sum * sum / (float64(len(values)) * squares), true
}
