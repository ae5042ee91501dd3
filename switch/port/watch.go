package port

import (
	"time"

	"aqmlab/switch/packet"
)

// Watch is told what becomes of a packet of queue q: when it leaves the port, or
// when it is dropped, before it is released. It must neither keep nor change the
// packet, and not allocate.
type Watch func(now time.Duration, q int, k *packet.Packet, f Fate)

// Fate is what became of a packet at a port.
type Fate uint8

// The fates. Whatever is not dropped has left.
const (
	Sent               Fate = iota // as it came
	MarkedOnArrival                // CE set when it joined its queue
	MarkedOnDeparture              // CE set when it left its queue
	DroppedFull                    // the buffer had no room
	DroppedOnArrival               // by the scheme, before it joined its queue
	DroppedOnDeparture             // by the scheme, when it left its queue
)

// Dropped tells whether the packet is gone.
func (f Fate) Dropped() bool { return f >= DroppedFull }

// fateOf is that of a packet that leaves, which was or was not marked by then,
// and before its departure.
func fateOf(before, marked bool) Fate {
	switch {
	case before:
		return MarkedOnArrival
	case marked:
		return MarkedOnDeparture
	}
	return Sent
}
