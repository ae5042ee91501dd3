package tcp

import (
	"math"
	"slices"
	"testing"
	"time"

	"aqmlab/switch/packet"
)

func TestTag(t *testing.T) {
	one := Tag{Thresholds: []int64{100_000}, DSCPs: []uint8{0, 3}}
	two := Tag{Thresholds: []int64{20_000, 100_000}, DSCPs: []uint8{0, 1, 7}}
	for _, tt := range []struct {
		tag    Tag
		offset int64
		want   uint8
	}{
		{Tag{}, 1 << 40, 0},
		{Tag{DSCPs: []uint8{9}}, 0, 9},
		{one, 0, 0}, {one, 99_999, 0}, {one, 100_000, 3}, {one, 1 << 40, 3},
		{two, 19_999, 0}, {two, 20_000, 1}, {two, 99_999, 1}, {two, 100_000, 7},
	} {
		if got := tt.tag.At(tt.offset); got != tt.want {
			t.Errorf("%v at %d: %d, want %d", tt.tag, tt.offset, got, tt.want)
		}
	}
}

// TestSegmentTags: a segment has the DSCP of its first byte, counted from where
// its message begins; so has one that is sent again; ACKs have the connection's.
func TestSegmentTags(t *testing.T) {
	r := newRig(t, sackConfig("reno"))
	tag := Tag{Thresholds: []int64{2500}, DSCPs: []uint8{1, 6}}
	r.Write(0, 3700, tag)                   // segments at 0, 1000, 2000 (it straddles) and 3000
	r.Write(0, 3300, tag)                   // the same, from 3700 on
	r.Write(0, mss, Tag{DSCPs: []uint8{4}}) // a segment of its own: there was nothing behind it
	want := []uint8{1, 1, 1, 6, 1, 1, 1, 6, 4}
	dscps := func() (got []uint8) {
		for _, k := range r.out {
			got = append(got, k.DSCP)
		}
		r.out = nil
		return got
	}
	if got := dscps(); !slices.Equal(got, want) {
		t.Errorf("DSCPs %v, want %v", got, want)
	}
	r.ack(3700)
	r.at(time.Second)
	if r.n.Timeouts == 0 {
		t.Fatal("no timeout")
	}
	if k := r.out[0]; k.Segment.Seq != 3700 || k.DSCP != 1 {
		t.Errorf("sent %d again with DSCP %d, want 1", k.Segment.Seq, k.DSCP)
	}
	r.out = nil
	r.data(0, mss, packet.NotECT)
	r.SetDSCP(2)
	r.data(mss, mss, packet.NotECT)
	if got := dscps(); !slices.Equal(got, []uint8{5, 2}) {
		t.Errorf("ACKs have DSCPs %v, want 5, 2", got)
	}
}

// TestTagAcrossMessages: what is queued is cut into full segments, whatever
// message it belongs to.
func TestTagAcrossMessages(t *testing.T) {
	c := config("reno")
	c.InitCwnd = 1
	r := newRig(t, c)
	r.Write(0, 1500, Tag{DSCPs: []uint8{1}})
	r.Write(0, 1500, Tag{DSCPs: []uint8{2}})
	r.ack(mss)
	var got []uint8
	for _, k := range r.out {
		got = append(got, k.DSCP)
	}
	if !slices.Equal(got, []uint8{1, 1, 2}) {
		t.Errorf("DSCPs %v, want 1, 1 (500 of each), 2", got)
	}
}

// TestStreamMemory: what is acknowledged is forgotten, and storage used again.
func TestStreamMemory(t *testing.T) {
	var s stream
	for n := range int64(10_000) {
		s.write(10, Tag{})
		s.trim(10*n - 35)
	}
	if cap(s.messages) > 32 {
		t.Errorf("room for %d messages, with 5 outstanding", cap(s.messages))
	}
	if s.trim(s.end); len(s.messages) != 0 || s.head != 0 {
		t.Errorf("%d messages left", len(s.messages))
	}
}

func TestStreamCut(t *testing.T) {
	for n, want := range map[int64]int{0: 0, 50: 1, 100: 1, 101: 2, 250: 3, 300: 3} {
		var s stream
		for i := range 3 {
			s.write(100, Tag{DSCPs: []uint8{uint8(i)}})
		}
		s.cut(n)
		s.write(10, Tag{DSCPs: []uint8{9}})
		if len(s.messages) != want+1 || s.end != n+10 || s.dscpAt(n) != 9 || n > 0 && s.dscpAt(n-1) != uint8((n-1)/100) {
			t.Errorf("cut at %d: %v", n, s.messages)
		}
	}
}

// dscpAt is that of a segment that begins with an unacknowledged byte.
func (s *stream) dscpAt(seq int64) uint8 {
	var k packet.Packet
	s.tag(&k, seq)
	return k.DSCP
}

// TestPlaceInMessage: segments tell how many bytes their message has from them on, and how
// many before them, whether they are sent for the first time or again.
func TestPlaceInMessage(t *testing.T) {
	var s stream
	s.write(3000, Tag{})
	s.write(1<<40, Tag{})
	s.write(500, Tag{Offset: 7000})
	for seq, want := range map[int64][2]uint32{
		0: {3000, 0}, 1448: {1552, 1448}, 2999: {1, 2999},
		3000: {math.MaxUint32, 0}, 3000 + 1<<40 - 5: {5, math.MaxUint32},
		3000 + 1<<40: {500, 7000}, 3100 + 1<<40: {400, 7100},
	} {
		var k packet.Packet
		if s.tag(&k, seq); k.Segment.Left != want[0] || k.Segment.Before != want[1] {
			t.Errorf("at %d: %d, and %d before, want %d", seq, k.Segment.Left, k.Segment.Before, want)
		}
	}
}
