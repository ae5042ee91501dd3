package board

import (
	"slices"
	"time"
)

const (
	// recent is how many of the last points tell the pace.
	recent = 200
	// pause is how many times longer than the mean a gap between two points is in which
	// nobody measured. Points that run at once and end together make gaps as many times
	// longer as there are of them.
	pause = 30
)

// pace is when a sweep was made, when the first of the points began that are being
// measured, and the time that it is.
type pace struct{ created, since, now time.Time }

// left is the time that points still take at the pace of those that were stored: about,
// and zero where none was. Those from before the sweep are another's.
func (p pace) left(stored []time.Time, points int) time.Duration {
	var times []time.Time
	for _, t := range stored {
		if !t.IsZero() && !t.Before(p.created) {
			times = append(times, t)
		}
	}
	slices.SortFunc(times, time.Time.Compare)
	begin := p.created
	if extra := len(times) - recent; extra > 0 {
		begin, times = times[extra-1], times[extra:]
	}
	if len(times) == 0 {
		return 0
	}
	var gaps []time.Duration
	for _, t := range times {
		gaps = append(gaps, t.Sub(begin))
		begin = t
	}
	// Nobody measured before the points began that are being measured.
	open := max(0, min(p.now.Sub(begin), p.now.Sub(p.since)))
	limit := pause * (sum(gaps) + open) / time.Duration(len(gaps)+1)
	gaps = slices.DeleteFunc(gaps, func(gap time.Duration) bool { return gap > limit })
	return (sum(gaps) + open) / time.Duration(max(1, len(gaps))) * time.Duration(points)
}

func sum(gaps []time.Duration) (all time.Duration) {
	for _, gap := range gaps {
		all += gap
	}
	return all
}
