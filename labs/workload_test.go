package labs_test

import (
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/labs"
	"aqmlab/trafficgen"
	"aqmlab/units"
)

// prioritised is the lab of the TCN paper with PIAS: one strict queue above
// four of equal weight.
const prioritised = `topology: {rate: 1Gbps}
switch: {scheduler: {kind: sp, queues: 5, strict: 1, inner: {kind: dwrr}}}
schemes: [{name: droptail, aqm: droptail}]
`

// parsed reads a lab file and the one that it is written as, which must be the
// same.
func parsed(t *testing.T, file string) *labs.Lab {
	t.Helper()
	l, err := labs.Parse("x.yaml", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	written, err := l.YAML()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := labs.Parse("x.yaml", written); err != nil || !reflect.DeepEqual(again, l) {
		t.Errorf("written as\n%s\nand read as %v\n%+v\nwant\n%+v", written, err, again, l)
	}
	return l
}

func TestPIAS(t *testing.T) {
	for value, want := range map[string][]units.Size{
		"":                        nil,
		"pias: 100KB":             {100_000},
		"pias: [20KB]":            {20_000},
		"pias: none":              nil,
		"pias: 100KB\n  flows: 3": {100_000},
	} {
		l := parsed(t, prioritised+"workload:\n  services: 4\n  "+value+"\n")
		if got := l.Tagging().Thresholds; !slices.Equal(got, want) {
			t.Errorf("%q gives thresholds %v, want %v", value, got, want)
		}
	}
	two := strings.NewReplacer("queues: 5", "queues: 6", "strict: 1", "strict: 2").Replace(prioritised)
	l := parsed(t, two+"workload: {services: 4, pias: [20KB, 100KB]}\n")
	if tag := l.Tagging(); tag.DSCP(3, 50_000) != 1 || tag.DSCP(3, 100_000) != 5 {
		t.Errorf("tagging %+v", tag)
	}
	path := write(t, "x.yaml", two+"workload: {services: 4}\n")
	if got := load(t, path, "workload.pias=20KB,100KB").Tagging().Thresholds; !slices.Equal(got, []units.Size{20_000, 100_000}) {
		t.Errorf("--set gives thresholds %v", got)
	}
	// The lab's own thresholds are out of reach.
	l.Tagging().Thresholds[0] = 1
	if l.Workload.PIAS[0] != 20_000 {
		t.Error("a change of the tagging reached the lab")
	}
}

// Query traffic beside web search, as in the microscopic view of the ECN#
// paper, with what background takes from the workload and what it has itself.
const queried = `topology: {hosts: 17, rate: 10Gbps}
schemes: [{name: droptail, aqm: droptail}]
workload: {sizes: websearch, load: [0.3, 0.5], transfer: push, connections: 0, handshake: false}
background:
  - {name: queries, arrival: {kind: incast, fan_out: 100, queries: 1, start: 4s}, sizes: {kind: uniform, min: 3KB, max: 60KB}, transfer: push}
  - {name: mice, sizes: {kind: pareto, mean: 50KB, shape: 1.2}, load: 0.1, flows: 50, pattern: all-to-all}
`

func TestBackground(t *testing.T) {
	l := parsed(t, queried)
	spec := l.Traffic(0.5, 7)
	want := []trafficgen.Spec{
		{
			Flows: 1000, Pattern: "many-to-one", Services: []int{1}, ServiceBy: "flow", SharesOf: "flows", Push: true,
			Sizes:   kind.Choice{Kind: "uniform", Params: map[string]any{"min": "3KB", "max": "60KB"}},
			Arrival: kind.Choice{Kind: "incast", Params: map[string]any{"fan_out": 100, "queries": 1, "start": "4s"}},
		},
		{
			Flows: 50, Pattern: "all-to-all", Services: []int{1}, ServiceBy: "flow", SharesOf: "flows", Load: 0.1,
			Sizes:   kind.Choice{Kind: "pareto", Params: map[string]any{"mean": "50KB", "shape": 1.2}},
			Arrival: kind.Choice{Kind: "poisson"},
		},
	}
	if !reflect.DeepEqual(spec.Background, want) {
		t.Errorf("got\n%+v\nwant\n%+v", spec.Background, want)
	}
	flows, err := trafficgen.Trace(spec)
	if err != nil {
		t.Fatal(err)
	}
	counts := make([]int, 3)
	for _, f := range flows {
		counts[f.Workload]++
		if at4s := f.Start == 4*time.Second; at4s != (f.Workload == 1) || f.Push != (f.Workload < 2) {
			t.Fatalf("flow %+v", f)
		}
	}
	if !slices.Equal(counts, []int{1000, 100, 50}) {
		t.Errorf("flows by workload %v", counts)
	}
	spec.Background[0].Arrival.Params["fan_out"] = 5
	if l.Background[0].Arrival.Params["fan_out"] != 100 {
		t.Error("a change of the spec reached the lab")
	}
}

func TestBackgroundOverrides(t *testing.T) {
	bare := write(t, "y.yaml", base)
	if _, err := labs.Load(bare, labs.Options{Set: []string{"background.mice.flows=1"}}); err == nil || !strings.HasSuffix(err.Error(), `unknown background "mice": the lab has none`) {
		t.Errorf("no background: error %v", err)
	}
	path := write(t, "x.yaml", queried)
	t.Setenv("AQMLAB_BACKGROUND_MICE_FLOWS", "60")
	l := load(t, path, "background.queries.arrival.fan_out=25", "background.mice.load=0.2", "background.mice.sizes=cache")
	if got := l.Background[0].Arrival.Params["fan_out"]; got != 25 {
		t.Errorf("fan-out %v, want 25", got)
	}
	if b := l.Background[1]; b.Flows != 60 || !slices.Equal(b.Load, []float64{0.2}) || b.Sizes.Kind != "cache" || b.Sizes.Params != nil {
		t.Errorf("background %+v", b)
	}
	for set, want := range map[string]string{
		"background.mouse.flows=1": `unknown background "mouse": want one of queries, mice`,
		"background.mice.flow=1":   `unknown key "flow": want one of pattern, host, load, flows, services, service_by, shares_of, service_sizes, transfer, arrival, sizes (did you mean flows?)`,
		"background.mice.flows=0":  `background.mice.flows: 0 is outside 1 to 100000000`,
	} {
		if _, err := labs.Load(path, labs.Options{Set: []string{set}}); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("--set %s: error %v, want %s", set, err, want)
		}
	}
}

// A trace and a table of sizes are found from the folder of the lab file, those
// of background as well.
func TestFilesOfTraffic(t *testing.T) {
	path := write(t, "x.yaml", `topology: {rate: 1Gbps, hosts: 144}
schemes: [{name: droptail, aqm: droptail}]
workload: {arrival: {kind: trace, file: flows.csv}}
background: [{name: b, arrival: {kind: trace, name: leafspine-144}, sizes: {kind: cdf, file: sizes.csv}}]
`)
	dir := filepath.Dir(path)
	for name, text := range map[string]string{
		"flows.csv": "start,client,server,bytes\n1ms,0,143,1000\n",
		"sizes.csv": "1000,0\n2000,1\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l := load(t, path)
	if got, want := l.Workload.Arrival.Params["file"], filepath.Join(dir, "flows.csv"); got != want {
		t.Errorf("trace %v, want %s", got, want)
	}
	if got, want := l.Background[0].Sizes.Params["file"], filepath.Join(dir, "sizes.csv"); got != want {
		t.Errorf("sizes %v, want %s", got, want)
	}
	if flows, err := trafficgen.Trace(l.Traffic(0.5, 1)); err != nil || len(flows) != 201 {
		t.Errorf("%d flows, %v; want 201", len(flows), err)
	}
}

// TestServiceSizes: what a lab says of the sizes of services is what its flows are drawn by.
func TestServiceSizes(t *testing.T) {
	l := load(t, write(t, "x.yaml", base+"workload: {service_sizes: [cache, hadoop]}\nbackground: [{name: b, service_sizes: [websearch], flows: 1}]\n"))
	spec := l.Traffic(0.5, 1)
	if want := []kind.Choice{{Kind: "cache"}, {Kind: "hadoop"}}; !reflect.DeepEqual(spec.ServiceSizes, want) {
		t.Errorf("%+v, want %+v", spec.ServiceSizes, want)
	}
	if want := []kind.Choice{{Kind: "websearch"}}; !reflect.DeepEqual(spec.Background[0].ServiceSizes, want) {
		t.Errorf("%+v, want %+v", spec.Background[0].ServiceSizes, want)
	}
}

// TestFiles: the files that a lab is read with beside its own are known by their absolute
// paths, once each, wherever in the lab they stand. What ships with aqmlab is none.
func TestFiles(t *testing.T) {
	if files := load(t, write(t, "x.yaml", "topology: {file: topologies/star8.clab.yml, rate: 1Gbps}\nschemes: [{name: d, aqm: droptail}]\n")).Files(); files != nil {
		t.Errorf("of the book: %q", files)
	}
	path := write(t, "x.yaml", base+`rtt: {min: 100us, max: 300us, distribution: {kind: cdf, file: rtts.csv}}
background:
  - {name: a, sizes: {kind: cdf, file: sizes.csv}, flows: 1}
  - {name: b, sizes: websearch, flows: 1}
  - {name: c, sizes: {kind: cdf, file: sizes.csv}, flows: 1}
`)
	dir := filepath.Dir(path)
	for name, text := range map[string]string{"rtts.csv": "10us,0\n20us,1\n", "sizes.csv": "1000,0\n2000,1\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{filepath.Join(dir, "rtts.csv"), filepath.Join(dir, "sizes.csv")}
	if files := load(t, path).Files(); !slices.Equal(files, want) {
		t.Errorf("%q, want %q", files, want)
	}
	absolute := "workload: {sizes: {kind: cdf, file: " + want[1] + "}}\ntopology: {file: topologies/star8.clab.yml, rate: 1Gbps}\nschemes: [{name: d, aqm: droptail}]\nbackground: [{name: a, sizes: {kind: cdf, file: sizes.csv}, flows: 1}]\n"
	beside := filepath.Join(dir, "y.yaml")
	if err := os.WriteFile(beside, []byte(absolute), 0o600); err != nil {
		t.Fatal(err)
	}
	if files := load(t, beside).Files(); !slices.Equal(files, want[1:]) {
		t.Errorf("%q, want %q", files, want[1:])
	}
}

func TestBadTraffic(t *testing.T) {
	const key = "x.yaml:3: "
	for name, c := range map[string]struct{ file, want string }{
		"PIAS without unit":       {base + "workload: {pias: 100}\n", key + "workload.pias[0]: 100 has no unit: want a size such as 96KB or 2500B"},
		"PIAS falls":              {base + "workload: {pias: [20KB, 10KB]}\n", key + "workload.pias: threshold 10KB is not above 20KB: want rising thresholds above zero"},
		"PIAS under FIFO":         {base + "workload: {pias: 100KB}\n", key + "workload.pias: thresholds (1) and services (1) need 2 queues: switch.scheduler.queues is 1\n" + key + "workload.pias: each threshold needs a strict queue, which makes 1: switch.scheduler has 0: want sp"},
		"gap without PIAS":        {base + "workload: {pias_gap: 500us}\n", key + "workload.pias_gap: there are no priorities: want workload.pias"},
		"gap on fresh":            {prioritised + "workload: {pias: 100KB, pias_gap: 500us, connections: 0}\n", "x.yaml:4: workload.pias_gap: each flow has a connection of its own: want workload.connections above 0"},
		"PIAS beside background":  {prioritised + "workload: {pias: 100KB}\nbackground: [{name: b, services: 5}]\n", "x.yaml:4: workload.pias: thresholds (1) and services (5) need 6 queues: switch.scheduler.queues is 5"},
		"transfer":                {base + "workload: {transfer: psuh}\n", key + `workload.transfer: unknown transfer "psuh": want one of pull, push (did you mean push?)`},
		"service rule":            {base + "workload: {service_by: host}\n", key + `workload.service_by: unknown rule "host": want one of flow, pair, pair-number`},
		"service sizes":           {base + "workload: {service_sizes: [cache, fixed]}\n", key + `workload.service_sizes[1]: unknown sizes "fixed": want one of websearch, datamining, cache, hadoop, websearch-ns2, datamining-ns2`},
		"host":                    {base + "workload: {host: 0}\n", key + "workload.host: 0 is outside 1 to 65534"},
		"host beyond the others":  {base + "workload: {host: 10}\n", key + "workload: drawing flows: host: 9 is outside 0 to 8"},
		"handshake ahead":         {base + "workload: {handshake: false}\n", key + "workload.handshake: connections that are opened ahead have none in a flow: want workload.connections 0"},
		"one rack":                {base + "workload: {pattern: inter-rack}\n", key + "workload: drawing flows: pattern inter-rack: all hosts are in one rack: want at least two racks"},
		"parameter":               {base + "workload: {arrival: {kind: incast, fan_out: 0}}\n", key + "workload.arrival.fan_out: 0 is outside 1 to 100000"},
		"load of what":            {base + "workload: {load_of: bytes}\n", key + `workload.load_of: unknown count "bytes": want one of payload, wire`},
		"loads without use":       {base + "workload: {load: [0.1, 0.2], arrival: static}\n", key + "workload.load: 2 loads, but no flows start by the load: want one"},
		"static beyond the hosts": {base + "workload: {arrival: {kind: static, servers: [10]}}\n", key + "workload: drawing flows: arrival: static: client 1 or server 10 is outside 1 to 9"},
		"trace beyond the hosts":  {base + "workload: {arrival: {kind: trace, name: leafspine-144}}\n", key + "workload: drawing flows: arrival: trace: line 6: hosts 90 and 78: want 0 to 8"},

		"background no list":     {base + "background: {name: b}\n", key + "background: not a list of workloads: want at least one {name: queries, arrival: {kind: incast, fan_out: 100}}"},
		"background bare":        {base + "background: [incast]\n", key + "background[0]: not a workload: want one such as {name: queries, arrival: {kind: incast, fan_out: 100}}"},
		"background no name":     {base + "background: [{flows: 3}]\n", key + "background[0].name: missing: want a name such as queries"},
		"background twice":       {base + "background: [{name: b, flows: 3}, {name: b, flows: 3}]\n", key + `background[1].name: "b" is the name of the one on line 3, too`},
		"background two loads":   {base + "background: [{name: b, load: [0.1, 0.2]}]\n", key + "background.b.load: [0.1 0.2] is a list: want one load, or leave it out for that of the workload"},
		"background jitter":      {base + "background: [{name: b, jitter: 1us}]\n", key + `background.b.jitter: unknown key "jitter": want one of pattern, host, load, flows, services, service_by, shares_of, service_sizes, transfer, arrival, sizes`},
		"background connections": {base + "background: [{name: b, connections: 0}]\n", key + `background.b.connections: unknown key "connections": want one of pattern, host, load, flows, services, service_by, shares_of, service_sizes, transfer, arrival, sizes`},
		"background kind":        {base + "background: [{name: b, sizes: webserch}]\n", key + `background.b.sizes.kind: unknown kind "webserch": want one of websearch, datamining, cache, hadoop, websearch-ns2, datamining-ns2, pareto, fixed, uniform, cdf (did you mean websearch?)`},
		"background services":    {base + "background: [{name: b, services: 2}]\n", key + "background.b.services: 2 services: want at most one for each queue, switch.scheduler.queues is 1, or switch.classifier: map"},
		"background misfit":      {base + "background: [{name: b, host: 10}]\n", "x.yaml: workload: drawing flows: background 1: host: 9 is outside 0 to 8"},
	} {
		_, err := labs.Parse("x.yaml", []byte(c.file))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: got\n%v\nwant\n%s", name, err, c.want)
		}
	}
}

// A load list is of use when background alone goes by it.
func TestLoadOfBackground(t *testing.T) {
	parsed(t, base+"workload: {load: [0.1, 0.2], arrival: static}\nbackground: [{name: b, flows: 5}]\n")
	_, err := labs.Parse("x.yaml", []byte(base+"workload: {load: [0.1, 0.2], arrival: static}\nbackground: [{name: b, load: 0.3}]\n"))
	if err == nil || !strings.Contains(err.Error(), "no flows start by the load") {
		t.Errorf("background with a load of its own: error %v", err)
	}
}

// Load may count what packets are on the wire: 1448 bytes of payload in 1538. The
// key is written where it says so, and labs without it stay what they were.
func TestLoadOf(t *testing.T) {
	const traffic = "workload: {load: 0.9}\nbackground: [{name: a, flows: 5}, {name: b, load: 0.2}]\n"
	spec := parsed(t, base+traffic).Traffic(0.9, 1)
	if spec.Load != 0.9 || spec.Background[1].Load != 0.2 {
		t.Errorf("of payload: loads %v and %v", spec.Load, spec.Background[1].Load)
	}
	l := parsed(t, base+strings.Replace(traffic, "load: 0.9", "load: 0.9, load_of: wire", 1))
	spec = l.Traffic(0.9, 1)
	for i, got := range []float64{spec.Load / 0.9, spec.Background[1].Load / 0.2} {
		if want := 1448.0 / 1538; math.Abs(got-want) > 1e-12 {
			t.Errorf("load %d: %v of it is payload, want %v", i, got, want)
		}
	}
	if spec.Background[0].Load != 0 {
		t.Errorf("the background without a load has %v, want none of its own", spec.Background[0].Load)
	}
	for lab, want := range map[*labs.Lab]bool{l: true, parsed(t, base): false} {
		yaml, err := lab.YAML()
		if err != nil || strings.Contains(string(yaml), "load_of: wire") != want || !want && strings.Contains(string(yaml), "load_of") {
			t.Errorf("written as %v\n%s", err, yaml)
		}
	}
}

// The flows of the first labs are what they were before there were arrivals
// other than poisson: what is added to the traffic leaves them alone.
func TestTracesStay(t *testing.T) {
	for name, want := range map[string]string{
		"quickstart": "073e54f4589c7536",
		"smoke":      "196bd25b0c84d061",
		"tcn/fig6":   "33c4e2ee69f2d9c1",
	} {
		l, hash := load(t, name, "workload.load_of=payload"), sha256.New()
		for _, load := range l.Workload.Load {
			for _, seed := range l.Seeds {
				flows, err := trafficgen.Trace(l.Traffic(load, seed))
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range flows {
					fmt.Fprintln(hash, f.ID, int64(f.Start), f.Client, f.Server, f.Bytes, f.Service)
				}
			}
		}
		if got := fmt.Sprintf("%x", hash.Sum(nil)[:8]); got != want {
			t.Errorf("%s: the traces have the hash %s, want %s", name, got, want)
		}
	}
}
