package fabric

import (
	"time"

	"aqmlab/switch/packet"
	"aqmlab/switch/port"
)

// entrance is the ingress side of one switch port: a chain of what each packet
// passes that the port's link brings, in the order of the fields.
type entrance struct {
	watch   []func(now time.Duration, k *packet.Packet)
	intake  *intake                                   // counts the packets of the link; nil without flow control
	gate    *port.Ingress                             // holds pure ACKs back; nil without one
	forward func(now time.Duration, k *packet.Packet) // to the port that leads on

	take func(now time.Duration, k *packet.Packet) // the whole chain
	from *wire                                     // of the link; nil when it comes from a switch that is not carried
}

// build puts the chain together. A switch whose chains consist of its forwarder
// alone has the same function at all its links.
func (in *entrance) build() {
	in.take = in.forward
	if in.gate != nil {
		in.take = in.gate.Enter
	}
	if in.intake != nil {
		in.take = in.intake.before(in.take)
	}
	for _, watch := range in.watch {
		next := in.take
		in.take = func(now time.Duration, k *packet.Packet) {
			watch(now, k)
			next(now, k)
		}
	}
	if in.from != nil {
		in.from.lead(in.take)
	}
}
