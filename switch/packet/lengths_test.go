package packet_test

import (
	"testing"

	"aqmlab/switch/packet"
)

// TestOnWire: Ethernet (IEEE 802.3) puts 14 bytes of header and 4 of FCS around a
// packet, pads the frame to 64 bytes, and has 8 bytes of preamble before and 12 of gap
// behind it. The figures are those that the kernel modules of MQ-ECN and TCN count.
func TestOnWire(t *testing.T) {
	for size, want := range map[int]int{1: 84, 40: 84, 46: 84, 47: 85, 52: 90, 1500: 1538, 9000: 9038} {
		if got := packet.OnWire(size); got != want || packet.Wire.Of(size) != want {
			t.Errorf("a packet of %d bytes takes %d, want %d", size, got, want)
		}
		if got := packet.IP.Of(size); got != size {
			t.Errorf("of network-layer bytes %d are %d", size, got)
		}
	}
}

// TestQueueLengths: a queue's bytes are the sum of its packets' lengths.
func TestQueueLengths(t *testing.T) {
	for lengths, want := range map[packet.Lengths]int{packet.IP: 1540, packet.Wire: 1622} {
		q := packet.NewQueue(lengths)
		q.Push(&packet.Packet{Size: 1500})
		q.Push(&packet.Packet{Size: 40})
		if got := q.Bytes(); got != want {
			t.Errorf("%d bytes, want %d", got, want)
		}
		for q.Pop() != nil {
		}
		if got := q.Bytes(); got != 0 {
			t.Errorf("an empty queue has %d bytes", got)
		}
	}
}
