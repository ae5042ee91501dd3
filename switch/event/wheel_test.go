package event

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"
)

// TestAllMagnitudes: events from the next nanosecond to centuries ahead run in
// the order of time, then of calls, while time moves on between the calls.
func TestAllMagnitudes(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	type event struct {
		at    time.Duration
		order int
	}
	var l Loop
	var want, ran []event
	for order := range 20_000 {
		at := l.Now() + time.Duration(r.Uint64()>>(2+r.IntN(62)))
		if n := len(want); n > 0 && r.IntN(3) == 0 {
			at = max(at, want[r.IntN(n)].at) // ties of events that were called long apart
		}
		e := event{at, order}
		want = append(want, e)
		l.Schedule(NewTimer(func(now time.Duration) { ran = append(ran, event{now, e.order}) }), at)
		if r.IntN(4) == 0 {
			l.RunUntil(l.Now() + time.Duration(r.IntN(5000)))
		}
	}
	for l.Step() {
	}
	slices.SortFunc(want, func(a, b event) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order)) })
	if !slices.Equal(ran, want) {
		t.Errorf("%d of %d events ran, or in another order than (time, sequence)", len(ran), len(want))
	}
}

// TestLastInstant: the end of time is a time like others.
func TestLastInstant(t *testing.T) {
	var l Loop
	var log []string
	l.Schedule(record(&log, "last"), forever)
	l.Schedule(record(&log, "first"), 1)
	for l.Step() {
	}
	if want := []string{"first@1ns", "last@" + forever.String()}; !slices.Equal(log, want) {
		t.Errorf("got %v, want %v", log, want)
	}
}

// TestEarlierThanCancelled: what was cancelled does not hold up what is
// scheduled for an earlier time afterwards, however the loop learnt of it.
func TestEarlierThanCancelled(t *testing.T) {
	looks := map[string]func(l *Loop){
		"not at all": func(*Loop) {},
		"step":       func(l *Loop) { l.Step() },
		"run":        func(l *Loop) { l.RunUntil(50) },
		"next":       func(l *Loop) { l.Next() },
	}
	for name, look := range looks {
		var l Loop
		var log []string
		for _, at := range []time.Duration{100, 5000, 5001, 1 << 40} {
			timer := record(&log, "cancelled")
			l.Schedule(timer, at)
			l.Cancel(timer)
		}
		if look(&l); l.Step() {
			t.Errorf("%s: a cancelled event ran", name)
		}
		l.Schedule(record(&log, "a"), 70)
		l.Schedule(record(&log, "b"), 60)
		for l.Step() {
		}
		if want := []string{"b@60ns", "a@70ns"}; !slices.Equal(log, want) {
			t.Errorf("%s: got %v, want %v", name, log, want)
		}
	}
}

// TestMovedEventsTakeNoRoom: a timer that is put off for ever leaves no more
// behind than a few places in the wheel, and nothing is allocated for it.
func TestMovedEventsTakeNoRoom(t *testing.T) {
	var l Loop
	timers := make([]*Timer, 100)
	for i := range timers {
		timers[i] = NewTimer(func(time.Duration) {})
	}
	r := rand.New(rand.NewPCG(5, 2))
	move := func() {
		for _, timer := range timers {
			l.Schedule(timer, l.Now()+time.Second+time.Duration(r.IntN(1000)))
		}
	}
	for range 100 {
		move()
	}
	if n := testing.AllocsPerRun(1000, move); n != 0 {
		t.Errorf("%v allocations to move %d timers", n, len(timers))
	}
	if n := l.queue.near.count + l.queue.far.count; n > 3*len(timers) {
		t.Errorf("%d places are taken by %d timers", n, len(timers))
	}
}

// TestNoAllocations: events that schedule events allocate nothing, however long
// ahead.
func TestNoAllocations(t *testing.T) {
	var l Loop
	r := rand.New(rand.NewPCG(5, 3))
	for range 1000 {
		timer := NewTimer(nil)
		timer.action = call(func(now time.Duration) { l.Schedule(timer, now+time.Duration(r.IntN(1<<(1+r.IntN(20))))) })
		l.Schedule(timer, 0)
	}
	for range 200_000 {
		l.Step()
	}
	if n := testing.AllocsPerRun(50_000, func() { l.Step() }); n != 0 {
		t.Errorf("%v allocations an event", n)
	}
}

// BenchmarkPending is the cost of an event with more and more of them pending:
// it must not grow but for what no longer fits near caches.
func BenchmarkPending(b *testing.B) {
	for _, pending := range []int{10, 100, 1000, 10_000} {
		b.Run(strconv.Itoa(pending), func(b *testing.B) { benchmarkPending(b, pending) })
	}
}

func benchmarkPending(b *testing.B, pending int) {
	var l Loop
	r := rand.New(rand.NewPCG(1, 2))
	for range pending {
		t := NewTimer(nil)
		t.action = call(func(now time.Duration) { l.Schedule(t, now+time.Duration(r.IntN(20_000))) })
		l.Schedule(t, time.Duration(r.IntN(20_000)))
	}
	b.ReportAllocs()
	for b.Loop() {
		l.Step()
	}
}

// TestEveryPairOfTimes: of two events the earlier one runs first, whatever digits their times
// differ in, and from wherever the loop begins.
func TestEveryPairOfTimes(t *testing.T) {
	var edges []time.Duration
	for l := range 4 {
		for _, off := range []time.Duration{-1, 0, 1, slots / 2} {
			edges = append(edges, 1<<(digit*l)+off, 63<<(digit*l)+off)
		}
	}
	for _, begin := range []time.Duration{0, 1, slots - 1, slots, slots*slots - 1} {
		for _, a := range edges {
			for _, b := range edges {
				var l Loop
				l.RunUntil(begin)
				var ran []time.Duration
				for _, at := range []time.Duration{a, b} {
					l.Schedule(NewTimer(func(now time.Duration) { ran = append(ran, now) }), begin+at)
				}
				for l.Step() {
				}
				if want := []time.Duration{begin + min(a, b), begin + max(a, b)}; !slices.Equal(ran, want) {
					t.Fatalf("from %d: ran at %v, want %v", begin, ran, want)
				}
			}
		}
	}
}

// TestScheduledBeforeWhatWasCancelled: a loop that has looked at cancelled events, and found
// nothing to run, takes an earlier event than they were.
func TestScheduledBeforeWhatWasCancelled(t *testing.T) {
	var l Loop
	late := NewTimer(func(time.Duration) { t.Error("a cancelled event ran") })
	l.Schedule(late, 10*slots+5)
	l.Cancel(late)
	if l.Step() {
		t.Fatal("something ran")
	}
	var ran []time.Duration
	for _, at := range []time.Duration{10*slots + 7, 3, slots + 1} {
		l.Schedule(NewTimer(func(now time.Duration) { ran = append(ran, now) }), at)
	}
	l.RunUntil(forever)
	if want := []time.Duration{3, slots + 1, 10*slots + 7}; !slices.Equal(ran, want) {
		t.Errorf("ran at %v, want %v", ran, want)
	}
}

// nearing counts how often it is told that it is near, and fires at random.
type nearing struct {
	Timer
	loop *Loop
	rand *rand.Rand
	near int
}

func (n *nearing) Near() { n.near++ }
func (n *nearing) Fire(now time.Duration) {
	n.loop.Schedule(&n.Timer, now+1+time.Duration(n.rand.IntN(5000)))
}

// TestNear: where many events are pending, most are told so before they are due. It changes
// nothing: all run in the order of their times.
func TestNear(t *testing.T) {
	var l Loop
	r := rand.New(rand.NewPCG(7, 1))
	all := make([]nearing, 4000)
	for i := range all {
		all[i] = nearing{loop: &l, rand: r}
		all[i].Does(&all[i])
		l.Schedule(&all[i].Timer, time.Duration(r.IntN(5000)))
	}
	const events = 100_000
	for last, i := time.Duration(0), 0; i < events; i++ {
		at, _ := l.Next()
		if l.Step(); l.Now() != at || at < last {
			t.Fatalf("event %d at %v, behind %v, expected at %v", i, l.Now(), last, at)
		}
		last = at
	}
	told := 0
	for i := range all {
		told += all[i].near
	}
	if told < events/2 {
		t.Errorf("%d events of %d were told that they are near", told, events)
	}
}
