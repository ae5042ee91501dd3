package aqm

import (
	"math"
	"time"
)

// averageLength is the average length of a queue in bytes: of what arriving packets
// meet, as RED has it, or of the length at fixed times, as chips have it.
type averageLength struct {
	average float64
	since   time.Duration // when the queue last was seen to be empty; at fixed times: of the last sample
}

// arrive adds what a packet meets. Over idle time the average shrinks as if typical
// packets had arrived one after the other and found the queue empty.
func (a *averageLength) arrive(now time.Duration, bytes int, f lengthFilter) {
	if bytes > 0 {
		a.average += f.weight * (float64(bytes) - a.average)
		return
	}
	a.average *= math.Pow(1-f.weight, float64(now-a.since)/float64(f.typical))
	a.since = now
}

// emptied notes that the queue holds nothing from now on.
func (a *averageLength) emptied(now time.Duration) { a.since = now }

// lasted adds a sample for each fixed time up to now, since when the queue was of
// that length.
func (a *averageLength) lasted(now time.Duration, bytes int, f lengthFilter) {
	n := now/f.every - a.since/f.every
	a.since = now
	if n > 0 {
		keep := math.Pow(1-f.weight, float64(n))
		a.average = float64(keep*a.average) + float64((1-keep)*float64(bytes))
	}
}

// lengthFilter says how lengths are averaged.
type lengthFilter struct {
	weight  float64       // of the newest length
	typical time.Duration // transmission time of a typical packet
	every   time.Duration // between samples; zero: one an arrival
}

func newLengthFilter(weight float64, every time.Duration, env Env) lengthFilter {
	return lengthFilter{weight: weight, typical: env.Rate.Time(env.fullPacket()), every: every}
}

// lengths is the length of each queue of a port that is compared with a threshold:
// the current one, or an average.
type lengths struct {
	lengthFilter
	queues []averageLength // nil: the current one
}

func newLengths(f lengthFilter, queues int) lengths {
	l := lengths{lengthFilter: f}
	if f.weight < 1 || f.every > 0 {
		l.queues = make([]averageLength, queues)
	}
	return l
}

// arrive is the length that a packet meets, which counts so many bytes itself.
func (l *lengths) arrive(now time.Duration, counted int, v View) float64 {
	if l.queues == nil {
		return float64(v.Bytes + counted)
	}
	q := &l.queues[v.Queue]
	if l.every > 0 {
		q.lasted(now, v.Bytes, l.lengthFilter)
	} else {
		q.arrive(now, v.Bytes+counted, l.lengthFilter)
	}
	return q.average
}

// depart notes that a packet of that length has left.
func (l *lengths) depart(now time.Duration, size int, v View) {
	switch {
	case l.queues == nil:
	case l.every > 0:
		l.queues[v.Queue].lasted(now, v.Bytes+size, l.lengthFilter)
	case v.Bytes == 0:
		l.queues[v.Queue].emptied(now)
	}
}
