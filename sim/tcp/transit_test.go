package tcp

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// plain is a segment in the plain model of a transit.
type plain struct {
	end          int64
	sacked, lost bool
}

// TestTransit compares a transit with a list of segments and a list of what is
// under way, for random uses.
func TestTransit(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		var tr transit
		tr.reset()
		var segments []plain
		first, next := 0, int64(0)
		var way []int // in the order of sending
		leave := func(i int) { way = slices.DeleteFunc(way, func(j int) bool { return i == j }) }
		for now := range 500 * time.Nanosecond {
			var i int
			if n := len(segments) - first; n > 0 {
				i = first + rng.IntN(n)
			}
			switch use := rng.IntN(8); {
			case use < 3 || first == len(segments):
				end := next + 1 + rng.Int64N(9)
				tr.send(now, next, end)
				way, next = append(way, len(segments)), end
				segments = append(segments, plain{end: end})
			case use == 3:
				leave(first)
				first++
				tr.pop(tr.get(tr.head))
			case segments[i].sacked:
			case use == 4:
				leave(i)
				segments[i] = plain{end: segments[i].end, sacked: true}
				tr.sack(tr.get(i))
			case use == 5:
				leave(i)
				way = append(way, i)
				segments[i].lost = false
				tr.resend(now, i)
			case !segments[i].lost:
				leave(i)
				segments[i].lost = true
				tr.lose(i)
			}
			compareTransit(t, &tr, segments[first:], way)
		}
	}
}

func compareTransit(t *testing.T, tr *transit, segments []plain, way []int) {
	t.Helper()
	var pipe, turn int64
	var got []int
	for i := tr.oldest; i != none; i = tr.get(i).newer {
		s := tr.get(i)
		if s.turn <= turn {
			t.Fatalf("turn %d behind %d", s.turn, turn)
		}
		got, turn, pipe = append(got, i), s.turn, pipe+s.end-s.first
	}
	if !slices.Equal(got, way) || pipe != tr.pipe {
		t.Fatalf("under way are %v with %d bytes, counted %d; want %v", got, pipe, tr.pipe, way)
	}
	sacked, lost, firstLost := 0, 0, none
	for k, s := range segments {
		if s.sacked {
			sacked++
		}
		if s.lost {
			if lost++; firstLost == none {
				firstLost = tr.head + k
			}
		}
		if got := tr.find(s.end); got != tr.head+k {
			t.Fatalf("%d ends at %d, found %d", tr.head+k, s.end, got)
		}
	}
	if tr.tail-tr.head != len(segments) || tr.sacked != sacked || tr.lost != lost {
		t.Fatalf("%d segments, %d SACKed, %d lost; want %d, %d, %d", tr.tail-tr.head, tr.sacked, tr.lost, len(segments), sacked, lost)
	}
	if lost > 0 && tr.firstLost() != firstLost {
		t.Fatalf("the first lost is %d, want %d", tr.firstLost(), firstLost)
	}
}

// TestTransitKeepsStorage: the next connection finds it, and it is bounded by
// what was outstanding at most.
func TestTransitKeepsStorage(t *testing.T) {
	var tr transit
	for range 3 {
		tr.reset()
		for i := range int64(1000) {
			tr.send(0, i, i+1)
			if i >= 40 {
				tr.pop(tr.get(tr.head))
			}
		}
	}
	if len(tr.ring) != 64 {
		t.Errorf("room for %d segments, want 64", len(tr.ring))
	}
}
