package simulated

import (
	"testing"
	"time"

	"aqmlab/labs"
)

// TestStack: modelled hosts do what Linux does unless the lab says otherwise;
// where losses are found otherwise they are plain too.
func TestStack(t *testing.T) {
	for name, tt := range map[string]struct {
		lab   string
		linux bool
		open  time.Duration
	}{
		"default":         {"rtt: 250us\nhost: {rto_min: 10ms}\n", true, 10250 * time.Microsecond},
		"no RTT is known": {"", true, 0},
		"plain":           {"host: {stack: plain}\n", false, 0},
		"another repair":  {"host: {loss_recovery: sack}\n", false, 0},
	} {
		lab, err := labs.Parse("x.yaml", []byte("name: x\ntopology: {kind: star, hosts: 3, rate: 1Gbps}\nschemes: [{name: droptail, aqm: droptail}]\nworkload: {flows: 1}\n"+tt.lab))
		if err != nil {
			t.Fatal(err)
		}
		c, err := Config(lab, "droptail", lab.Workload.Load[0], 1)
		if err != nil {
			t.Fatal(err)
		}
		h := c.TCP
		for what, on := range map[string]bool{
			"super-packets": h.SuperPacket == 45*1448, "held windows": h.Hold, "validated windows": h.Validation,
			"quick ACKs": h.QuickAcks == 16, "a receive buffer": h.Receive.Buffer == 131072,
		} {
			if on != tt.linux {
				t.Errorf("%s: %s: %v, want %v", name, what, on, tt.linux)
			}
		}
		if h.RTOOpen != tt.open {
			t.Errorf("%s: timeout of open connections %v, want %v", name, h.RTOOpen, tt.open)
		}
	}
}
