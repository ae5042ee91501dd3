// Package truth compares simulations with theory and with other simulators.
//
// Every test runs a lab the way `aqmlab run LAB --runtime sim` does, and takes
// its bound from a derivation or a published figure that its comment gives; see
// docs/truth.md for all of them.
package truth

import (
	"fmt"
	"testing"
	"time"

	"aqmlab/labs"
	"aqmlab/orchestrator/simulated"
	"aqmlab/sim"
	"aqmlab/units"
)

const (
	us = time.Microsecond
	ms = time.Millisecond

	payload = 1448 // of a full segment: MTU 1500, IPv4 20, TCP with timestamps 32
	frame   = 1538 // of a full segment on the wire: 38 bytes of Ethernet
)

// load makes a simulation of a lab's first scheme, load and seed.
func load(t *testing.T, text string) sim.Config {
	t.Helper()
	lab, err := labs.Parse("truth.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	c, err := simulated.Config(lab, lab.Schemes[0].Name, lab.Workload.Load[0], lab.Seeds[0])
	if err != nil {
		t.Fatal(err)
	}
	c.Sample = 0
	return c
}

// run runs a simulation until all flows have ended, which they must.
func run(t *testing.T, c sim.Config) sim.Outcome {
	t.Helper()
	s, err := sim.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context(), func(sim.Progress) {}); err != nil {
		t.Fatal(err)
	}
	o := s.Outcome()
	for _, f := range o.Flows {
		if f.Error != "" {
			t.Fatalf("flow %d: %s", f.ID, f.Error)
		}
	}
	return o
}

// star is n hosts that send to one from the start, each over a link of its own,
// until they are stopped. The queue to the one host is that of port 0.
type star struct {
	senders   int
	rate      units.Rate
	rtt       time.Duration // without transmission
	transport string
	scheme    string // and its parameters, as a lab writes them
	stop      time.Duration
}

func (s star) lab() string {
	return fmt.Sprintf(`name: star
topology: {kind: star, hosts: %d, rate: %v}
rtt: %v
host: {transport: %s, delayed_ack: 1, stack: plain}
switch: {buffer: {per_port: 1GB}}
schemes: [{name: it, aqm: %s}]
workload: {arrival: {kind: static, count: [%d], stop: [%v]}, pattern: many-to-one, transfer: push, connections: 1}
`, s.senders+1, s.rate, units.FormatTime(s.rtt), s.transport, s.scheme, s.senders, units.FormatTime(s.stop))
}

// near fails the test unless got is want within a share of it.
func near(t *testing.T, what string, got, want, share float64) {
	t.Helper()
	if off := got/want - 1; off > share || off < -share {
		t.Errorf("%s: %.5g, want %.5g within %.2g %%: %+.2f %%", what, got, want, 100*share, 100*off)
	} else {
		t.Logf("%s: %.5g, want %.5g within %.2g %%: %+.2f %%", what, got, want, 100*share, 100*off)
	}
}

// between fails the test unless got lies in a range.
func between(t *testing.T, what string, got, least, most float64) {
	t.Helper()
	if got < least || got > most {
		t.Errorf("%s: %.5g, want %.5g to %.5g", what, got, least, most)
	} else {
		t.Logf("%s: %.5g, want %.5g to %.5g", what, got, least, most)
	}
}
