//go:build linux

package wire

import (
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"aqmlab/kind"
	"aqmlab/units"
)

// tcpCounter reads one of the kernel's TCP counters inside host i.
func (b *bench) tcpCounter(t testing.TB, i int, name string) string {
	t.Helper()
	var value string
	in(t, b.hosts[i], func() error {
		text, err := os.ReadFile("/proc/thread-self/net/snmp")
		if err != nil {
			return err
		}
		var names []string
		for line := range strings.Lines(string(text)) {
			fields := strings.Fields(line)
			if fields[0] != "Tcp:" {
				continue
			}
			if names == nil {
				names = fields
				continue
			}
			value = fields[slices.Index(names, name)]
		}
		return nil
	})
	return value
}

// TestABQWithRealHosts: two senders overload a port. The receiving kernel's ACKs
// are held and marked, or their windows cut, while the port's queue is long, the
// transfers complete, and the senders take every ACK: its checksum is right.
func TestABQWithRealHosts(t *testing.T) {
	for name, params := range map[string]map[string]any{
		"echo":   {},
		"window": {"release": "share", "corrector": "window", "queue": "latest"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, 3)
			spec := queues(1, "fifo", "droptail")
			params["k"], params["floor"] = "6KB", "1500B"
			spec.Ingress = kind.Choice{Kind: "abq", Params: params}
			stop := b.start(t, b.spec(100*units.Mbps, spec), 2)
			l := b.listen(t, 0)
			var both sync.WaitGroup
			for sender := 1; sender <= 2; sender++ {
				c := b.dial(t, sender, 0, 0)
				both.Go(func() { transfer(t, l, c, 4<<20) })
			}
			both.Wait()
			r := stop()
			c := portTo(t, r, "h1").Ingress
			if c.Held == 0 || (c.MarkedECE > 0) != (name == "echo") || (c.Cut > 0) != (name == "window") || c.MarkedECE > c.Released || c.Released > c.Held || c.PeakPackets == 0 {
				t.Errorf("port to the receiver: %+v", c)
			}
			for sender := 1; sender <= 2; sender++ {
				if bad := b.tcpCounter(t, sender, "InCsumErrors"); bad != "0" {
					t.Errorf("sender %d threw %s segments away for their checksum", sender, bad)
				}
			}
		})
	}
}
