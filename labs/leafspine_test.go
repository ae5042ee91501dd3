package labs_test

import (
	"reflect"
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
	if w := l.Workload; w.Pattern != "all-to-all" || w.Flows != 50_000 || len(w.Services) != 7 || w.ServiceBy != "pair" {
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

// The large simulation of ECN# has the parameters that section 5.3 gives.
func TestECNSharpLeafSpineLab(t *testing.T) {
	l := load(t, "ecnsharp/fig13")
	spec, err := l.Fabric("ecn-sharp", 1)
	if err != nil {
		t.Fatal(err)
	}
	if l.Source != (labs.Source{Paper: "ecnsharp", Experiment: "ecnsharp-fig13"}) || len(spec.Hosts) != 128 || len(spec.Switches) != 16 {
		t.Errorf("source %+v, %d hosts, %d switches", l.Source, len(spec.Hosts), len(spec.Switches))
	}
	for _, link := range spec.Links {
		if link.Rate != 10*units.Gbps {
			t.Errorf("link %s to %s at %v", link.A, link.B, link.Rate)
		}
	}
	if l.RTT.Min != 80*us || l.RTT.Max != 240*us || l.RTT.Distribution.Kind != "long-tail" {
		t.Errorf("rtt %+v", l.RTT)
	}
	var names []string
	for _, s := range l.Schemes {
		names = append(names, s.Name)
	}
	if want := []string{"dctcp-red-tail", "dctcp-red-avg", "codel", "ecn-sharp"}; !reflect.DeepEqual(names, want) || l.Baseline != want[0] {
		t.Errorf("schemes %v against %s", names, l.Baseline)
	}
	if len(l.Seeds) != 3 || l.Workload.Sizes.Kind != "websearch" || l.Workload.Pattern != "inter-rack" {
		t.Errorf("seeds %v, workload %+v", l.Seeds, l.Workload)
	}
}
