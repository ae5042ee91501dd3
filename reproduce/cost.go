package reproduce

import (
	"time"

	"aqmlab/labs"
	"aqmlab/switch/packet"
	"aqmlab/trafficgen/traffic"
)

// What a data packet costs at each switch that it passes, with its ACK and all
// events between, on one core of the machine that aqmlab was written on.
const perPacketHop = 400 * time.Nanosecond

// What a guest takes to boot, look around and calibrate, and for a data packet
// with its ACK on a star (docs/uml.md).
const (
	guestStart     = 3.0 // seconds
	perGuestPacket = 20 * time.Microsecond
)

// cost is about how many seconds a point takes: of one core in virtual time, else
// of the wall, for the starts of its flows without dilation, which most machines
// need.
func (o Options) cost(l *labs.Lab, flows []traffic.Flow) float64 {
	switch {
	case o.modelled():
		return packets(l, flows) * float64(l.Topology.Hops()-1) * perPacketHop.Seconds()
	case o.virtual():
		return guestStart + packets(l, flows)*perGuestPacket.Seconds()
	}
	return traffic.End(flows).Seconds()
}

// packets is about how many data packets a trace has.
func packets(l *labs.Lab, flows []traffic.Flow) float64 {
	payload := float64(l.Host.MTU - packet.TCPHeaders)
	packets, longest := 0.0, map[int]time.Duration{} // by client: how long its endless flows last
	for _, f := range flows {
		if f.Stop > 0 {
			longest[f.Client] = max(longest[f.Client], f.Stop-f.Start)
			continue
		}
		packets += max(1, float64(f.Bytes)/payload)
	}
	for _, d := range longest {
		packets += d.Seconds() * float64(l.Topology.Rate) / 8 / payload
	}
	return packets
}
