package bench

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"aqmlab/labs"
	"aqmlab/orchestrator/simulated"
	"aqmlab/sim"
)

// BenchmarkMemory measures what a simulation takes for one more of each: the difference of
// two, over the number by which they differ.
func BenchmarkMemory(b *testing.B) {
	star := func(hosts, flows int) string {
		return fmt.Sprintf(`topology: {kind: star, hosts: %d, rate: 10Gbps}
workload: {pattern: all-to-all, sizes: websearch, load: 0.5, flows: %d, transfer: push, connections: 0}
`, hosts, flows)
	}
	trunks := func(spines int) string {
		return fmt.Sprintf(`topology: {kind: leaf-spine, leaves: 32, spines: %d, hosts_per_leaf: 1, rate: 10Gbps, link_delay: 12500ns}
workload: {pattern: all-to-all, sizes: websearch, load: 0.5, flows: 1, transfer: push, connections: 0}
`, spines)
	}
	senders := func(n int) string {
		return fmt.Sprintf(`topology: {kind: star, hosts: 9, rate: 10Gbps}
workload: {arrival: {kind: static, count: [%d]}, pattern: many-to-one, sizes: {kind: fixed, size: 181MB}, transfer: push, connections: 0}
`, n)
	}
	for _, m := range []struct {
		name        string
		less, more  string
		difference  int
		runs        bool // for a while
		description string
	}{
		{"host", star(1000, 1), star(2000, 1), 1000, false, "with its link and the switch's port"},
		{"link", trunks(32), trunks(64), 32 * 32, false, "between switches, with a port at each end"},
		{"flow", star(9, 10_000), star(9, 110_000), 100_000, false, "that has yet to begin, or is over"},
		{"connection", senders(80), senders(880), 800, true, "with its packets under way"},
	} {
		b.Run(m.name, func(b *testing.B) {
			b.Log(m.description)
			for b.Loop() {
				less, more := heap(b, m.less, m.runs), heap(b, m.more, m.runs)
				b.ReportMetric(float64(more-less)/float64(m.difference), "bytes/"+m.name)
			}
		})
	}
}

// heap is how much a simulation holds, in bytes: before it runs, or when it has run for some
// events.
func heap(b *testing.B, network string, runs bool) int64 {
	lab, err := labs.Parse("bench", []byte("name: bench\n"+network+benchCommon))
	if err != nil {
		b.Fatal(err)
	}
	before := held()
	c, err := simulated.Config(lab, lab.Baseline, lab.Workload.Load[0], lab.Seeds[0])
	if err != nil {
		b.Fatal(err)
	}
	c.Sample = 0
	s, err := sim.New(c)
	if err != nil {
		b.Fatal(err)
	}
	if runs {
		ctx, cancel := context.WithCancel(b.Context())
		defer cancel()
		const events = 1_000_000
		_ = s.Run(ctx, func(p sim.Progress) { // ends with the context's error
			if p.Events > events {
				cancel()
			}
		})
	}
	after := held()
	runtime.KeepAlive(s)
	runtime.KeepAlive(&c)
	return after - before
}

// held is what the program holds.
func held() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
