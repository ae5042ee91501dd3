package labs_test

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/labs"
	"aqmlab/labs/inventory"
	"aqmlab/switch/aqm"
	"aqmlab/switch/port"
	"aqmlab/units"
)

// write puts a lab file into a folder of the test's own.
func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func load(t *testing.T, ref string, set ...string) *labs.Lab {
	t.Helper()
	l, err := labs.Load(ref, labs.Options{Set: set})
	if err != nil {
		t.Fatalf("loading %s with %q:\n%v", ref, set, err)
	}
	return l
}

// The defaults are those of the manual: everything but the rate and the schemes
// may be left out.
func TestDefaults(t *testing.T) {
	want := &labs.Lab{
		Name:     "my-lab-2",
		Topology: labs.Topology{Kind: "star", Hosts: 9, Rate: units.Gbps},
		RTT:      labs.RTT{Base: "links", Distribution: kind.Choice{Kind: "fixed"}},
		Host: labs.Host{
			Transport: "dctcp", InitCwnd: 10, RTOMin: 10 * time.Millisecond, MTU: 1500, IdleRestart: true, Port: "nic",
			RTOInitial: time.Second, RTOMax: 120 * time.Second, DelayedACK: 2, ACKTimeout: 40 * time.Millisecond,
			LossRecovery: "rack", Stack: "linux", SmallQueue: time.Millisecond, Kernel: "6.1",
		},
		Switch: labs.Switch{
			Lengths:   "wire",
			Buffer:    labs.Buffer{PerPort: units.MB, Sharing: "port"},
			Queues:    1,
			Scheduler: kind.Choice{Kind: "fifo"},
			Limiter:   port.Limiter{RateFraction: 1, Bucket: 2500},
		},
		Schemes: []labs.Scheme{{Name: "droptail", AQM: kind.Choice{Kind: "droptail"}}},
		Workload: labs.Workload{
			Arrival: kind.Choice{Kind: "poisson"}, Sizes: kind.Choice{Kind: "websearch"}, Pattern: "many-to-one",
			Host: 1, Load: []float64{0.6}, Flows: 1000, Services: []int{1}, ServiceBy: "flow", SharesOf: "flows",
			Transfer: "pull", LoadOf: "payload", Connections: 5, Handshake: true,
		},
		Probe:    labs.Probe{Services: []int{0}, Every: time.Millisecond},
		Capture:  labs.Capture{Snap: 128, Size: 64 * units.MB},
		Seeds:    []uint64{1},
		Baseline: "droptail",
		Rack:     inventory.Inventory{Port: 4789},
	}
	if got := load(t, write(t, "My Lab_2.yaml", base)); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}

// Every key, in its long and in its short forms.
func TestEveryKey(t *testing.T) {
	const file = `
name: all
title: Every key
source: {paper: tcn, experiment: tcn-fig6}
topology: {kind: star, hosts: 3, rate: 10Gbps}
rtt: {min: 85us, max: 255us, base: hosts, distribution: long-tail, per: host, at: sender, by: netem}
host:
  transport: {kind: dctcp, g: 0.125}
  init_cwnd: 16
  rto_min: 5ms
  rto_initial: 6ms
  rto_max: 1s
  delayed_ack: 1
  ack_timeout: 100us
  loss_recovery: sack
  stack: plain
  small_queue: 0s
  mtu: 9000
  idle_restart: false
  port: switch
  kernel: "6.12"
switch:
  buffer: {per_port: 300KiB, sharing: port}
  lengths: ip
  scheduler: {kind: dwrr, queues: 2, quantum: 18KB, weights: [2, 1]}
  limiter: {rate_fraction: 0.99, bucket: 10KB}
schemes:
  - {name: a, aqm: dctcp-red, threshold: minimum, lambda: 0.5}
  - {name: b, aqm: tcn, threshold: 1.5ms}
workload:
  arrival: {kind: poisson}
  sizes: {kind: uniform, min: 1KB, max: 2KB}
  service_sizes: [cache, hadoop]
  pattern: one-to-many
  host: 2
  load: 0.9
  load_of: wire
  flows: 7
  services: [3, 1]
  service_by: pair
  shares_of: bytes
  transfer: push
  connections: 0
  handshake: false
seeds: 3..5
baseline: b
dilation: 2.5
`
	want := &labs.Lab{
		Name: "all", Title: "Every key",
		Source:   labs.Source{Paper: "tcn", Experiment: "tcn-fig6"},
		Topology: labs.Topology{Kind: "star", Hosts: 3, Rate: 10 * units.Gbps},
		RTT: labs.RTT{
			Min: 85 * time.Microsecond, Max: 255 * time.Microsecond, Base: "hosts",
			Distribution: kind.Choice{Kind: "long-tail"}, Per: "host", At: "sender", By: labs.ByNetem,
		},
		Host: labs.Host{
			Transport: "dctcp", TransportParams: map[string]any{"g": 0.125}, InitCwnd: 16, RTOMin: 5 * time.Millisecond, MTU: 9000, Port: "switch",
			RTOInitial: 6 * time.Millisecond, RTOMax: time.Second, DelayedACK: 1, ACKTimeout: 100 * time.Microsecond,
			LossRecovery: "sack", Stack: "plain", Kernel: "6.12",
		},
		Switch: labs.Switch{
			Buffer:  labs.Buffer{PerPort: 300 * 1024, Sharing: "port"},
			Lengths: "ip",
			Queues:  2,
			Scheduler: kind.Choice{Kind: "dwrr", Params: map[string]any{
				"quantum": "18KB", "weights": []any{2, 1},
			}},
			Limiter: port.Limiter{RateFraction: 0.99, Bucket: 10_000},
		},
		Schemes: []labs.Scheme{
			{Name: "a", AQM: kind.Choice{Kind: "dctcp-red", Params: map[string]any{"threshold": "minimum", "lambda": 0.5}}},
			{Name: "b", AQM: kind.Choice{Kind: "tcn", Params: map[string]any{"threshold": "1.5ms"}}},
		},
		Workload: labs.Workload{
			Arrival:      kind.Choice{Kind: "poisson"},
			Sizes:        kind.Choice{Kind: "uniform", Params: map[string]any{"min": "1KB", "max": "2KB"}},
			ServiceSizes: []string{"cache", "hadoop"}, Pattern: "one-to-many", Host: 2, Load: []float64{0.9}, Flows: 7,
			Services: []int{3, 1}, ServiceBy: "pair", SharesOf: "bytes", Transfer: "push", LoadOf: "wire",
		},
		Probe:   labs.Probe{Services: []int{0}, Every: time.Millisecond},
		Capture: labs.Capture{Snap: 128, Size: 64 * units.MB},
		Seeds:   []uint64{3, 4, 5}, Baseline: "b", Dilation: 2.5,
		Rack: inventory.Inventory{Port: 4789},
	}
	got, err := labs.Parse("x.yaml", []byte(file))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v\n%+v\nwant\n%+v", err, got, want)
	}
}

// The file, then the environment, then --set, of which the last prevails.
func TestPrecedence(t *testing.T) {
	path := write(t, "x.yaml", base+"workload: {flows: 1}\nseeds: [1]\n")
	if got := load(t, path).Workload.Flows; got != 1 {
		t.Errorf("from the file: %d flows, want 1", got)
	}
	t.Setenv("AQMLAB_WORKLOAD_FLOWS", "2")
	if got := load(t, path); got.Workload.Flows != 2 || !slices.Equal(got.Seeds, []uint64{1}) {
		t.Errorf("from the environment: %d flows and seeds %v, want 2 and [1]", got.Workload.Flows, got.Seeds)
	}
	if got := load(t, path, "workload.flows=3").Workload.Flows; got != 3 {
		t.Errorf("from --set: %d flows, want 3", got)
	}
	if got := load(t, path, "workload.flows=3", "workload.flows=4").Workload.Flows; got != 4 {
		t.Errorf("from the last --set: %d flows, want 4", got)
	}
	t.Setenv("AQMLAB_WORKLOAD_FLOWS", "")
	if got := load(t, path).Workload.Flows; got != 1 {
		t.Errorf("from an empty variable: %d flows, want the file's 1", got)
	}
}

const queues = `topology: {rate: 1Gbps}
rtt: 250us
switch:
  scheduler: {kind: dwrr, queues: 4, quantum: 2KB}
schemes:
  - {name: droptail, aqm: droptail}
  - {name: dctcp-red, aqm: dctcp-red, threshold: 32KB}
  - {name: tcn, aqm: tcn, threshold: 256us}
workload: {sizes: {kind: fixed, size: 10KB}}
baseline: droptail
`

func TestSet(t *testing.T) {
	path := write(t, "x.yaml", queues)
	tests := map[string]struct {
		set  []string
		pick func(*labs.Lab) any
		want any
	}{
		"list":               {[]string{"workload.load=0.5, 0.9"}, func(l *labs.Lab) any { return l.Workload.Load }, []float64{0.5, 0.9}},
		"list in brackets":   {[]string{"workload.load=[0.5,0.9]"}, func(l *labs.Lab) any { return l.Workload.Load }, []float64{0.5, 0.9}},
		"list of one":        {[]string{"workload.load=0.5"}, func(l *labs.Lab) any { return l.Workload.Load }, []float64{0.5}},
		"seeds":              {[]string{"seeds=4,2"}, func(l *labs.Lab) any { return l.Seeds }, []uint64{4, 2}},
		"range of seeds":     {[]string{"seeds=2..4"}, func(l *labs.Lab) any { return l.Seeds }, []uint64{2, 3, 4}},
		"longest range":      {[]string{"seeds=5001..15000"}, func(l *labs.Lab) any { return []uint64{uint64(len(l.Seeds)), l.Seeds[0], l.Seeds[9999]} }, []uint64{10000, 5001, 15000}},
		"time":               {[]string{"host.rto_min=5ms"}, func(l *labs.Lab) any { return l.Host.RTOMin }, 5 * time.Millisecond},
		"flag":               {[]string{"host.idle_restart=false"}, func(l *labs.Lab) any { return l.Host.IdleRestart }, false},
		"case and space":     {[]string{" Host.MTU = 1400 "}, func(l *labs.Lab) any { return l.Host.MTU }, 1400},
		"title with a comma": {[]string{"title=a, b"}, func(l *labs.Lab) any { return l.Title }, "a, b"},
		"equals sign":        {[]string{"title=a=b"}, func(l *labs.Lab) any { return l.Title }, "a=b"},
		"services":           {[]string{"workload.services=3"}, func(l *labs.Lab) any { return l.Workload.Services }, []int{1, 1, 1}},
		"weights":            {[]string{"workload.services=3,1"}, func(l *labs.Lab) any { return l.Workload.Services }, []int{3, 1}},
		"one weight":         {[]string{"workload.services=[3]"}, func(l *labs.Lab) any { return l.Workload.Services }, []int{3}},
		"dilation":           {[]string{"dilation=20"}, func(l *labs.Lab) any { return l.Dilation }, labs.Dilation(20)},
		"dilation auto":      {[]string{"dilation=auto"}, func(l *labs.Lab) any { return l.Dilation }, labs.Dilation(0)},
		"short rtt":          {[]string{"rtt=1ms"}, func(l *labs.Lab) any { return l.RTT }, labs.RTT{Min: time.Millisecond, Max: time.Millisecond, Base: "links", Distribution: kind.Choice{Kind: "fixed"}}},
		"parameter": {
			[]string{"switch.scheduler.quantum=3000B"},
			func(l *labs.Lab) any { return l.Switch.Scheduler },
			kind.Choice{Kind: "dwrr", Params: map[string]any{"quantum": "3000B"}},
		},
		"list parameter": {
			[]string{"switch.scheduler.weights=4,3,2,1"},
			func(l *labs.Lab) any { return l.Switch.Scheduler.Params["weights"] },
			[]any{4, 3, 2, 1},
		},
		"parameter of a scheme": {
			[]string{"schemes.tcn.threshold=100us", "schemes.dctcp-red.lambda=0.17"},
			func(l *labs.Lab) any { return l.Schemes },
			[]labs.Scheme{
				{Name: "droptail", AQM: kind.Choice{Kind: "droptail"}},
				{Name: "dctcp-red", AQM: kind.Choice{Kind: "dctcp-red", Params: map[string]any{"threshold": "32KB", "lambda": 0.17}}},
				{Name: "tcn", AQM: kind.Choice{Kind: "tcn", Params: map[string]any{"threshold": "100us"}}},
			},
		},
		"another kind drops the parameters of the file": {
			[]string{"switch.scheduler=fifo", "switch.scheduler.queues=1"},
			func(l *labs.Lab) any { return l.Switch.Scheduler },
			kind.Choice{Kind: "fifo"},
		},
		"another kind takes its own parameters": {
			[]string{"workload.sizes.kind=uniform", "workload.sizes.max=5KB"},
			func(l *labs.Lab) any { return l.Workload.Sizes },
			kind.Choice{Kind: "uniform", Params: map[string]any{"max": "5KB"}},
		},
		"the same kind keeps them": {
			[]string{"workload.sizes=fixed"},
			func(l *labs.Lab) any { return l.Workload.Sizes },
			kind.Choice{Kind: "fixed", Params: map[string]any{"size": "10KB"}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tt.pick(load(t, path, tt.set...)); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("--set %q gives %#v, want %#v", tt.set, got, tt.want)
			}
		})
	}
}

func TestEnvironment(t *testing.T) {
	path := write(t, "x.yaml", queues)
	for name, value := range map[string]string{
		"AQMLAB_RTT":                        "1ms",
		"AQMLAB_WORKLOAD_LOAD":              "0.5,0.9",
		"AQMLAB_WORKLOAD_SIZES":             "uniform",
		"AQMLAB_WORKLOAD_SIZES_MAX":         "5KB",
		"AQMLAB_SWITCH_SCHEDULER_QUANTUM":   "3KB",
		"AQMLAB_SCHEMES_DCTCP_RED_LAMBDA":   "0.17",
		"AQMLAB_SOMETHING_ELSE":             "is not the lab's",
		"AQMLAB_HOST_TRANSPORT":             "cubic",
		"AQMLAB_SWITCH_BUFFER_PER_PORT":     "50KB",
		"AQMLAB_TOPOLOGY_RATE":              "2Gbps",
		"AQMLAB_SCHEMES_DCTCP_RED_AQM":      "tcn",
		"AQMLAB_SWITCH_LIMITER_BUCKET":      "4KB",
		"AQMLAB_WORKLOAD_SERVICES":          "4",
		"AQMLAB_SEEDS":                      "1..2",
		"AQMLAB_DILATION":                   "3",
		"AQMLAB_SCHEMES_TCN_THRESHOLD":      "100us",
		"AQMLAB_SCHEMES_DROPTAIL_THRESHOLD": "",
	} {
		t.Setenv(name, value)
	}
	l := load(t, path)
	if l.RTT.Min != time.Millisecond || l.RTT.Max != time.Millisecond || l.Topology.Rate != 2*units.Gbps || l.Dilation != 3 {
		t.Errorf("rtt %v, rate %v, dilation %v", l.RTT, l.Topology.Rate, l.Dilation)
	}
	if l.Host.Transport != "cubic" || l.Switch.Buffer.PerPort != 50_000 || l.Switch.Limiter.Bucket != 4000 {
		t.Errorf("host %v, switch %v", l.Host, l.Switch)
	}
	if !slices.Equal(l.Workload.Load, []float64{0.5, 0.9}) || len(l.Workload.Services) != 4 || !slices.Equal(l.Seeds, []uint64{1, 2}) {
		t.Errorf("workload %v, seeds %v", l.Workload, l.Seeds)
	}
	wantSchemes := []labs.Scheme{
		{Name: "droptail", AQM: kind.Choice{Kind: "droptail"}},
		{Name: "dctcp-red", AQM: kind.Choice{Kind: "tcn", Params: map[string]any{"lambda": 0.17}}},
		{Name: "tcn", AQM: kind.Choice{Kind: "tcn", Params: map[string]any{"threshold": "100us"}}},
	}
	if !reflect.DeepEqual(l.Schemes, wantSchemes) {
		t.Errorf("schemes %v, want %v", l.Schemes, wantSchemes)
	}
	if want := map[string]any{"max": "5KB"}; l.Workload.Sizes.Kind != "uniform" || !maps.Equal(l.Workload.Sizes.Params, want) {
		t.Errorf("sizes %v, want uniform with %v", l.Workload.Sizes, want)
	}
	t.Setenv("AQMLAB_WORKLOAD_SIZES_KIND", "fixed")
	t.Setenv("AQMLAB_WORKLOAD_SIZES_MAX", "")
	if got := load(t, path).Workload.Sizes.Kind; got != "fixed" {
		t.Errorf("sizes %s: the exact variable does not prevail over the short one", got)
	}
}

func TestBadOverrides(t *testing.T) {
	path := write(t, "x.yaml", queues)
	schemes := strings.Join(slices.Concat(aqm.Table().Names(), port.Gates().Names()), ", ")
	tests := map[string]struct {
		set, env []string
		want     string
	}{
		"no equals sign":   {set: []string{"seeds"}, want: `--set: "seeds" is not key=value: want one such as workload.load=0.5,0.9`},
		"no key":           {set: []string{"=1"}, want: `--set: "=1" is not key=value: want one such as workload.load=0.5,0.9`},
		"unknown key":      {set: []string{"workload.laod=1"}, want: `--set: workload.laod: unknown key "laod": want one of pattern, host, load, flows, services, service_by, shares_of, service_sizes, transfer, jitter, load_of, connections, handshake, pias, pias_gap, arrival, sizes (did you mean load?)`},
		"unknown top":      {set: []string{"hots.mtu=1"}, want: `--set: hots.mtu: unknown key "hots": want one of ` + topLevel + ` (did you mean host?)`},
		"below a value":    {set: []string{"seeds.first=1"}, want: `--set: seeds.first: unknown key: seeds holds a single value`},
		"group":            {set: []string{"host=dctcp"}, want: `--set: host: a group of keys: want one of them: init_cwnd, rto_min, rto_initial, rto_max, delayed_ack, ack_timeout, loss_recovery, stack, small_queue, mtu, idle_restart, port, image, cpus, memory, rootfs, kernel, transport`},
		"unknown scheme":   {set: []string{"schemes.tnc.threshold=1us"}, want: `--set: schemes.tnc.threshold: unknown scheme "tnc": want one of droptail, dctcp-red, tcn (did you mean tcn?)`},
		"a scheme":         {set: []string{"schemes.tcn=blue"}, want: `--set: schemes.tcn.aqm: unknown kind "blue": want one of ` + schemes},
		"all schemes":      {set: []string{"schemes=tcn"}, want: `--set: schemes: a group of keys: want one of them: droptail, dctcp-red, tcn`},
		"parameter":        {set: []string{"schemes.tcn.treshold=1us"}, want: `--set: schemes.tcn.treshold: unknown parameter: want one of threshold, rtt, lambda, tmin, tmax, pmax, stamp, stamp_bits (did you mean threshold?)`},
		"value":            {set: []string{"workload.load=0.5,1.5"}, want: `--set: workload.load[1]: 1.5 is outside (0, 1]`},
		"text for number":  {set: []string{"workload.flows=many"}, want: `--set: workload.flows: "many" is not a whole number from 1 to 100000000`},
		"no unit":          {set: []string{"host.rto_min=5"}, want: `--set: host.rto_min: "5" is not a time: want one such as 250us, 10ms or 1.5s`},
		"empty":            {set: []string{"workload.flows="}, want: `--set: workload.flows: "" is not a whole number from 1 to 100000000`},
		"against the file": {set: []string{"switch.scheduler.queues=1", "workload.services=2"}, want: `--set: workload.services: 2 services: want at most one for each queue, switch.scheduler.queues is 1, or switch.classifier: map`},
		"variable":         {env: []string{"AQMLAB_WORKLOAD_FLOWS=0"}, want: `AQMLAB_WORKLOAD_FLOWS: workload.flows: 0 is outside 1 to 100000000`},
		"variable's kind":  {env: []string{"AQMLAB_WORKLOAD_SIZES=foxed"}, want: `AQMLAB_WORKLOAD_SIZES: workload.sizes.kind: unknown kind "foxed": want one of websearch, datamining, cache, hadoop, websearch-ns2, datamining-ns2, pareto, fixed, uniform, cdf (did you mean fixed?)`},
		"unknown variable": {env: []string{"AQMLAB_WORKLOAD_FLOW=0"}, want: `AQMLAB_WORKLOAD_FLOW: unknown variable: no key of the lab is set by it (did you mean AQMLAB_WORKLOAD_FLOWS?)`},
		"group's variable": {env: []string{"AQMLAB_HOST=dctcp"}, want: `AQMLAB_HOST: unknown variable: no key of the lab is set by it`},
		"every source": {
			set:  []string{"host.mtu=1"},
			env:  []string{"AQMLAB_SEEDS=x"},
			want: "--set: host.mtu: 1 is outside 576 to 9000\nAQMLAB_SEEDS: seeds[0]: \"x\" is not a whole number from 0 to 9223372036854775807",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for _, pair := range tt.env {
				variable, value, _ := strings.Cut(pair, "=")
				t.Setenv(variable, value)
			}
			_, err := labs.Load(path, labs.Options{Set: tt.set})
			if err == nil || err.Error() != tt.want {
				t.Errorf("got\n%v\nwant\n%s", err, tt.want)
			}
		})
	}
}

// The file is named before the overrides, and by the path that was given.
func TestFileErrorsComeFirst(t *testing.T) {
	path := write(t, "x.yaml", base+"host: {mtu: 1}\n")
	_, err := labs.Load(path, labs.Options{Set: []string{"seeds=x"}})
	want := path + ":3: host.mtu: 1 is outside 576 to 9000\n--set: seeds[0]: \"x\" is not a whole number from 0 to 9223372036854775807"
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestReferences(t *testing.T) {
	if l := load(t, "smoke"); l.Name != "smoke" {
		t.Errorf("loaded %s", l.Name)
	}
	_, err := labs.Load("quikstart", labs.Options{})
	if !errors.Is(err, labs.ErrNoLab) || !strings.HasSuffix(err.Error(), "(did you mean quickstart?)") {
		t.Errorf("unknown name: %v", err)
	}
	for _, ref := range []string{"missing.yaml", "./missing", "dir/missing"} {
		if _, err := labs.Load(ref, labs.Options{}); !errors.Is(err, fs.ErrNotExist) || errors.Is(err, labs.ErrNoLab) {
			t.Errorf("Load(%q): %v", ref, err)
		}
	}
	t.Chdir(filepath.Dir(write(t, "mylab", base)))
	if l := load(t, "mylab"); l.Name != "mylab" {
		t.Errorf("a file without extension: %s", l.Name)
	}
}

// A table of sizes is found from the folder of the lab file, or from the working
// directory when an override names it, and stays found when the lab moves.
func TestFileOfSizes(t *testing.T) {
	path := write(t, "x.yaml", base+"workload: {sizes: {kind: cdf, file: sizes.csv}}\n")
	table := filepath.Join(filepath.Dir(path), "sizes.csv")
	if err := os.WriteFile(table, []byte("1000,0\n2000,1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := load(t, path).Workload.Sizes.Params["file"]; got != table {
		t.Errorf("file %v, want %s", got, table)
	}
	t.Chdir(filepath.Dir(path))
	plain := write(t, "y.yaml", base)
	if got := load(t, plain, "workload.sizes=cdf", "workload.sizes.file=sizes.csv").Workload.Sizes.Params["file"]; got != table {
		t.Errorf("file %v, want %s", got, table)
	}
	missing := write(t, "z.yaml", base+"workload: {sizes: {kind: cdf, file: none.csv}}\n")
	if _, err := labs.Load(missing, labs.Options{}); !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), missing+":3: workload.sizes.file: ") {
		t.Errorf("missing table: %v", err)
	}
}

// Parse is what reads stored labs: nothing around it may change them.
func TestParseIgnoresTheEnvironment(t *testing.T) {
	t.Setenv("AQMLAB_WORKLOAD_FLOWS", "2")
	l, err := labs.Parse("x.yaml", []byte(base))
	if err != nil || l.Workload.Flows != 1000 {
		t.Errorf("Parse = %+v, %v", l, err)
	}
}
