package packet

// OnWire is what a packet of that many network-layer bytes takes on the wire: what
// links, limiters and the times of packets in queues count.
func OnWire(size int) int { return max(size, leastPayload) + FrameOverhead }

// Lengths says what the length of a packet is where lengths are added up: in the
// occupancy of queues, and with it in buffers, thresholds and quanta. The zero
// Lengths is [IP].
type Lengths uint8

// What lengths may count.
const (
	// IP counts network-layer bytes, 1500 of a full packet. Simulators like ns-2 do,
	// where a packet has no frame.
	IP Lengths = iota
	// Wire counts what the packet takes on the wire, 1538 bytes of a full one, as the
	// kernel modules of MQ-ECN and TCN do. A length is then a time at the link's rate.
	Wire
)

// Of is the length of a packet of that many network-layer bytes.
func (l Lengths) Of(size int) int {
	if l == Wire {
		return OnWire(size)
	}
	return size
}
