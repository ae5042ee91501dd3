// Package meter adds up what the flows of services deliver over time.
package meter

import (
	"cmp"
	"slices"
	"time"

	"aqmlab/results"
)

// Meter adds up the payload that reached applications, by interval of lab time and by
// what it was for. It is not for several goroutines at once.
type Meter struct {
	every   time.Duration
	lines   map[For]int             // of open
	open    []results.ServiceSample // of each line, the interval that its last payload came in
	samples []results.ServiceSample // of intervals before those
}

// For is what payload was for: numbers that [results.Flow] has.
type For struct{ Workload, Service, Transport int32 }

// Of is what the payload of a flow is for.
func Of(f *results.Flow) For { return For{f.Workload, f.Service, f.Transport} }

// New returns a meter with intervals of that length, from lab time zero on. One
// of zero counts nothing.
func New(every time.Duration) *Meter { return &Meter{every: every, lines: make(map[For]int)} }

// Line is where payload for that is counted, for [Meter.Add].
func (m *Meter) Line(of For) int {
	line, known := m.lines[of]
	if !known {
		line = len(m.open)
		m.lines[of] = line
		m.open = append(m.open, results.ServiceSample{
			Over: m.every, Service: of.Service, Workload: of.Workload, Transport: of.Transport,
		})
	}
	return line
}

// Add counts payload on a line that came at now, which is not before what was
// added last; a little before, and it counts as if it came then.
func (m *Meter) Add(now time.Duration, line int, bytes int64) {
	if m.every == 0 {
		return
	}
	s := &m.open[line]
	if now >= s.At { // which it is the end of
		if s.Bytes > 0 {
			m.samples = append(m.samples, *s)
		}
		s.At, s.Bytes = (now/m.every+1)*m.every, 0
	}
	s.Bytes += bytes
}

// Samples are what was added so far, see [Join].
func (m *Meter) Samples() []results.ServiceSample {
	return Join(m.samples, slices.DeleteFunc(slices.Clone(m.open), func(s results.ServiceSample) bool { return s.Bytes == 0 }))
}

// Join adds up the samples of meters with the same intervals, in the order of
// time, then of services, workloads and transports.
func Join(shares ...[]results.ServiceSample) []results.ServiceSample {
	all := slices.Concat(shares...)
	slices.SortFunc(all, func(a, b results.ServiceSample) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Service, b.Service), cmp.Compare(a.Workload, b.Workload), cmp.Compare(a.Transport, b.Transport))
	})
	var joined []results.ServiceSample
	for _, s := range all {
		if n := len(joined); n > 0 && alike(joined[n-1], s) {
			joined[n-1].Bytes += s.Bytes
			continue
		}
		joined = append(joined, s)
	}
	return joined
}

// alike tells whether two samples differ in their bytes at most.
func alike(a, b results.ServiceSample) bool {
	a.Bytes = b.Bytes
	return a == b
}
