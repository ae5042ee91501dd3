package labs_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"aqmlab/kind"
	"aqmlab/labs"
	"aqmlab/switch/aqm"
	"aqmlab/switch/port"
	"aqmlab/switch/sched"
	"aqmlab/trafficgen/transport"
)

// base is a lab of the fewest keys. A test appends to it, so that its own keys
// start on line 3.
const base = `topology: {rate: 1Gbps}
schemes: [{name: droptail, aqm: droptail}]
`

const topLevel = "name, title, source, topology, rtt, host, switch, workload, probe, collect, capture, seeds, sweep, baseline, dilation, vlans, vxlan, placement, schemes, background, transports, programs, events, machines"

// badFile is a lab file that does not load, and what is said about it.
type badFile struct{ file, want string }

func badFiles() map[string]badFile {
	schemes := strings.Join(slices.Concat(aqm.Table().Names(), port.Gates().Names()), ", ")
	transports := strings.Join(transport.Table().Names(), ", ")
	schedulers := strings.Join(sched.Table().Names(), ", ")
	return map[string]badFile{
		// The file as a whole.
		"empty":            {"", `x.yaml: empty: want keys such as topology and schemes`},
		"comment only":     {"# nothing\n", `x.yaml: empty: want keys such as topology and schemes`},
		"not YAML":         {"topology: {rate: 1Gbps\nname: x\n", `x.yaml:2: not YAML: did not find expected ',' or '}'`},
		"a list":           {"- 1\n", `x.yaml:1: not a lab: want keys such as topology and schemes`},
		"two documents":    {base + "---\nname: x\n", `x.yaml:3: not YAML: a second document: want one lab a file`},
		"nothing required": {"name: x\n", "x.yaml: topology.rate: missing: want a rate such as 10Gbps or 100Mbps\nx.yaml: schemes: missing: want at least one {name: tcn, aqm: tcn}"},

		// Keys.
		"unknown key":        {base + "worklaod: {flows: 3}\n", `x.yaml:3: worklaod: unknown key "worklaod": want one of ` + topLevel + ` (did you mean workload?)`},
		"unknown inner key":  {base + "host:\n  mtu: 1500\n  mut: 9000\n", `x.yaml:5: host.mut: unknown key "mut": want one of init_cwnd, rto_min, rto_initial, rto_max, delayed_ack, ack_timeout, loss_recovery, stack, small_queue, mtu, idle_restart, port, image, cpus, memory, rootfs, kernel, transport (did you mean mtu?)`},
		"capital":            {base + "Seeds: 1\n", `x.yaml:3: Seeds: unknown key "Seeds": want one of ` + topLevel + ` (did you mean seeds?)`},
		"not YAML below":     {base + "a: b: c\n", `x.yaml:3: not YAML: mapping values are not allowed in this context`},
		"bad indent":         {base + "host:\n  mtu: 1500\n init_cwnd: 3\n", `x.yaml:5: not YAML: did not find expected key`},
		"dotted key":         {base + "host.mtu: 9000\n", `x.yaml:3: host.mtu: unknown key "host.mtu": want one of ` + topLevel},
		"twice":              {base + "seeds: 1\n\nseeds: 2\n", `x.yaml:5: seeds: already set on line 3`},
		"no value":           {base + "seeds:\n", `x.yaml:3: seeds: has no value`},
		"empty mapping":      {base + "host: {}\n", `x.yaml:3: host: has no value`},
		"value for mapping":  {base + "host: dctcp\n", `x.yaml:3: host: not a mapping: want keys such as init_cwnd`},
		"mapping for value":  {base + "seeds: {from: 1}\n", `x.yaml:3: seeds: a mapping: want a value`},
		"key is a list":      {base + "? [a]\n: 1\n", `x.yaml:3: a key is not a name`},
		"alias":              {base + "name: &n x\ntitle: *n\n", `x.yaml:4: title: an alias: want the value written out`},
		"merge key":          {base + "<<: {seeds: 1}\n", `x.yaml:3: <<: unknown key "<<": want one of ` + topLevel},
		"name with capitals": {base + "name: My Lab\n", `x.yaml:3: name: "My Lab" is not a name: want lower-case letters, digits and hyphens, at most 64`},
		"title of two lines": {base + "title: \"a\\nb\"\n", `x.yaml:3: title: "a\nb" is not a line of printable text`},
		"title a number":     {base + "title: 3\n", `x.yaml:3: title: 3 is not text`},

		// Topology, RTT and hosts.
		"no rate":               {"topology: {hosts: 3}\nschemes: [{name: d, aqm: droptail}]\n", `x.yaml:1: topology.rate: missing: want a rate such as 10Gbps or 100Mbps`},
		"rate without unit":     {"topology:\n  rate: 1000\nschemes: [{name: d, aqm: droptail}]\n", `x.yaml:2: topology.rate: 1000 has no unit: want a rate such as 10Gbps or 100Mbps`},
		"rate with other unit":  {"topology:\n  rate: 1GB\nschemes: [{name: d, aqm: droptail}]\n", `x.yaml:2: topology.rate: "1GB" is not a rate such as 10Gbps, 100Mbps or 64Kbps`},
		"rate zero":             {"topology: {rate: 0bps}\nschemes: [{name: d, aqm: droptail}]\n", `x.yaml:1: topology.rate: 0bps is outside 1Kbps to 100Tbps`},
		"one host":              {"topology: {rate: 1Gbps, hosts: 1}\nschemes: [{name: d, aqm: droptail}]\n", `x.yaml:1: topology.hosts: 1 is outside 2 to 65534`},
		"hosts a fraction":      {"topology: {rate: 1Gbps, hosts: 2.5}\nschemes: [{name: d, aqm: droptail}]\n", `x.yaml:1: topology.hosts: 2.5 is not a whole number from 2 to 65534`},
		"hosts text":            {"topology: {rate: 1Gbps, hosts: \"9\"}\nschemes: [{name: d, aqm: droptail}]\n", `x.yaml:1: topology.hosts: "9" is not a whole number from 2 to 65534`},
		"topology kind":         {"topology: {rate: 1Gbps, kind: stra}\nschemes: [{name: d, aqm: droptail}]\n", `x.yaml:1: topology.kind: unknown topology "stra": want one of star, leaf-spine, tree, fat-tree, containerlab (did you mean star?)`},
		"rtt without unit":      {base + "rtt: 250\n", `x.yaml:3: rtt.min: 250 has no unit: want a time such as 250us or 10ms`},
		"rtt of schemes":        {"topology: {rate: 1Gbps}\nrtt: 250\nschemes: [{name: t, aqm: tcn}]\n", `x.yaml:2: rtt.min: 250 has no unit: want a time such as 250us or 10ms`},
		"rtt negative":          {base + "rtt: -5us\n", `x.yaml:3: rtt.min: -5us is outside 0s to 10s`},
		"rtt two values":        {base + "rtt:\n  min: 100us\n  max: 200us\n", `x.yaml:5: rtt.max: 200us differs from rtt.min, 100us: a fixed distribution has one RTT`},
		"rtt a list":            {base + "rtt: [1us]\n", `x.yaml:3: rtt: not a mapping: want keys such as min`},
		"rtt distribution":      {base + "rtt: {min: 1us, distribution: normal}\n", `x.yaml:3: rtt.distribution.kind: unknown kind "normal": want one of fixed, uniform, long-tail, cdf`},
		"transport":             {base + "host: {transport: dctpc}\n", `x.yaml:3: host.transport.kind: unknown kind "dctpc": want one of ` + transports + ` (did you mean dctcp?)`},
		"transport a number":    {base + "host: {transport: 1}\n", `x.yaml:3: host.transport.kind: 1 is not the name of a kind`},
		"window":                {base + "host: {init_cwnd: 0}\n", `x.yaml:3: host.init_cwnd: 0 is outside 1 to 1000`},
		"rto negative":          {base + "host: {rto_min: -10ms}\n", `x.yaml:3: host.rto_min: -10ms is outside 1us to 120s`},
		"mtu small":             {base + "host: {mtu: 575}\n", `x.yaml:3: host.mtu: 575 is outside 576 to 9000`},
		"mtu large":             {base + "host: {mtu: 9001}\n", `x.yaml:3: host.mtu: 9001 is outside 576 to 9000`},
		"idle restart":          {base + "host: {idle_restart: sometimes}\n", `x.yaml:3: host.idle_restart: "sometimes" is not true or false`},
		"errors of one mapping": {base + "host:\n  mtu: 1\n  init_cwnd: -1\n", "x.yaml:4: host.mtu: 1 is outside 576 to 9000\nx.yaml:5: host.init_cwnd: -1 is outside 1 to 1000"},

		// The switch.
		"buffer below a packet":  {base + "switch:\n  buffer: {per_port: 1499B}\n", `x.yaml:4: switch.buffer.per_port: 1.499KB does not hold one packet: want at least host.mtu and the 38 bytes of Ethernet, 1538B`},
		"buffer unit":            {base + "switch:\n  buffer: {per_port: 96}\n", `x.yaml:4: switch.buffer.per_port: 96 has no unit: want a size such as 96KB or 2500B`},
		"sharing":                {base + "switch: {buffer: {sharing: pol}}\n", `x.yaml:3: switch.buffer.sharing: unknown sharing "pol": want one of port, static, pool, dynamic, abm (did you mean pool?)`},
		"pool without a size":    {base + "switch: {buffer: {sharing: pool}}\n", `x.yaml:3: switch.buffer.pool: missing: switch.buffer.sharing is pool: want a size such as 96KB`},
		"static without a size":  {base + "switch: {buffer: {sharing: static}}\n", `x.yaml:3: switch.buffer.per_queue: missing: want a size such as 96KB`},
		"pool below a packet":    {base + "switch: {buffer: {sharing: dynamic, pool: 1KB}}\n", `x.yaml:3: switch.buffer.pool: 1KB does not hold one packet: want at least host.mtu and the 38 bytes of Ethernet, 1538B`},
		"size of other sharing":  {base + "switch:\n  buffer: {sharing: pool, pool: 9MB,\n    per_port: 96KB}\n", `x.yaml:5: switch.buffer.per_port: not used when switch.buffer.sharing is pool: want switch.buffer.pool`},
		"alpha of other sharing": {base + "switch: {buffer: {alpha: 2}}\n", `x.yaml:3: switch.buffer.alpha: unknown parameter: it takes none`},
		"alpha":                  {base + "switch: {buffer: {sharing: dynamic, pool: 9MB, alpha: 0}}\n", `x.yaml:3: switch.buffer.alpha: 0 is outside (0, 1000]`},
		"inner kind":             {base + "switch:\n  scheduler: {kind: sp, queues: 3,\n    inner: drr}\n", `x.yaml:5: switch.scheduler.inner.kind: unknown kind "drr": want one of ` + schedulers + ` (did you mean dwrr?)`},
		"inner without kind":     {base + "switch: {scheduler: {kind: sp, queues: 3, inner: {quantum: 2KB}}}\n", `x.yaml:3: switch.scheduler.inner.kind: missing: want one of ` + schedulers},
		"inner parameter":        {base + "switch:\n  scheduler: {kind: sp, queues: 3, inner: {kind: dwrr,\n    weights: [1]}}\n", `x.yaml:5: switch.scheduler.inner.weights: 1 weights for 2 queues`},
		"inner quantum":          {base + "switch:\n  scheduler: {kind: sp, queues: 3, inner: {kind: wrr,\n    quantum: 1KB}}\n", `x.yaml:5: switch.scheduler.inner.quantum: 1KB does not hold one packet: want at least host.mtu, 1500B`},
		"inner of another kind":  {base + "switch: {scheduler: {queues: 1, inner: dwrr}}\n", `x.yaml:3: switch.scheduler.inner: unknown parameter: it takes none`},
		"inner of an inner":      {base + "switch: {scheduler: {kind: sp, queues: 3, inner: {kind: sp, inner: {kind: dwrr}}}}\n", `x.yaml:3: switch.scheduler.inner.inner: a mapping: want a value`},
		"scheduler":              {base + "switch:\n  scheduler:\n    kind: drr\n", `x.yaml:5: switch.scheduler.kind: unknown kind "drr": want one of ` + schedulers + ` (did you mean dwrr?)`},
		"scheduler a number":     {base + "switch: {scheduler: 3}\n", `x.yaml:3: switch.scheduler.kind: 3 is not the name of a kind`},
		"scheduler parameter":    {base + "switch: {scheduler: {kind: dwrr, quantun: 1500B}}\n", `x.yaml:3: switch.scheduler.quantun: unknown parameter: want one of quantum, weights (did you mean quantum?)`},
		"key beside parameters":  {base + "switch: {scheduler: {kind: dwrr, queus: 4}}\n", `x.yaml:3: switch.scheduler.queus: unknown parameter: want one of quantum, weights (did you mean queues?)`},
		"fifo of many queues":    {base + "switch: {scheduler: {kind: fifo, queues: 4}}\n", `x.yaml:3: switch.scheduler.kind: fifo: a fifo has one queue, not 4`},
		"queues":                 {base + "switch: {scheduler: {kind: dwrr, queues: 65}}\n", `x.yaml:3: switch.scheduler.queues: 65 is outside 1 to 64`},
		"quantum below a packet": {base + "switch: {scheduler: {kind: dwrr, quantum: 1499B}}\n", `x.yaml:3: switch.scheduler.quantum: 1.499KB does not hold one packet: want at least host.mtu, 1500B`},
		"lengths":                {base + "switch: {lengths: frame}\n", `x.yaml:3: switch.lengths: unknown count "frame": want one of wire, ip`},
		"quantum unit":           {base + "switch: {scheduler: {kind: dwrr, quantum: 1500}}\n", `x.yaml:3: switch.scheduler.quantum: 1500 has no unit: want a size such as 96KB or 2500B`},
		"weights":                {base + "switch: {scheduler: {kind: dwrr, queues: 2, weights: [1, 2, 3]}}\n", `x.yaml:3: switch.scheduler.weights: 3 weights for 2 queues`},
		"fraction zero":          {base + "switch: {limiter: {rate_fraction: 0}}\n", `x.yaml:3: switch.limiter.rate_fraction: 0 is outside (0, 1]`},
		"fraction above one":     {base + "switch: {limiter: {rate_fraction: 1.01}}\n", `x.yaml:3: switch.limiter.rate_fraction: 1.01 is outside (0, 1]`},
		"fraction of nothing":    {base + "switch: {limiter: {rate_fraction: 1e-7}}\n", `x.yaml:3: switch.limiter.rate_fraction: 1e-07 of 1Gbps is less than 1Kbps`},
		"fraction not a number":  {base + "switch: {limiter: {rate_fraction: .nan}}\n", `x.yaml:3: switch.limiter.rate_fraction: NaN is outside (0, 1]`},
		"bucket below a frame":   {base + "switch:\n  limiter: {rate_fraction: 0.9, bucket: 1537B}\n", `x.yaml:4: switch.limiter.bucket: 1.537KB does not hold a frame: want at least host.mtu and the 38 bytes of Ethernet, 1538B`},

		// Schemes.
		"schemes empty":        {"topology: {rate: 1Gbps}\nschemes: []\n", `x.yaml:2: schemes: not a list of schemes: want at least one {name: tcn, aqm: tcn}`},
		"schemes a mapping":    {"topology: {rate: 1Gbps}\nschemes: {tcn: 1}\n", `x.yaml:2: schemes: not a list of schemes: want at least one {name: tcn, aqm: tcn}`},
		"scheme not a mapping": {"topology: {rate: 1Gbps}\nschemes:\n  - tcn\n", `x.yaml:3: schemes[0]: not a scheme: want one such as {name: tcn, aqm: tcn}`},
		"scheme without name":  {"topology: {rate: 1Gbps}\nschemes:\n  - {aqm: droptail}\n", `x.yaml:3: schemes[0].name: missing: want a name such as tcn`},
		"scheme's name":        {"topology: {rate: 1Gbps}\nschemes:\n  - {name: a.b, aqm: droptail}\n", `x.yaml:3: schemes[0].name: "a.b" is not a name: want lower-case letters, digits and hyphens, at most 64`},
		"scheme without kind":  {"topology: {rate: 1Gbps}\nschemes:\n  - {name: d}\n", `x.yaml:3: schemes.d.aqm: missing: want one of ` + schemes},
		"same name":            {base[:len(base)-2] + ",\n  {name: droptail, aqm: droptail}]\n", `x.yaml:3: schemes[1].name: "droptail" is the name of the one on line 2, too`},
		"scheme kind":          {"topology: {rate: 1Gbps}\nschemes:\n  - {name: d, aqm: drop-tail}\n", `x.yaml:3: schemes.d.aqm: unknown kind "drop-tail": want one of ` + schemes + ` (did you mean droptail?)`},
		"kind called name":     {"topology: {rate: 1Gbps}\nschemes:\n  - {aqm: name, name: d}\n", `x.yaml:3: schemes.d.aqm: unknown kind "name": want one of ` + schemes},
		"scheme needs an RTT":  {"topology: {rate: 1Gbps}\nschemes:\n  - {name: t, aqm: tcn}\n", `x.yaml:3: schemes.t.threshold: missing, and the lab gives no base RTT to compute it from: want a time such as 250us`},
		"scheme parameters": {
			"topology: {rate: 1Gbps}\nschemes:\n  - name: t\n    aqm: tcn\n    treshold: 1us\n    threshold: 100\n    lambda: -1\n",
			`x.yaml:5: schemes.t.treshold: unknown parameter: want one of threshold, rtt, lambda, tmin, tmax, pmax, stamp, stamp_bits (did you mean threshold?)
x.yaml:6: schemes.t.threshold: 100 has no unit: want a time such as 250us or 10ms
x.yaml:7: schemes.t.lambda: -1 is negative`,
		},
		"baseline": {base + "baseline: dorptail\n", `x.yaml:3: baseline: unknown scheme "dorptail": want one of droptail (did you mean droptail?)`},

		// Workload, seeds and dilation.
		"load zero":         {base + "workload: {load: 0}\n", `x.yaml:3: workload.load[0]: 0 is outside (0, 1]`},
		"load of a list":    {base + "workload:\n  load:\n  - 0.5\n  - 1.5\n", `x.yaml:6: workload.load[1]: 1.5 is outside (0, 1]`},
		"load twice":        {base + "workload: {load: [0.5, 0.50]}\n", `x.yaml:3: workload.load[1]: 0.5 is there twice`},
		"load empty":        {base + "workload: {load: []}\n", `x.yaml:3: workload.load: empty: want at least one value`},
		"load text":         {base + "workload: {load: heavy}\n", `x.yaml:3: workload.load[0]: "heavy" is not a number: want one in (0, 1]`},
		"flows":             {base + "workload: {flows: 0}\n", `x.yaml:3: workload.flows: 0 is outside 1 to 100000000`},
		"sizes":             {base + "workload: {sizes: websaerch}\n", `x.yaml:3: workload.sizes.kind: unknown kind "websaerch": want one of websearch, datamining, cache, hadoop, websearch-ns2, datamining-ns2, pareto, fixed, uniform, cdf (did you mean websearch?)`},
		"sizes parameter":   {base + "workload:\n  sizes: {kind: fixed, size: 64}\n", `x.yaml:4: workload.sizes.size: 64 has no unit: want a size such as 96KB or 2500B`},
		"arrival":           {base + "workload: {arrival: {kind: poison}}\n", `x.yaml:3: workload.arrival.kind: unknown kind "poison": want one of poisson, incast, static, trace, none (did you mean poisson?)`},
		"pattern":           {base + "workload: {pattern: ring}\n", `x.yaml:3: workload.pattern: unknown pattern "ring": want one of many-to-one, all-to-all, one-to-many, inter-rack`},
		"too many services": {base + "workload: {services: 2}\n", `x.yaml:3: workload.services: 2 services: want at most one for each queue, switch.scheduler.queues is 1, or switch.classifier: map`},
		"no services":       {base + "workload: {services: 0}\n", `x.yaml:3: workload.services: 0 is outside 1 to 64`},
		"service's weight":  {base + "workload: {services: [0]}\n", `x.yaml:3: workload.services[0]: 0 is outside 1 to 1000000`},
		"connections":       {base + "workload: {connections: -1}\n", `x.yaml:3: workload.connections: -1 is outside 0 to 1000`},
		"seeds empty":       {base + "seeds: []\n", `x.yaml:3: seeds: empty: want at least one value`},
		"seed negative":     {base + "seeds: [1, -1]\n", `x.yaml:3: seeds[1]: -1 is outside 0 to 9223372036854775807`},
		"seed twice":        {base + "seeds: [1, 2, 1]\n", `x.yaml:3: seeds[2]: 1 is there twice`},
		"seed range":        {base + "seeds: 3..1\n", `x.yaml:3: seeds: "3..1" is not a range: want one such as 1..3, of at most 10000 seeds`},
		"seed range from":   {base + "seeds: x..3\n", `x.yaml:3: seeds: "x..3" is not a range: want one such as 1..3, of at most 10000 seeds`},
		"seed range to":     {base + "seeds: 1..x\n", `x.yaml:3: seeds: "1..x" is not a range: want one such as 1..3, of at most 10000 seeds`},
		"seed range long":   {base + "seeds: 1..10001\n", `x.yaml:3: seeds: "1..10001" is not a range: want one such as 1..3, of at most 10000 seeds`},
		"dilation":          {base + "dilation: 0.5\n", `x.yaml:3: dilation: 0.5 is outside [1, 1000000], or auto`},
		"dilation text":     {base + "dilation: slow\n", `x.yaml:3: dilation: "slow" is not a number: want one in [1, 1000000], or auto`},

		// All at once, in the order of the lines.
		"all at once": {
			"baseline: b\nhost: {mtu: 10}\nschemes:\n  - {name: a, aqm: blue}\nseeds: x\n",
			`x.yaml: topology.rate: missing: want a rate such as 10Gbps or 100Mbps
x.yaml:1: baseline: unknown scheme "b": want one of a
x.yaml:2: host.mtu: 10 is outside 576 to 9000
x.yaml:4: schemes.a.aqm: unknown kind "blue": want one of ` + schemes + `
x.yaml:5: seeds[0]: "x" is not a whole number from 0 to 9223372036854775807`,
		},
	}
}

func TestBadFiles(t *testing.T) {
	for name, tt := range badFiles() {
		t.Run(name, func(t *testing.T) {
			l, err := labs.Parse("x.yaml", []byte(tt.file))
			if err == nil {
				t.Fatalf("loaded %+v, want\n%s", l, tt.want)
			}
			if err.Error() != tt.want {
				t.Errorf("got\n%v\nwant\n%s", err, tt.want)
			}
		})
	}
}

func TestErrorsCanBeTakenApart(t *testing.T) {
	_, err := labs.Parse("x.yaml", []byte(base+"baseline: tcn\nhost: {mtu: 1}\n"))
	var all labs.Errors
	if !errors.As(err, &all) || len(all) != 2 {
		t.Fatalf("errors %v, want two", err)
	}
	if e := all[0]; e.Source != "x.yaml" || e.Line != 3 || e.Key != "baseline" || !strings.HasPrefix(e.Err.Error(), "unknown scheme") {
		t.Errorf("first error %+v", e)
	}
	if !errors.Is(err, kind.ErrUnknown) {
		t.Errorf("%v does not wrap ErrUnknown", err)
	}
	var one *labs.Error
	if !errors.As(err, &one) || one != all[0] {
		t.Errorf("the first *Error is %v", one)
	}
}
