//go:build linux

package wire

import (
	"testing"
	"time"
)

// TestPolling: the loop polls for as long as it was told after a frame, and gives its CPU
// up for a while once somebody else has used it.
func TestPolling(t *testing.T) {
	const us, ms, s = time.Microsecond, time.Millisecond, time.Second
	never, forever, second := polling{}, polling{most: Forever}, polling{most: s}
	if never.turn(us); never.polls(us, 0) {
		t.Error("polls without being told to")
	}
	if forever.turn(time.Hour); !forever.polls(time.Hour, 0) {
		t.Error("does not poll for ever")
	}
	if second.turn(2 * s); !second.polls(2*s, s+us) || second.polls(2*s, s) {
		t.Error("does not poll for a second after the last frame, and then sleep")
	}

	var waited time.Duration
	p := polling{most: Forever, waited: func() time.Duration { return waited }, before: s}
	turn := func(now time.Duration) bool { p.turn(now); return p.polls(now, 0) }
	waited = s + 100*us
	if !turn(s) || !turn(s+4*ms) || p.given {
		t.Error("gives its CPU up for what a hypervisor takes")
	}
	waited += 4 * ms
	taken := s + 8*ms
	if turn(taken) || turn(taken+givenLeast-1) || !p.given {
		t.Error("polls although somebody had the CPU for 4 ms")
	}
	if !turn(taken + givenLeast) {
		t.Error("never polls again")
	}
	waited += s
	p.turn(taken + givenLeast + us) // in which there was work for long, and so no look for more
	if !turn(taken + givenLeast + s) {
		t.Error("takes its own work for that of others")
	}
	if waited = 0; turn(taken + givenLeast + s + 2*ms) {
		t.Error("polls on where nobody knows whether others have the CPU")
	}
}

// TestPollingGivesMore: who wants the CPU again and again gets it for longer each time, up to
// ten seconds, and after ten seconds in which nobody did for as short a time as at first.
func TestPollingGivesMore(t *testing.T) {
	waited, now := time.Hour, time.Hour
	p := polling{most: Forever, waited: func() time.Duration { return waited }, before: waited}
	slept := func() (d time.Duration) { // after another program had the CPU for 4 ms
		p.polls(now, 0)
		now, waited = now+4*time.Millisecond, waited+4*time.Millisecond
		for p.turn(now); !p.polls(now+d, 0); d += time.Millisecond {
		}
		now += d
		p.begun = now
		return d
	}
	for _, want := range []int{100, 200, 400, 800, 1600, 3200, 6400, 10000, 10000} {
		if got := slept(); got != time.Duration(want)*time.Millisecond {
			t.Fatalf("it slept for %v, want %d ms", got, want)
		}
	}
	if now += givenMost; slept() != givenLeast {
		t.Error("it does not forget")
	}
}
