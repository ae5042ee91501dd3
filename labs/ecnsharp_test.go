package labs_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"aqmlab/labs"
	"aqmlab/trafficgen"
	"aqmlab/trafficgen/traffic"
	"aqmlab/units"
)

// The testbed of ECN# has the parameters that section 5.2 gives.
func TestECNSharpTestbed(t *testing.T) {
	l := load(t, "ecnsharp/fig9")
	if l.Source != (labs.Source{Paper: "ecnsharp", Experiment: "ecnsharp-fig9"}) || l.Topology.Hosts != 8 || l.Topology.Rate != 10*units.Gbps {
		t.Errorf("source %+v, topology %+v", l.Source, l.Topology)
	}
	if l.RTT.Min != 70*us || l.RTT.Max != 210*us || l.RTT.At != "sender" || l.Switch.Queues != 1 || l.Host.Transport != "dctcp" {
		t.Errorf("rtt %+v, switch %+v, host %+v", l.RTT, l.Switch, l.Host)
	}
	if w := l.Workload; len(w.Load) != 9 || w.Sizes.Kind != "websearch" || w.Pattern != "many-to-one" || len(l.Seeds) != 3 {
		t.Errorf("workload %+v, seeds %v", w, l.Seeds)
	}
	if tail, avg := l.Schemes[0].AQM, l.Schemes[1].AQM; tail.Params["threshold"] != "250KB" || avg.Params["threshold"] != "80KB" {
		t.Errorf("thresholds of %+v and %+v", tail, avg)
	}
	if p := l.Schemes[2].AQM; p.Kind != "codel" || p.Params["target"] != "85us" || p.Params["interval"] != "200us" || p.Params["action"] != "mark" {
		t.Errorf("CoDel %+v", p)
	}
	if p := l.Schemes[3].AQM; p.Kind != "ecn-sharp" || p.Params["ins_target"] != "200us" || p.Params["pst_interval"] != "200us" || p.Params["pst_target"] != "85us" {
		t.Errorf("ECN# %+v", p)
	}
	other := load(t, "ecnsharp/fig10")
	if other.Workload.Sizes.Kind != "datamining" {
		t.Errorf("Fig. 10 has sizes of %s", other.Workload.Sizes.Kind)
	}
	other.Name, other.Title, other.Source, other.Workload.Sizes = l.Name, l.Title, l.Source, l.Workload.Sizes
	if !reflect.DeepEqual(l, other) {
		t.Errorf("more differs than the sizes:\n%+v\n%+v", l, other)
	}
}

// The wider a range of RTTs, the higher are both of its thresholds: that of
// threefold RTTs is the paper's.
func TestECNSharpThresholdsFollowRTTs(t *testing.T) {
	for _, of := range []struct {
		labs   []string
		scheme string
	}{
		{[]string{"ecnsharp/fig3", "ecnsharp/fig9", "ecnsharp/fig11-4x", "ecnsharp/fig11"}, "dctcp-red-tail"},
		{[]string{"ecnsharp/fig3", "ecnsharp/fig3-5x"}, "dctcp-red-avg"},
	} {
		var k []units.Size
		for _, name := range of.labs {
			l := load(t, name)
			i := slices.IndexFunc(l.Schemes, func(s labs.Scheme) bool { return s.Name == of.scheme })
			size, err := units.ParseSize(l.Schemes[i].AQM.Params["threshold"].(string))
			if err != nil {
				t.Fatal(err)
			}
			k = append(k, size)
		}
		if !slices.IsSorted(k) {
			t.Errorf("%s: thresholds %v of %v", of.scheme, k, of.labs)
		}
	}
}

// The large simulation of ECN# has the parameters that section 5.3 gives, and
// loads that the racks' uplinks carry.
func TestECNSharpLeafSpine(t *testing.T) {
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
	if want := []string{"dctcp-red-tail", "dctcp-red-avg", "codel", "ecn-sharp"}; !slices.Equal(names, want) || l.Baseline != want[0] {
		t.Errorf("schemes %v against %s", names, l.Baseline)
	}
	if len(l.Seeds) != 3 || l.Workload.Sizes.Kind != "websearch" || l.Workload.Pattern != "inter-rack" {
		t.Errorf("seeds %v, workload %+v", l.Seeds, l.Workload)
	}
	// 16 hosts share eight uplinks of their own rate.
	if most := slices.Max(l.Workload.Load) * 16 / 8; most != 0.9 {
		t.Errorf("the highest load is %v of the uplinks, want 0.9", most)
	}
}

// The queries of section 5.4.1: 100 responses of 3 KB to 60 KB at 4 s, and in Fig.
// 17 from 25 to 200, all beside other traffic.
func TestECNSharpQueries(t *testing.T) {
	for lab, want := range map[string][]int{
		"ecnsharp/fig16": {100},
		"ecnsharp/fig17": {25, 50, 75, 100, 125, 150, 175, 200},
	} {
		l := load(t, lab)
		flows, err := trafficgen.Trace(l.Traffic(l.Workload.Load[0], 1))
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		first := time.Duration(0)
		last := map[int]int{}
		for _, f := range flows {
			if f.Workload == 0 {
				continue
			}
			if f.Bytes < 3000 || f.Bytes > 60_000 || f.Client != 0 {
				t.Errorf("%s: response %+v", lab, f)
			}
			if last[f.Workload]++; len(got) == 0 {
				first = f.Start
			}
			if last[f.Workload] == 1 {
				got = append(got, f.Workload)
			}
		}
		for i, number := range got {
			got[i] = last[number]
		}
		if l.Topology.Hosts != 17 || first != 4*time.Second || !slices.Equal(got, want) {
			t.Errorf("%s: %d hosts, queries of %v from %v on, want %v from 4s on", lab, l.Topology.Hosts, got, first, want)
		}
		if end := traffic.End(flows); end < 8*time.Second {
			t.Errorf("%s: the traffic beside the queries ends at %v", lab, end)
		}
	}
}

// The policy of section 5.4.3: DWRR 2:1:1 with a long flow in each queue, and TCN
// at 150 us beside ECN#.
func TestECNSharpPolicy(t *testing.T) {
	l := load(t, "ecnsharp/fig20b")
	if s := l.Switch; s.Queues != 3 || s.Scheduler.Kind != "dwrr" || !reflect.DeepEqual(s.Scheduler.Params["weights"], []any{2, 1, 1}) {
		t.Errorf("switch %+v", s)
	}
	if k := l.Schemes[0].AQM; k.Kind != "tcn" || k.Params["threshold"] != "150us" {
		t.Errorf("TCN %+v", k)
	}
	flows, err := trafficgen.Trace(l.Traffic(l.Workload.Load[0], 1))
	if err != nil {
		t.Fatal(err)
	}
	long, queues := 0, map[int]bool{}
	for _, f := range flows {
		if f.Workload == 0 {
			long++
		} else {
			queues[f.Service] = true
		}
	}
	if long != 3 || len(queues) != 3 {
		t.Errorf("%d long flows, short ones in queues %v", long, queues)
	}
}
