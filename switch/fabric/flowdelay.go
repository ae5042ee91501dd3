package fabric

import (
	"net/netip"
	"time"

	"aqmlab/switch/packet"
)

// Delay is how long the host holds back what it sends on a TCP connection over
// IPv4 from src to dst, pure ACKs excepted.
func (h Host) Delay(src, dst netip.AddrPort) time.Duration {
	if len(h.Delays) == 0 {
		return 0
	}
	return h.Delays[class(packet.HashTCP(src, dst), len(h.Delays))]
}
