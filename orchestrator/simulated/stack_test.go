package simulated

import (
	"testing"
	"time"

	"aqmlab/labs"
	"aqmlab/orchestrator/backend"
	"aqmlab/results"
	"aqmlab/trafficgen/traffic"
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

// TestPortOfTheHost: a host that sends by a port of the switch hands that port all that its
// window allows, as a real host does (docs/fidelity.md, on links). So even one flow, whose
// way has no other bottleneck, is marked there. Small queues would keep it below any threshold.
func TestPortOfTheHost(t *testing.T) {
	lab := parse(t, func(l *labs.Lab) { l.Host.Port = labs.HostSwitchPort })
	p := backend.Point{Coord: results.Coord{Scheme: "tcn", Load: 0.3, Seed: 1}, Flows: []traffic.Flow{{Server: 1, Bytes: 2_000_000}}}
	got, err := Models{Lab: lab}.Measure(t.Context(), p, func(backend.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	marked := make(map[string]int64)
	for _, c := range got.Ports {
		marked[c.Switch] += c.Marked
	}
	if marked["h2"] == 0 {
		t.Errorf("marked %v: want some by the port of h2", marked)
	}
}
