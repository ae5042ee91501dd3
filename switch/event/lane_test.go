package event

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestOrderInAnInstant: lane by lane, in a lane what comes from elsewhere, and then timers
// as they were scheduled.
func TestOrderInAnInstant(t *testing.T) {
	var l Loop
	var log []string
	one, two := l.Lane(1), l.Lane(2)
	two.Schedule(record(&log, "two"), 5)
	one.Schedule(record(&log, "one"), 5)
	one.Schedule(record(&log, "one again"), 5)
	l.ScheduleBy(one.Way(0).At(5), record(&log, "from elsewhere to one"), 5)
	l.Schedule(record(&log, "own"), 5)
	l.Own().Schedule(record(&log, "own again"), 5)
	two.Schedule(record(&log, "earlier"), 4)
	l.RunUntil(5)
	want := []string{"earlier@4ns", "own@5ns", "own again@5ns", "from elsewhere to one@5ns", "one@5ns", "one again@5ns", "two@5ns"}
	if !slices.Equal(log, want) {
		t.Errorf("got %v, want %v", log, want)
	}
}

// TestWaysTakeTurns: of what comes by several ways in one instant, none is always first,
// whatever the time between such instants.
func TestWaysTakeTurns(t *testing.T) {
	const instants, ways = 1000, 3
	for _, every := range []time.Duration{1, 1000, 1 << 10, 12304, 123040, 1 << 20, 1 << 30} {
		var l Loop
		var first [ways]int
		for i := range instants {
			at, come := time.Duration(i)*every, false
			for way := range ways {
				l.ScheduleBy(l.Lane(1).Way(way).At(at), NewTimer(func(time.Duration) {
					if !come {
						come = true
						first[way]++
					}
				}), at)
			}
			l.RunUntil(at)
		}
		// A way of three is first every third time, or, for one of them, every second time.
		for way, n := range first {
			if n < instants/6 || n > instants*2/3 {
				t.Errorf("every %v: way %d was first in %d of %d instants", every, way, n, instants)
			}
		}
	}
}

// TestKeysMayReturn: an event that was cancelled does not come back when its key does.
func TestKeysMayReturn(t *testing.T) {
	for _, far := range []time.Duration{0, time.Second} { // in the calendar, and in the wheel
		var l Loop
		var log []string
		a, way := record(&log, "a"), l.Lane(1).Way(0)
		l.ScheduleBy(way.At(far+10), a, far+10)
		l.Cancel(a)
		l.ScheduleBy(way.At(far+10), a, far+20)
		l.ScheduleBy(way.At(far+10), a, far+30)
		l.RunUntil(far + 40)
		if want := []string{"a@" + (far + 30).String()}; !slices.Equal(log, want) {
			t.Errorf("got %v, want %v", log, want)
		}
	}
}

// TestLanesApart: what lanes do does not depend on which of them share a loop. Each event
// of a lane schedules others of the lane, many of them in the same instant.
func TestLanesApart(t *testing.T) {
	const lanes = 5
	run := func(share func(lane int) int) (logs [lanes][]string) {
		loops := make([]Loop, lanes)
		for number := range lanes {
			l := &loops[share(number)]
			lane, r := l.Lane(number+1), rand.New(rand.NewPCG(1, uint64(number)))
			timers := make([]*Timer, 10)
			for i := range timers {
				timers[i] = NewTimer(func(now time.Duration) {
					logs[number] = append(logs[number], fmt.Sprint(i, now))
					for range 2 {
						at, next := now+time.Duration(r.IntN(3)), r.IntN(len(timers))
						if next%2 == 0 {
							l.ScheduleBy(lane.Way(next).At(at), timers[next], at)
						} else {
							lane.Schedule(timers[next], at)
						}
					}
				})
			}
			lane.Schedule(timers[1], 0)
		}
		for i := range loops {
			loops[i].RunUntil(500)
		}
		return logs
	}
	together := run(func(int) int { return 0 })
	if apart := run(func(lane int) int { return lane }); !slices.EqualFunc(apart[:], together[:], slices.Equal) {
		t.Error("lanes on loops of their own run differently")
	}
	if len(together[0]) < 500 {
		t.Errorf("only %d events ran", len(together[0]))
	}
}
