package tcp

import (
	"slices"
	"testing"
	"time"

	"aqmlab/switch/packet"
)

// TestSACKBlocks: RFC 2018, section 4: the run that the segment is in comes
// first, then those reported before, at most three; as many as there are.
func TestSACKBlocks(t *testing.T) {
	r := newRig(t, config("reno"))
	for _, tt := range []struct {
		segment int64
		ack     int64
		want    []packet.Block
	}{
		{0, 1, nil},
		{2, 1, []packet.Block{run(2, 3)}},
		{4, 1, []packet.Block{run(4, 5), run(2, 3)}},
		{8, 1, []packet.Block{run(8, 9), run(4, 5), run(2, 3)}},
		{6, 1, []packet.Block{run(6, 7), run(8, 9), run(4, 5)}},
		{5, 1, []packet.Block{run(4, 7), run(8, 9), run(2, 3)}}, // three became one; 2 is reported again
		{2, 1, []packet.Block{run(2, 3), run(4, 7), run(8, 9)}}, // again
		{1, 3, []packet.Block{run(4, 7), run(8, 9)}},
		{3, 7, []packet.Block{run(8, 9)}},
		{0, 7, []packet.Block{run(8, 9)}},
		{7, 9, nil},
	} {
		r.data(tt.segment*mss, mss, packet.NotECT)
		k := r.last()
		if got := k.Segment.SACK[:k.Segment.Blocks]; k.Segment.Ack != tt.ack*mss || !slices.Equal(got, tt.want) {
			t.Errorf("after %d: ACK %d, blocks %v; want %d, %v", tt.segment, k.Segment.Ack/mss, got, tt.ack, tt.want)
		}
		if want := int32(52 + []int{0, 12, 20, 28}[len(tt.want)]); k.Size != want {
			t.Errorf("after %d: %d bytes, want %d", tt.segment, k.Size, want)
		}
	}
	if r.user.delivered != 9*mss || len(r.out) != 11 {
		t.Errorf("delivered %d, sent %d ACKs", r.user.delivered, len(r.out))
	}
}

// TestOverlaps: bytes are delivered once, however they are cut into segments.
func TestOverlaps(t *testing.T) {
	r := newRig(t, config("reno"))
	for _, s := range []struct {
		seq int64
		n   int32
		all int64 // delivered then
	}{
		{500, 1000, 0}, {0, 700, 1500}, {1000, 1000, 2000}, {2500, 10, 2000}, {2510, 90, 2000}, {2400, 150, 2000}, {1900, 600, 2600},
	} {
		if r.data(s.seq, s.n, packet.NotECT); r.user.delivered != s.all {
			t.Errorf("after %d+%d: delivered %d, want %d", s.seq, s.n, r.user.delivered, s.all)
		}
	}
}

// TestDelayedAcks: RFC 5681, section 4.2: every second segment is acknowledged,
// a single one after a while, and one out of order or in a gap at once.
func TestDelayedAcks(t *testing.T) {
	c := config("reno")
	c.DelayedAck, c.AckTimeout = 2, 40*ms
	r := newRig(t, c)
	step := func(what string, want ...int64) {
		t.Helper()
		got := []int64{}
		for _, k := range r.out {
			got = append(got, k.Segment.Ack/mss)
		}
		r.out = nil
		if !slices.Equal(got, append([]int64{}, want...)) {
			t.Errorf("%s: ACKs %v, want %v", what, got, want)
		}
	}
	data := func(n int64) { r.data(n*mss, mss, packet.NotECT) }
	data(0)
	step("first")
	data(1)
	step("second", 2)
	r.at(ms)
	data(2)
	r.at(41*ms - 1)
	step("just before the timeout")
	r.at(41 * ms)
	step("timeout", 3)
	data(4)
	step("out of order", 3)
	data(3)
	step("gap filled", 5)
	data(3)
	step("again", 5)
	data(5)
	r.at(60 * ms)
	data(6)
	data(7)
	r.at(99 * ms)
	step("the timeout counts from the first not acknowledged", 7)
	r.at(100 * ms)
	step("timeout", 8)
	data(8)
	r.segments(1)
	step("data carries the acknowledgement", 9)
	r.at(time.Second)
	for _, k := range r.out {
		if k.Segment.Len == 0 {
			t.Error("an ACK for what was acknowledged")
		}
	}
}

// TestStamps: RFC 7323, section 4.3: the echo is of the earliest segment that
// an ACK covers, of the last in order before a gap, and of the one that fills it.
func TestStamps(t *testing.T) {
	c := config("reno")
	c.DelayedAck, c.AckTimeout = 2, 40*ms
	r := newRig(t, c)
	for _, tt := range []struct {
		segment int64
		at      time.Duration
		want    time.Duration // zero: no ACK
	}{
		{0, 1 * ms, 0},
		{1, 2 * ms, 1 * ms},
		{2, 3 * ms, 0},
		{3, 4 * ms, 3 * ms},
		{5, 5 * ms, 3 * ms},
		{6, 6 * ms, 3 * ms},
		{4, 7 * ms, 7 * ms},
	} {
		r.out = nil
		r.at(tt.at).data(tt.segment*mss, mss, packet.NotECT)
		if (tt.want != 0) != (len(r.out) == 1) || tt.want != 0 && r.last().Segment.Echo != tt.want {
			t.Errorf("segment %d: %d ACKs, want echo %v", tt.segment, len(r.out), tt.want)
		}
	}
}

// TestDataLeavesRoomForSACK: a segment with SACK blocks keeps to the MTU.
func TestDataLeavesRoomForSACK(t *testing.T) {
	r := newRig(t, config("reno"))
	r.data(2*mss, mss, packet.NotECT)
	r.segments(2)
	var sizes, lengths []int32
	for _, k := range r.out[1:] {
		sizes, lengths = append(sizes, k.Size), append(lengths, k.Segment.Len)
	}
	if !slices.Equal(sizes, []int32{1052, 1052, 52 + 12 + 24}) || !slices.Equal(lengths, []int32{988, 988, 24}) {
		t.Errorf("sizes %v, payload %v", sizes, lengths)
	}
}
