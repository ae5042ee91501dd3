package truth

import (
	"fmt"
	"reflect"
	"runtime"
	"testing"

	"aqmlab/results"
	"aqmlab/sim"
)

// TestSameTwice: a lab and a seed give the same outcome whenever they run: flows,
// samples of queues, counters of ports and hosts. The labs draw whatever can be
// drawn: arrivals, sizes, pairs, RTTs, paths, and marks.
func TestSameTwice(t *testing.T) {
	for name, text := range map[string]string{
		"leaf-spine": `name: leafspine
topology: {kind: leaf-spine, leaves: 4, spines: 4, hosts_per_leaf: 4, rate: 10Gbps}
rtt: {min: 80us, max: 240us, distribution: long-tail}
host: {transport: dctcp, port: switch}
switch: {buffer: {per_port: 100KB}, scheduler: {kind: sp, strict: 1, queues: 3, inner: {kind: dwrr}}}
schemes: [{name: it, aqm: red, min: 10KB, max: 80KB}]
workload: {pattern: all-to-all, load: 0.7, flows: 150, services: 2, pias: 100KB, connections: 0}
`,
		"dcqcn": `name: dcqcn
topology: {kind: star, hosts: 9, rate: 10Gbps}
rtt: 20us
host: {transport: dcqcn}
switch: {buffer: {per_port: 10MB}, pause: {xoff: 100KB}}
schemes: [{name: it, aqm: red, min: 5KB, max: 200KB}]
workload: {load: 0.8, flows: 60}
`,
	} {
		var outcomes [2]sim.Outcome
		for i := range outcomes {
			c := load(t, text)
			c.Sample = ms
			outcomes[i] = run(t, c)
		}
		if !reflect.DeepEqual(outcomes[0], outcomes[1]) {
			t.Errorf("%s: two runs differ", name)
		}
		if len(outcomes[0].Queues) == 0 {
			t.Errorf("%s: no samples of queues", name)
		}
	}
}

// TestMemory: what a simulation holds grows by the record of each flow and by
// nothing else, when every flow opens a connection of its own.
func TestMemory(t *testing.T) {
	const few, many = 10_000, 60_000
	record := float64(reflect.TypeFor[results.Flow]().Size())
	growth := float64(held(t, many)-held(t, few)) / (many - few)
	between(t, "bytes a flow", growth, record, record+2)
}

// held is how many bytes a simulation of that many flows has come to hold.
func held(t *testing.T, flows int) int64 {
	c := load(t, fmt.Sprintf(`name: memory
topology: {kind: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 4, rate: 10Gbps}
rtt: 100us
host: {transport: dctcp}
schemes: [{name: it, aqm: tcn, threshold: 80us}]
workload: {pattern: all-to-all, sizes: {kind: fixed, size: 8KB}, load: 0.4, flows: %d, connections: 0}
`, flows))
	before := heap()
	s, err := sim.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context(), func(sim.Progress) {}); err != nil {
		t.Fatal(err)
	}
	after := heap()
	runtime.KeepAlive(s)
	runtime.KeepAlive(c)
	return after - before
}

// heap is how many bytes are in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
