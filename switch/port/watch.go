package port

import (
	"time"

	"aqmlab/switch/packet"
)

// Watch is called when a packet of queue q leaves the port, and when it is dropped,
// before it is released. It must neither keep nor change the packet, and must not
// allocate.
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
	Fates                          // how many there are
)

// Dropped tells whether the packet is gone.
func (f Fate) Dropped() bool { return f >= DroppedFull }

// fateOf is the fate of a packet that leaves: whether it was marked before its
// departure, and whether it is marked now.
func fateOf(before, marked bool) Fate {
	switch {
	case before:
		return MarkedOnArrival
	case marked:
		return MarkedOnDeparture
	}
	return Sent
}
