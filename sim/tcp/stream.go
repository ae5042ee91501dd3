package tcp

import (
	"math"

	"aqmlab/switch/packet"
)

// Tag gives a message's segments their DSCP by where they stand in the message
// (PIAS). A segment has the DSCP of its first byte, whatever the bytes behind
// it would have: where a threshold lies inside a segment, and where a segment
// carries the end of one message and the beginning of the next. What is sent
// again keeps the DSCP of its place. The zero Tag gives DSCP 0.
type Tag struct {
	// Thresholds are offsets into the message in bytes, rising.
	Thresholds []int64
	// DSCPs has one entry more than Thresholds: that of the bytes below the first
	// threshold, that of the bytes from there to below the second, and so on.
	// Both may be shared by many tags.
	DSCPs []uint8
	// Offset is where in its message the first byte stands.
	Offset int64
}

// At is the DSCP of the byte at an offset from that of the tag.
func (t *Tag) At(offset int64) uint8 {
	offset += t.Offset
	if len(t.DSCPs) == 0 {
		return 0
	}
	i := 0
	for i < len(t.Thresholds) && t.Thresholds[i] <= offset {
		i++
	}
	return t.DSCPs[i]
}

// stream is what the application wrote: messages one after another.
type stream struct {
	end      int64     // bytes written
	messages []message // those from head on are not wholly acknowledged
	head     int
}

type message struct {
	start, end int64
	tag        Tag
}

func (s *stream) reset() { s.end, s.messages, s.head = 0, s.messages[:0], 0 }

func (s *stream) write(n int64, t Tag) {
	if len(s.messages) == cap(s.messages) && s.head > 0 {
		s.messages = s.messages[:copy(s.messages, s.messages[s.head:])]
		s.head = 0
	}
	s.messages = append(s.messages, message{s.end, s.end + n, t})
	s.end += n
}

// trim forgets the messages that end at or before the acknowledged bytes.
func (s *stream) trim(acked int64) {
	for s.head < len(s.messages) && s.messages[s.head].end <= acked {
		s.head++
	}
	if s.head == len(s.messages) {
		s.messages, s.head = s.messages[:0], 0
	}
}

// cut drops what was written beyond the first n bytes.
func (s *stream) cut(n int64) {
	s.end = n
	for i := len(s.messages) - 1; i >= s.head && s.messages[i].start >= n; i-- {
		s.messages = s.messages[:i]
	}
	if i := len(s.messages) - 1; i >= s.head {
		s.messages[i].end = min(s.messages[i].end, n)
	}
}

// tag tells the network of the unacknowledged byte with which a segment begins: its DSCP,
// and how many bytes its message has from there on, and before.
func (s *stream) tag(k *packet.Packet, seq int64) {
	i := s.head
	for s.messages[i].end <= seq {
		i++
	}
	m := &s.messages[i]
	k.DSCP = m.tag.At(seq - m.start)
	k.Segment.Left, k.Segment.Before = upTo32(m.end-seq), upTo32(m.tag.Offset+seq-m.start)
}

// upTo32 is n, or the largest number that a segment has room for.
func upTo32(n int64) uint32 { return uint32(min(n, math.MaxUint32)) }
