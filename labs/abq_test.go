package labs_test

import (
	"slices"
	"strings"
	"testing"

	"aqmlab/labs"
	"aqmlab/switch/port"
	"aqmlab/trafficgen"
	"aqmlab/trafficgen/traffic"
	"aqmlab/units"
)

// The labs of ABQ are those of the article: 80 packets of buffer, K of 20, marks
// from 40 on, links of 40 us at 1 Gbps.
func TestABQLabs(t *testing.T) {
	entries, err := labs.Book()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, e := range entries {
		if !strings.HasPrefix(e.Name, "abq/") {
			continue
		}
		found++
		l := load(t, e.Name)
		names := []string{}
		for _, s := range l.Schemes {
			names = append(names, s.Name)
		}
		if !slices.Equal(names, []string{"droptail", "ecn", "abq", "abq-ecn"}) || l.Schemes[1].AQM.Params["threshold"] != "60KB" || l.Schemes[2].Ingress.Params["k"] != "30KB" {
			t.Errorf("%s: schemes %+v", e.Name, l.Schemes)
		}
		if l.Switch.Buffer.PerPort != 80*1500 || l.Topology.LinkDelay != 40*us || l.Topology.Rate != units.Gbps || l.Host.RTOMin != 10_000*us {
			t.Errorf("%s: switch %+v, topology %+v, host %+v", e.Name, l.Switch, l.Topology, l.Host)
		}
	}
	if found != 9 {
		t.Errorf("%d labs, want one for each of the nine experiments", found)
	}
}

// Ten incasts of 10, 20, ... 100 senders with 32 KB each; and short flows with a
// quarter of the bytes beside five long ones, in a tree of 1000.
func TestABQTraffic(t *testing.T) {
	fans := map[int]int{}
	for _, f := range trace(t, "abq/fig4a") {
		fans[f.Query]++
		if f.Bytes != 32_000 {
			t.Errorf("flow %+v", f)
		}
	}
	for n := range 10 {
		if fans[n+1] != 10*(n+1) {
			t.Errorf("query %d has %d flows", n+1, fans[n+1])
		}
	}
	long, short := 0, 0
	for _, f := range trace(t, "abq/table1") {
		if f.Bytes == 30_000_000 {
			long++
		} else {
			short++
		}
	}
	if l := load(t, "abq/table1"); l.Topology.Hosts != 1000 || long != 5 || short != 1000 {
		t.Errorf("%d hosts, %d long flows and %d short ones", l.Topology.Hosts, long, short)
	}
}

// trace is the traffic of a lab of the book.
func trace(t *testing.T, name string) []traffic.Flow {
	t.Helper()
	l, err := labs.FromBook(name, port.Kinds{})
	if err != nil {
		t.Fatal(err)
	}
	flows, err := trafficgen.Trace(l.Traffic(l.Workload.Load[0], 1))
	if err != nil {
		t.Fatal(err)
	}
	return flows
}
