// Package meter adds up what services deliver over time.
package meter

import (
	"cmp"
	"slices"
	"time"

	"aqmlab/results"
)

// Meter adds up the payload that reached applications, by service and interval of
// lab time. It is not for several goroutines at once.
type Meter struct {
	every   time.Duration
	open    []results.ServiceSample // of each service, the interval that its last payload came in
	samples []results.ServiceSample // of intervals before those
}

// New returns a meter with intervals of that length, from lab time zero on. One
// of zero counts nothing.
func New(every time.Duration) *Meter { return &Meter{every: every} }

// Add counts payload of a service that came at now, which is not before what was
// added last; a little before, and it counts as if it came then.
func (m *Meter) Add(now time.Duration, service int, bytes int64) {
	if m.every == 0 {
		return
	}
	for service >= len(m.open) {
		m.open = append(m.open, results.ServiceSample{Service: int32(len(m.open)), Over: m.every})
	}
	s := &m.open[service]
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
// time, and then of services.
func Join(shares ...[]results.ServiceSample) []results.ServiceSample {
	all := slices.Concat(shares...)
	slices.SortFunc(all, func(a, b results.ServiceSample) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Service, b.Service))
	})
	var joined []results.ServiceSample
	for _, s := range all {
		if n := len(joined); n > 0 && joined[n-1].At == s.At && joined[n-1].Service == s.Service {
			joined[n-1].Bytes += s.Bytes
			continue
		}
		joined = append(joined, s)
	}
	return joined
}
