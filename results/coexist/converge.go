package coexist

import (
	"slices"
	"time"

	"aqmlab/results"
)

// settling is how convergence is looked for.
type settling struct {
	Rule
	window time.Duration
	over   time.Duration // between samples of goodput, of which a window has a whole number
}

// converge adds how soon shares settle. It is the delta-fair convergence time of RFC 5166,
// section 2.3.1 (Bansal, Balakrishnan, Floyd and Shenker, SIGCOMM 2001), for any number of
// flows: from a change of who is under way until every party is within the band around
// its fair goodput, and stays there for some windows. Fair is what all get together,
// dealt out by the numbers of flows. The time ends with the first of these windows, so it
// is too long by less than one. Changes count after which two parties or more were under
// way, and nobody joined or left for at least one window more than shares must hold.
func (j *Judgement) converge(p Parties, samples []results.ServiceSample, joins []join, s settling) {
	if s.over == 0 {
		return
	}
	var took []float64
	stretches(joins, len(p.Names), func(from, to time.Duration, flows []int) {
		begin := (from + s.over - 1) / s.over * s.over // of the first whole interval
		n := int((to - begin) / s.window)
		if n <= s.Hold || among(flows) < 2 {
			return
		}
		j.Changes++
		bytes := make([][]int64, n)
		for i := range bytes {
			bytes[i] = make([]int64, len(flows))
		}
		first, _ := slices.BinarySearchFunc(samples, begin, func(x results.ServiceSample, t time.Duration) int {
			return int(min(max(x.At-x.Over-t, -1), 1))
		})
		for _, x := range samples[first:] {
			at := int((x.At - x.Over - begin) / s.window)
			if at >= n {
				break
			}
			if i := p.Sample(x); i >= 0 {
				bytes[at][i] += x.Bytes
			}
		}
		if at, ok := s.settled(bytes, flows); ok {
			took = append(took, results.Microseconds(begin+time.Duration(at+1)*s.window-from))
		}
	})
	if j.Changes > 0 {
		j.add(Converged, "", float64(len(took))/float64(j.Changes))
	}
	if len(took) > 0 {
		j.add(Convergence, "", results.EstimateOf(took).Mean)
	}
}

// among is how many parties have flows.
func among(flows []int) (parties int) {
	for _, n := range flows {
		if n > 0 {
			parties++
		}
	}
	return parties
}

// settled is the first window from which on all parties are fair for as long as they must
// be.
func (s settling) settled(bytes [][]int64, flows []int) (window int, ok bool) {
	held := 0
	for i, got := range bytes {
		if !s.fair(got, flows) {
			held = 0
			continue
		}
		if held++; held == s.Hold {
			return i + 1 - held, true
		}
	}
	return 0, false
}

// fair tells whether all parties with flows are within the band.
func (s settling) fair(bytes []int64, flows []int) bool {
	total, all := 0.0, 0.0
	for i, n := range flows {
		if n > 0 {
			total += float64(bytes[i])
			all += float64(n)
		}
	}
	const slack = 1e-9 // of products that should be whole
	for i, n := range flows {
		want := total * float64(n) / all
		if off := float64(bytes[i]) - want; n > 0 && (total == 0 || max(off, -off) > (s.Band+slack)*want) {
			return false
		}
	}
	return true
}
