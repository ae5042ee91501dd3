package tcp

import (
	"testing"
	"time"

	"aqmlab/switch/packet"
)

// TestHyStartTrain: acknowledgements that come for longer than half of the shortest round
// trip, none more than 2 ms after another, end slow start; a gap ends the train until the
// next round.
func TestHyStartTrain(t *testing.T) {
	for name, tt := range map[string]struct {
		gap   time.Duration
		cwnd  int64
		after time.Duration // of the round; zero: never
	}{
		"train":        {ms, 16, 11 * ms},
		"gaps":         {3 * ms, 16, 0},
		"small window": {ms, 15, 0},
	} {
		var h hystart
		w := newWindow(mss, tt.cwnd)
		h.ends(&w, ack{at: 100 * ms, sample: 20 * ms, una: 1, nxt: 1000}) // begins a round
		got := time.Duration(0)
		for at := tt.gap; at < 20*ms && got == 0; at += tt.gap {
			if h.ends(&w, ack{at: 100*ms + at, sample: 20 * ms, una: 2, nxt: 1000}) {
				got = at
			}
		}
		if got != tt.after {
			t.Errorf("%s: ended %v into the round, want %v", name, got, tt.after)
		}
	}
}

// TestHyStartDelay: when the least of eight samples is longer than the shortest round trip
// by an eighth, but at least 4 and at most 16 ms.
func TestHyStartDelay(t *testing.T) {
	for _, tt := range []struct{ shortest, bound time.Duration }{{8 * ms, 4 * ms}, {80 * ms, 10 * ms}, {400 * ms, 16 * ms}} {
		for _, over := range []time.Duration{0, us} {
			var h hystart
			w := newWindow(mss, 100)
			h.ends(&w, ack{at: time.Second, sample: tt.shortest, una: 1, nxt: 1000})
			h.ends(&w, ack{at: 2 * time.Second, sample: tt.shortest + tt.bound + over, una: 1001, nxt: 2000})
			got := false
			for n := range int64(8) {
				at := 2*time.Second + time.Duration(n+1)*10*ms // no train
				got = h.ends(&w, ack{at: at, sample: tt.shortest + tt.bound + over, una: 1002 + n, nxt: 2000})
			}
			if want := over > 0; got != want {
				t.Errorf("%v and %v more: ended %v", tt.shortest, tt.bound+over, got)
			}
		}
	}
}

// TestHyStartSparesTheQueue: a flow of CUBIC behind a queue of half a bandwidth-delay
// product loses hundreds of segments in slow start without, and hardly any with it.
func TestHyStartSparesTheQueue(t *testing.T) {
	for _, on := range []bool{false, true} {
		c := config("cubic")
		c.Control.Params = map[string]any{"hystart": on}
		b := newNarrow(t, c, 1)
		lost := 0
		b.drop = func(*packet.Packet) bool {
			full := b.busy-b.loop.Now() > narrowRTT/2
			if full {
				lost++
			}
			return full
		}
		b.senders[0].Write(0, 1<<40, Tag{})
		b.loop.RunUntil(500 * ms)
		if on && lost > 5 || !on && lost < 50 {
			t.Errorf("with HyStart %v: %d lost", on, lost)
		}
	}
}
