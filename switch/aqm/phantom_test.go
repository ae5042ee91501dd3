package aqm

import (
	"testing"
	"time"

	"aqmlab/switch/packet"
)

// TestPhantom: what leaves joins the phantom queue, which drains at a share of the port's
// rate (HULL, section 3.1). Half of the 1 Gbps of env drains 1000 bytes, of which 38 are
// of Ethernet, in 16 us.
func TestPhantom(t *testing.T) {
	s := build(t, "phantom", map[string]any{"threshold": "2KB", "drain": 0.5})
	us := time.Microsecond
	for i, tt := range []struct {
		at    time.Duration
		queue int
		want  Verdict
	}{
		{0, 0, Pass}, {0, 1, Pass}, // exactly the threshold
		{0, 2, Mark}, // one queue, whichever queue of the port a packet left
		{16 * us, 0, Mark},
		{48 * us, 0, Pass},
		{1000 * us, 0, Pass}, {1000 * us, 0, Pass},
		{1016 * us, 0, Pass},
		{1032*us - 1, 0, Mark}, // a packet fits 1 ns later
	} {
		k := &packet.Packet{Size: 962}
		// The real queues are empty, and nothing waited.
		if got := s.Depart(tt.at, k, View{Queue: tt.queue}); got != tt.want {
			t.Errorf("packet %d, at %v: %v, want %v", i, tt.at, got, tt.want)
		}
	}
}

// TestPhantomGivesUpTheRest: a port is marked for what it sends beyond gamma, however
// short its packets are.
func TestPhantomGivesUpTheRest(t *testing.T) {
	for _, size := range []int{64, 1500} {
		for share, want := range map[float64]bool{0.94: false, 0.96: true} {
			s, e := build(t, "phantom", nil), env()
			gap := time.Duration(float64(e.Rate.Time(packet.OnWire(size))) / share)
			marked := false
			for i := range 20_000 {
				marked = s.Depart(time.Duration(i)*gap, &packet.Packet{Size: int32(size)}, View{}) == Mark || marked
			}
			if marked != want {
				t.Errorf("%d bytes at %v of the rate: marked %v", size, share, marked)
			}
		}
	}
}

func TestPhantomParameters(t *testing.T) {
	refuses(t, "phantom", []refusal{
		{map[string]any{"drain": 0}, "drain: 0 is outside (0, 1]"},
		{map[string]any{"drain": 1.1}, "drain: 1.1 is outside (0, 1]"},
		{map[string]any{"drain": 1e-12}, "drain: 1e-12 of 1Gbps is no rate"},
	})
}
