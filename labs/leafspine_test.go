package labs_test

import (
	"testing"
	"time"

	"aqmlab/labs"
	"aqmlab/units"
)

// The large simulation of TCN has the parameters that section 6.2.1 gives.
func TestTCNLeafSpineLab(t *testing.T) {
	l := load(t, "tcn/fig10")
	if l.Source != (labs.Source{Paper: "tcn", Experiment: "tcn-fig10"}) || l.Topology.Kind != "leaf-spine" || l.Topology.Hosts != 144 {
		t.Errorf("source %+v, topology %+v", l.Source, l.Topology)
	}
	if h := l.Host; h.Transport != "dctcp" || h.InitCwnd != 16 || h.RTOMin != 5*time.Millisecond || h.RTOInitial != 5*time.Millisecond {
		t.Errorf("host %+v", h)
	}
	if s := l.Switch; s.Buffer.PerPort != 300*units.KB || s.Queues != 8 || s.Scheduler.Kind != "sp" || s.Scheduler.Params["strict"] != 1 {
		t.Errorf("switch %+v", s)
	}
	if tag := l.Tagging(); tag.DSCP(6, 99_999) != 0 || tag.DSCP(0, 100_000) != 1 || tag.DSCP(6, 100_000) != 7 {
		t.Errorf("tagging %+v", tag)
	}
	if w := l.Workload; w.Pattern != "all-to-all" || w.Flows != 50_000 || len(w.Services) != 7 || w.ServiceBy != "pair-number" || w.SharesOf != "bytes" {
		t.Errorf("workload %+v", w)
	}
	// 65 packets of 1500 bytes, and 80 us between any two hosts.
	if k := l.Schemes[0].AQM.Params["threshold"]; k != "97.5KB" || l.Baseline != "per-queue-standard" {
		t.Errorf("threshold %v of %s", k, l.Baseline)
	}
	p := newPinger(t, l, 1)
	// An empty segment and its ACK take 78 bytes on four links each, both ways.
	const transmission = 2 * 4 * 78 * 8 / 10 * time.Nanosecond
	if got := p.ping(t, 0, 143, 7) - transmission; !near(got, 80*us) {
		t.Errorf("base RTT %v, want 80 us", got)
	}
}
