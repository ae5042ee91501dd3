package bench

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"aqmlab/labs"
	"aqmlab/orchestrator/simulated"
	"aqmlab/results"
	"aqmlab/sim"
	"aqmlab/switch/fabric"
)

// Simulations is how fast simulations run on one core, and on several.
type Simulations struct {
	Machine   results.Machine `json:"machine"`
	Rounds    int             `json:"rounds"`
	Threads   int             `json:"threads"` // of the other measurement; below 2: there was none
	Scenarios []SimSpeed      `json:"scenarios"`
}

// SimSpeed is what one scenario took.
type SimSpeed struct {
	Name         string  `json:"name"`
	Hosts        int     `json:"hosts"`
	Flows        int     `json:"flows"`
	Packets      int64   `json:"data_packets"`  // with payload, delivered
	Hops         int64   `json:"packet_hops"`   // links that packets of all kinds crossed
	Events       int64   `json:"events"`        // run by the loop
	PerMillion   Spread  `json:"s_per_million"` // wall seconds for a million data packets
	EventsPerSec Spread  `json:"events_per_s"`
	PerHop       Spread  `json:"ns_per_hop"`
	MemoryMB     float64 `json:"peak_memory_mb"` // of the whole process, its programs included
	Parts        int     `json:"parts"`          // that the threads have; with one, there is no speedup
	Speedup      Spread  `json:"speedup"`        // wall time of one thread over that of several, in turn
}

// benchCommon is what the labs have in common besides their network.
const benchCommon = `
host: {transport: dctcp, init_cwnd: 16, rto_min: 5ms, delayed_ack: 1}
switch: {buffer: {per_port: 1MB}}
schemes: [{name: dctcp-red, aqm: dctcp-red, threshold: 97500B}]
`

// simScenarios are labs that stand for a small and a large network: the star
// and the leaf-spine that ns-3 and htsim were measured with, and fabrics of other
// sizes under the same load.
func simScenarios() []struct{ name, lab string } {
	leafSpine := func(leaves, spines, hosts, flows int) string {
		return fmt.Sprintf(`name: bench
topology: {kind: leaf-spine, leaves: %d, spines: %d, hosts_per_leaf: %d, rate: 10Gbps, link_delay: 12500ns}
workload: {pattern: all-to-all, sizes: websearch, load: 0.5, flows: %d, transfer: push, connections: 0}
`, leaves, spines, hosts, flows) + benchCommon
	}
	return []struct{ name, lab string }{
		{"star, 8 to 1", `name: bench
topology: {kind: star, hosts: 9, rate: 10Gbps}
rtt: 100us
workload: {arrival: {kind: static, count: [8]}, pattern: many-to-one, sizes: {kind: fixed, size: 181MB}, transfer: push, connections: 0}
` + benchCommon},
		{"leaf-spine, 16 hosts", leafSpine(4, 4, 4, 1000)},
		{"leaf-spine, 144 hosts", leafSpine(12, 12, 12, 1000)},
		{"leaf-spine, 1024 hosts", leafSpine(32, 32, 32, 2000)},
		{"fat-tree, 8192 hosts", `name: bench
topology: {kind: fat-tree, k: 32, rate: 10Gbps, link_delay: 12500ns}
workload: {pattern: all-to-all, sizes: websearch, load: 0.5, flows: 4000, transfer: push, connections: 0}
` + benchCommon},
	}
}

// MeasureSimulations measures every scenario rounds times (1 or more), one after another,
// and, with more than one thread, each time on so many as well. It needs a quiet machine.
func MeasureSimulations(ctx context.Context, rounds, threads int) (Simulations, error) {
	b := Simulations{Machine: results.ThisMachine(), Rounds: rounds, Threads: threads}
	for _, s := range simScenarios() {
		speed, err := benchScenario(ctx, s.lab, rounds, threads)
		if err != nil {
			return Simulations{}, fmt.Errorf("measuring %s: %w", s.name, err)
		}
		speed.Name = s.name
		b.Scenarios = append(b.Scenarios, speed)
	}
	return b, nil
}

func benchScenario(ctx context.Context, text string, rounds, threads int) (SimSpeed, error) {
	lab, err := labs.Parse("bench", []byte(text))
	if err != nil {
		return SimSpeed{}, err
	}
	c, err := simulated.Config(lab, lab.Baseline, lab.Workload.Load[0], lab.Seeds[0])
	if err != nil {
		return SimSpeed{}, err
	}
	c.Sample = 0
	speed := SimSpeed{Hosts: len(c.Fabric.Hosts), Flows: len(c.Flows)}
	parts, _ := c.Fabric.Partition(max(1, threads))
	speed.Parts = parts
	walls, gains := make([]time.Duration, rounds), make([]float64, rounds)
	for i := range walls {
		c.Threads = 1
		if walls[i], err = speed.time(ctx, c); err != nil {
			return SimSpeed{}, err
		}
		if c.Threads = parts; parts == 1 {
			continue
		}
		shared, err := speed.time(ctx, c)
		if err != nil {
			return SimSpeed{}, err
		}
		gains[i] = walls[i].Seconds() / shared.Seconds()
	}
	speed.Speedup = spread(gains, func(gain float64) float64 { return gain })
	speed.PerMillion = spread(walls, func(w time.Duration) float64 { return w.Seconds() / float64(speed.Packets) * 1e6 })
	speed.EventsPerSec = spread(walls, func(w time.Duration) float64 { return float64(speed.Events) / w.Seconds() })
	speed.PerHop = spread(walls, func(w time.Duration) float64 { return float64(w) / float64(speed.Hops) })
	return speed, nil
}

// time runs a simulation once. What it counts is the same every time.
func (r *SimSpeed) time(ctx context.Context, c sim.Config) (time.Duration, error) {
	runtime.GC()
	s, err := sim.New(c)
	if err != nil {
		return 0, err
	}
	if err := resetPeakMemory(); err != nil {
		return 0, err
	}
	begun := time.Now()
	if err := s.Run(ctx, func(sim.Progress) {}); err != nil {
		return 0, err
	}
	took := time.Since(begun)
	p := s.Progress()
	if p.Completed < len(c.Flows) {
		return 0, fmt.Errorf("%d of %d flows did not complete", len(c.Flows)-p.Completed, len(c.Flows))
	}
	r.Packets, r.Events = p.Packets, p.Events
	r.Hops = hops(p, s.Outcome().Ports)
	mb, err := peakMemory()
	r.MemoryMB = max(r.MemoryMB, mb)
	return took, err
}

// hops is how many links packets crossed: those of switches' ports, and the
// uplinks of hosts, by which everything entered that a port sent to a host or
// dropped.
func hops(p sim.Progress, ports []fabric.PortCount) int64 {
	n := p.Packets + p.Others
	for _, port := range ports {
		for _, q := range port.Queues {
			n += q.Sent + q.DropsFull + q.DropsScheme
		}
	}
	return n
}

// resetPeakMemory makes the kernel forget the process's largest size so far.
func resetPeakMemory() error {
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		return fmt.Errorf("resetting the peak memory: %w", err)
	}
	return nil
}

// peakMemory is the most memory that the process had, in MB.
func peakMemory() (float64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, fmt.Errorf("reading the peak memory: %w", err)
	}
	_, size, _ := strings.Cut(string(status), "VmHWM:")
	var kb float64
	if _, err := fmt.Sscan(size, &kb); err != nil {
		return 0, fmt.Errorf("reading the peak memory: VmHWM of /proc/self/status: %w", err)
	}
	return kb * 1024 / 1e6, nil
}
