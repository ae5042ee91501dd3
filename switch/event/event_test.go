package event

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// record returns a timer that appends its name and due time to log.
func record(log *[]string, name string) *Timer {
	return NewTimer(func(now time.Duration) { *log = append(*log, name+"@"+now.String()) })
}

func TestEventsRunInTimeThenCallOrder(t *testing.T) {
	var l Loop
	var log []string
	a, b, c, d := record(&log, "a"), record(&log, "b"), record(&log, "c"), record(&log, "d")
	l.Schedule(a, 20)
	l.Schedule(b, 10)
	l.Schedule(c, 20)
	l.Schedule(d, 10)
	l.Schedule(a, 20) // moved behind c: re-arming counts as a new call
	l.RunUntil(15)
	if want := []string{"b@10ns", "d@10ns"}; !slices.Equal(log, want) {
		t.Errorf("until 15: got %v, want %v", log, want)
	}
	if l.Now() != 15 {
		t.Errorf("Now() = %v after RunUntil(15)", l.Now())
	}
	l.RunUntil(20)
	if want := []string{"b@10ns", "d@10ns", "c@20ns", "a@20ns"}; !slices.Equal(log, want) {
		t.Errorf("until 20: got %v, want %v", log, want)
	}
}

func TestEventsScheduledWhileRunning(t *testing.T) {
	var l Loop
	var log []string
	late := record(&log, "late")
	again := NewTimer(nil)
	again.action = call(func(now time.Duration) {
		log = append(log, "again@"+now.String())
		if now < 3 {
			l.Schedule(again, now+1)
		}
	})
	l.Schedule(again, 1)
	l.Schedule(late, 2)
	l.RunUntil(10)
	// At 2 ns late was scheduled first.
	if want := []string{"again@1ns", "late@2ns", "again@2ns", "again@3ns"}; !slices.Equal(log, want) {
		t.Errorf("got %v, want %v", log, want)
	}
}

func TestThePastIsNow(t *testing.T) {
	var l Loop
	var log []string
	l.RunUntil(100)
	l.Schedule(record(&log, "a"), 50)
	if at, ok := l.Next(); !ok || at != 100 {
		t.Errorf("Next() = %v, %v: want 100ns", at, ok)
	}
	l.RunUntil(100)
	if want := []string{"a@100ns"}; !slices.Equal(log, want) {
		t.Errorf("got %v, want %v", log, want)
	}
}

func TestCancel(t *testing.T) {
	var l Loop
	var log []string
	a, b := record(&log, "a"), record(&log, "b")
	l.Schedule(a, 1)
	l.Schedule(b, 2)
	l.Cancel(a)
	l.Cancel(a)
	if a.Pending() || !b.Pending() {
		t.Errorf("pending: a %v, b %v", a.Pending(), b.Pending())
	}
	for l.Step() {
	}
	if want := []string{"b@2ns"}; !slices.Equal(log, want) {
		t.Errorf("got %v, want %v", log, want)
	}
	if _, ok := l.Next(); ok {
		t.Error("an empty loop has a next event")
	}
}

// TestAgainstSorting moves and cancels timers at random and compares the order
// in which they run with a sort by (time, sequence).
func TestAgainstSorting(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	type key struct {
		at  time.Duration
		seq int
	}
	var l Loop
	const n = 2000
	keys := make([]*key, n)
	timers := make([]*Timer, n)
	var ran []key
	for i := range timers {
		timers[i] = NewTimer(func(time.Duration) { ran = append(ran, *keys[i]) })
	}
	for seq := range 10 * n {
		i := rng.IntN(n)
		if rng.IntN(4) == 0 {
			l.Cancel(timers[i])
			keys[i] = nil
			continue
		}
		keys[i] = &key{time.Duration(rng.IntN(50)), seq}
		l.Schedule(timers[i], keys[i].at)
	}
	var want []key
	for _, k := range keys {
		if k != nil {
			want = append(want, *k)
		}
	}
	slices.SortFunc(want, func(a, b key) int {
		if a.at != b.at {
			return int(a.at - b.at)
		}
		return a.seq - b.seq
	})
	for l.Step() {
	}
	if !slices.Equal(ran, want) {
		t.Errorf("%d timers ran in another order than (time, sequence)", len(ran))
	}
}

// TestEventsFollowAModel: whatever events schedule, move and cancel while they
// run, the loop runs them in the order of a list that is sorted by time and
// then by call.
func TestEventsFollowAModel(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	var l Loop
	type pending struct {
		at    time.Duration
		order int
		id    int
	}
	var model []pending // of timers that are scheduled
	timers, order, ran := make([]*Timer, 40), 0, 0
	drop := func(id int) {
		model = slices.DeleteFunc(model, func(p pending) bool { return p.id == id })
	}
	schedule := func(id int, at time.Duration) {
		drop(id)
		order++
		model = append(model, pending{max(at, l.Now()), order, id})
		l.Schedule(timers[id], at)
	}
	act := func() {
		for range r.IntN(4) {
			id, at := r.IntN(len(timers)), l.Now()+time.Duration(r.IntN(20)-2)
			switch r.IntN(8) {
			case 0:
				drop(id)
				l.Cancel(timers[id])
			case 1:
				at, ok := l.Next()
				earliest := slices.MinFunc(append(model, pending{at: 1 << 62}), func(a, b pending) int { return cmp.Compare(a.at, b.at) })
				if ok != (len(model) > 0) || ok && at != earliest.at {
					t.Fatalf("Next() = %v, %v, want %v of %d", at, ok, earliest.at, len(model))
				}
			default:
				schedule(id, at)
			}
		}
	}
	for id := range timers {
		timers[id] = NewTimer(func(now time.Duration) {
			first := slices.MinFunc(model, func(a, b pending) int {
				return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order))
			})
			if first.id != id || first.at != now {
				t.Fatalf("timer %d ran at %v, want %d at %v", id, now, first.id, first.at)
			}
			drop(id)
			ran++
			act()
		})
	}
	for range 50_000 {
		if !l.Step() {
			if len(model) > 0 {
				t.Fatalf("the loop is empty, and %d timers are scheduled", len(model))
			}
			schedule(r.IntN(len(timers)), l.Now()+1)
		}
	}
	if ran < 10_000 {
		t.Errorf("only %d events ran", ran)
	}
}
