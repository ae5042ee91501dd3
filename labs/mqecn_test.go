package labs_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/labs"
	"aqmlab/switch/port"
	"aqmlab/trafficgen"
	"aqmlab/units"
)

// The testbed of MQ-ECN has the parameters that section 5.1 gives, and its two
// labs differ in the services alone.
func TestMQECNTestbed(t *testing.T) {
	l, unequal := load(t, "mqecn/fig7"), load(t, "mqecn/fig8")
	if l.Source != (labs.Source{Paper: "mqecn", Experiment: "mqecn-fig7"}) || l.Topology.Hosts != 9 || l.Topology.Rate != units.Gbps || l.RTT.Min != 250*us {
		t.Errorf("source %+v, topology %+v, rtt %+v", l.Source, l.Topology, l.RTT)
	}
	if h := l.Host; h.Transport != "dctcp" || h.RTOMin != 10*time.Millisecond {
		t.Errorf("host %+v", h)
	}
	if s := l.Switch; s.Buffer.PerPort != 96*units.KB || s.Queues != 4 || s.Scheduler.Kind != "dwrr" || s.Scheduler.Params["quantum"] != "1500B" ||
		s.Limiter != (port.Limiter{RateFraction: 0.995, Bucket: 2500}) {
		t.Errorf("switch %+v", s)
	}
	thresholds(t, l, "32KB", "32KB", "8KB")
	if !slices.Equal(l.Workload.Services, []int{1, 1, 1, 1}) || !slices.Equal(unequal.Workload.Services, []int{1, 2, 3, 4}) {
		t.Errorf("services %v and %v", l.Workload.Services, unequal.Workload.Services)
	}
	unequal.Name, unequal.Title, unequal.Source, unequal.Workload.Services = l.Name, l.Title, l.Source, l.Workload.Services
	if !reflect.DeepEqual(l, unequal) {
		t.Errorf("more differs than the services:\n%+v\n%+v", l, unequal)
	}
}

// The large simulations of MQ-ECN have the parameters that sections 5.2 and 5.3
// give: thresholds of 65 or 84 packets, and the minimum by the number of queues.
func TestMQECNLeafSpines(t *testing.T) {
	for _, tt := range []struct {
		lab, scheduler, transport string
		queues                    int
		standard, minimum         string
	}{
		{"mqecn/fig9", "dwrr", "dctcp", 8, "97.5KB", "12187B"},
		{"mqecn/fig10", "wrr", "dctcp", 8, "97.5KB", "12187B"},
		{"mqecn/fig11", "dwrr", "dctcp", 32, "97.5KB", "3046B"},
		{"mqecn/fig12", "dwrr", "ecn-star", 8, "126KB", "15750B"},
	} {
		l := load(t, tt.lab)
		if l.Topology.Kind != "leaf-spine" || l.Topology.Hosts != 144 || l.Topology.Rate != 10*units.Gbps {
			t.Errorf("%s: topology %+v", tt.lab, l.Topology)
		}
		if h := l.Host; h.Transport != tt.transport || h.InitCwnd != 16 || h.RTOMin != 5*time.Millisecond || h.RTOInitial != 5*time.Millisecond {
			t.Errorf("%s: host %+v", tt.lab, h)
		}
		if s := l.Switch; s.Buffer.PerPort != 300*units.KB || s.Queues != tt.queues || s.Scheduler.Kind != tt.scheduler || s.Scheduler.Params["quantum"] != "1500B" {
			t.Errorf("%s: switch %+v", tt.lab, s)
		}
		if w := l.Workload; w.Pattern != "all-to-all" || w.Flows != 50_000 || len(w.Services) != tt.queues || w.ServiceBy != "pair-number" || w.SharesOf != "bytes" || len(w.ServiceSizes) != 4 {
			t.Errorf("%s: workload %+v", tt.lab, w)
		}
		thresholds(t, l, tt.standard, tt.standard, tt.minimum)
	}
}

// thresholds are those of the standard, of MQ-ECN and of the minimum.
func thresholds(t *testing.T, l *labs.Lab, want ...string) {
	t.Helper()
	var got []string
	for _, s := range l.Schemes {
		got = append(got, s.AQM.Params["threshold"].(string))
	}
	if !slices.Equal(got, want) || l.Schemes[1].AQM.Params["beta"] != 0.75 || l.Baseline != "per-queue-standard" {
		t.Errorf("%s: thresholds %s against %s, want %v", l.Name, strings.Join(got, " "), l.Baseline, want)
	}
}

// Eight flows use one queue, then two, four and eight, each from a sender of its
// own. MQ-ECN, section 2.2.1.
func TestMQECNPhases(t *testing.T) {
	l := load(t, "mqecn/fig1")
	flows, err := trafficgen.Trace(l.Traffic(l.Workload.Load[0], 1))
	if err != nil {
		t.Fatal(err)
	}
	for phase, queues := range []int{1, 2, 4, 8} {
		start := time.Duration(phase) * 2 * time.Second
		servers, services := map[int]int{}, map[int]int{}
		for _, f := range flows {
			if f.Start.Truncate(2*time.Second) != start { // with jitter, and lab time begins above zero
				continue
			}
			servers[f.Server]++
			services[f.Service]++
			if f.Stop != start+2*time.Second {
				t.Errorf("phase %d: a flow from %v to %v", phase, f.Start, f.Stop)
			}
		}
		if len(servers) != 8 || len(services) != queues {
			t.Errorf("phase %d: flows by server %v, by service %v, want 8 and %d", phase, servers, services, queues)
		}
		for service, n := range services {
			if n != 8/queues {
				t.Errorf("phase %d: %d flows of service %d, want %d", phase, n, service, 8/queues)
			}
		}
	}
}
