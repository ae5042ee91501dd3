package fabric

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"aqmlab/switch/packet"
)

// TestDelayOfConnection: it is the time by which the network delays the packets
// of that connection.
func TestDelayOfConnection(t *testing.T) {
	delays := []time.Duration{us, 2 * us, 3 * us, 5 * us, 8 * us, 13 * us, 21 * us}
	for n := range len(delays) + 1 {
		t.Run(fmt.Sprint(n, " classes"), func(t *testing.T) {
			spec := slow(delays[:n]...)
			for port := range uint16(50) {
				src := netip.AddrPortFrom(spec.Hosts[0].Addr, 40000+port)
				dst := netip.AddrPortFrom(spec.Hosts[1].Addr, 5001)
				r := newRig(t, spec)
				r.sendFlow(0, packet.HashTCP(src, dst), false)
				r.RunUntil(time.Second)
				if got, told := r.arrivals()[0], spec.Hosts[0].Delay(src, dst); got != told {
					t.Errorf("%v: held back for %v, told %v", src, got, told)
				}
			}
		})
	}
}
