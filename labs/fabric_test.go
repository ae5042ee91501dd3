package labs_test

import (
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/labs"
	"aqmlab/switch/aqm"
	"aqmlab/switch/fabric"
	"aqmlab/switch/packet"
	"aqmlab/switch/port"
	"aqmlab/trafficgen"
	"aqmlab/units"
)

func TestFabric(t *testing.T) {
	l := load(t, "quickstart")
	got, err := l.Fabric("tcn", 7)
	if err != nil {
		t.Fatal(err)
	}
	want := fabric.Spec{
		Switches: []string{"s1"},
		Seed:     7,
		Port: port.Spec{
			Rate:      units.Gbps,
			RTTs:      aqm.OneRTT(250 * time.Microsecond),
			Queues:    4,
			Buffer:    96 * units.KB,
			Sharing:   kind.Choice{Kind: "port"},
			Lengths:   packet.Wire,
			MTU:       1500,
			Limiter:   port.Limiter{RateFraction: 0.995, Bucket: 2500},
			Scheduler: kind.Choice{Kind: "dwrr"},
			Scheme:    kind.Choice{Kind: "tcn", Params: map[string]any{"threshold": "256us"}},
			Seed:      7,
		},
	}
	for i := 1; i <= 9; i++ {
		name := fmt.Sprintf("h%d", i)
		want.Hosts = append(want.Hosts, fabric.Host{Name: name, Addr: netip.MustParseAddr(fmt.Sprintf("10.77.0.%d", i))})
		// 250 us over two links there and back.
		want.Links = append(want.Links, fabric.Link{A: name, B: "s1", Rate: units.Gbps, Delay: 62500})
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}

// Addresses run on past the last byte and stay distinct.
func TestFabricOfManyHosts(t *testing.T) {
	l := load(t, "smoke", "topology.hosts=65534")
	spec, err := l.Fabric("tcn", 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range map[int]string{0: "10.77.0.1", 254: "10.77.0.255", 255: "10.77.1.0", 65533: "10.77.255.254"} {
		if got := spec.Hosts[i].Addr.String(); got != want {
			t.Errorf("address of %s is %s, want %s", spec.Hosts[i].Name, got, want)
		}
	}
}

func TestFabricOfAnUnknownScheme(t *testing.T) {
	_, err := load(t, "smoke").Fabric("tnc", 1)
	want := `laying out lab smoke: unknown scheme "tnc": want one of droptail, tcn`
	if !errors.Is(err, kind.ErrUnknown) || err.Error() != want+" (did you mean tcn?)" {
		t.Errorf("got %v, want %s", err, want)
	}
}

// A limiter that takes nothing away is off.
func TestFabricWithoutLimiter(t *testing.T) {
	spec, err := load(t, "smoke").Fabric("droptail", 1)
	if err != nil || spec.Port.Limiter != (port.Limiter{}) {
		t.Errorf("limiter %+v, %v", spec.Port.Limiter, err)
	}
}

func TestTraffic(t *testing.T) {
	got := load(t, "quickstart", "workload.services=3,2,1").Traffic(0.6, 5)
	want := trafficgen.Spec{
		Hosts: 9, Racks: make([]int, 9), Rate: units.Gbps, Load: 0.6, Flows: 200,
		Sizes: kind.Choice{Kind: "websearch"}, Arrival: kind.Choice{Kind: "poisson"},
		Pattern: "many-to-one", Services: []int{3, 2, 1}, ServiceBy: "flow", SharesOf: "flows", Seed: 5,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}

// Specs are handed to others: what they do to them must not reach the lab.
func TestSpecsAreCopies(t *testing.T) {
	l := load(t, "tcn/fig6")
	before := l.Hash()
	spec, err := l.Fabric("tcn", 1)
	if err != nil {
		t.Fatal(err)
	}
	spec.Port.Scheme.Params["threshold"] = "1s"
	spec.Port.Scheduler.Params["quantum"] = "9KB"
	l.Traffic(0.5, 1).Services[0] = 99
	if l.Hash() != before {
		t.Errorf("the lab has changed: %+v", l)
	}
}

// Every lab of the book draws its flows and builds its fabric.
func TestBook(t *testing.T) {
	entries, err := labs.Book()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name)
		if e.Title == "" {
			t.Errorf("%s has no title", e.Name)
		}
		t.Run(e.Name, func(t *testing.T) { testLab(t, e) })
	}
	for _, want := range []string{"quickstart", "smoke", "ecnsharp/fig13", "tcn/fig6", "tcn/sec6.1.1-sim"} {
		if !slices.Contains(names, want) {
			t.Errorf("the book has %v, want %s, too", names, want)
		}
	}
	if slices.ContainsFunc(names, func(n string) bool { return strings.Contains(n, "parts") }) {
		t.Errorf("the book has %v, some of which are parts", names)
	}
}

func testLab(t *testing.T, e labs.Entry) {
	l := load(t, e.Name)
	if name := strings.NewReplacer("/", "-", ".", "-").Replace(e.Name); l.Name != name || l.Title != e.Title {
		t.Errorf("lab %s, %q: the book says %+v", l.Name, l.Title, e)
	}
	if again := reload(t, l); !reflect.DeepEqual(l, again) {
		t.Errorf("wrote\n%+v\nand read\n%+v", l, again)
	}
	for _, s := range l.Schemes {
		if _, err := l.Fabric(s.Name, 1); err != nil {
			t.Error(err)
		}
	}
	for _, load := range l.Workload.Load {
		flows, err := trafficgen.Trace(l.Traffic(load, l.Seeds[0]))
		n := 0
		for _, f := range flows {
			if f.Workload == 0 {
				n++
			}
		}
		if err != nil || n == 0 || n != l.Workload.Flows && l.Workload.Arrival.Kind == "poisson" {
			t.Errorf("load %v: %d flows of the workload, %v", load, n, err)
		}
	}
}

// The isolation lab has the parameters that the paper gives (TCN, section
// 6.1.2).
func TestIsolationLab(t *testing.T) {
	l := load(t, "tcn/fig6")
	if l.Source != (labs.Source{Paper: "tcn", Experiment: "tcn-fig6"}) {
		t.Errorf("source %+v", l.Source)
	}
	if !reflect.DeepEqual(l.Topology, labs.Topology{Kind: "star", Hosts: 9, Rate: units.Gbps}) || l.RTT.Min != 250*time.Microsecond {
		t.Errorf("topology %+v, rtt %+v", l.Topology, l.RTT)
	}
	if l.Host.Transport != "dctcp" || l.Host.RTOMin != 10*time.Millisecond {
		t.Errorf("host %+v", l.Host)
	}
	if s := l.Switch; s.Buffer.PerPort != 96_000 || s.Queues != 4 || s.Scheduler.Kind != "dwrr" || s.Limiter != (port.Limiter{RateFraction: 0.995, Bucket: 2500}) {
		t.Errorf("switch %+v", s)
	}
	if w := l.Workload; len(w.Load) != 9 || w.Flows != 5000 || !reflect.DeepEqual(w.Services, []int{1, 1, 1, 1}) || w.Connections != 5 || w.Sizes.Kind != "websearch" {
		t.Errorf("workload %+v", w)
	}
	want := []labs.Scheme{
		{Name: "per-queue-standard", AQM: kind.Choice{Kind: "dctcp-red", Params: map[string]any{"threshold": "32KB"}}},
		{Name: "tcn", AQM: kind.Choice{Kind: "tcn", Params: map[string]any{"threshold": "256us"}}},
		{Name: "codel", AQM: kind.Choice{Kind: "codel", Params: map[string]any{"action": "mark", "target": "51.2us", "interval": "1024us"}}},
		{Name: "mq-ecn", AQM: kind.Choice{Kind: "mq-ecn", Params: map[string]any{"threshold": "32KB", "beta": 0.75}}},
	}
	if !reflect.DeepEqual(l.Schemes, want) || l.Baseline != "per-queue-standard" {
		t.Errorf("schemes %+v against %s", l.Schemes, l.Baseline)
	}
}
