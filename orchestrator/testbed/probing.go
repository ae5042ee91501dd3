package testbed

import (
	"context"
	"time"

	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/role"
	"aqmlab/results"
)

// startProbes has the lab's probes sent beside a replay with that time zero. It
// returns the crews that send some.
func (t *Testbed) startProbes(ctx context.Context, zero int64) (fleet, error) {
	probes, err := t.lab.Probes()
	if err != nil {
		return nil, err
	}
	return t.hosts.startProbes(ctx, role.Probing{
		Probes:   probes,
		Dilation: t.dilation,
		Patience: time.Duration(float64(t.lab.ProbePatience()) * t.dilation),
		Zero:     zero,
	})
}

// startProbes gives every probe to the crew of the host that sends it.
func (f fleet) startProbes(ctx context.Context, p role.Probing) (fleet, error) {
	var sending fleet
	for _, c := range f {
		mine := p
		mine.Probes = nil
		for _, one := range p.Probes {
			if c.carries(one.From) {
				mine.Probes = append(mine.Probes, one)
			}
		}
		if len(mine.Probes) == 0 {
			continue
		}
		if err := c.Call(ctx, "Probe", mine, &agent.Nothing{}); err != nil {
			return nil, err
		}
		sending = append(sending, c)
	}
	return sending, nil
}

// endProbes ends the probes of crews that send some, and returns what they
// measured.
func (f fleet) endProbes(ctx context.Context) ([]results.ProbeSample, error) {
	var all []results.ProbeSample
	for _, c := range f {
		var samples []results.ProbeSample
		if err := c.Call(ctx, "Probed", agent.Nothing{}, &samples); err != nil {
			return nil, err
		}
		all = append(all, samples...)
	}
	return all, nil
}

// replayed is what a replay leaves.
type replayed struct {
	zero     int64 // CLOCK_MONOTONIC at the trace's time zero
	Flows    []results.Flow
	probes   []results.ProbeSample
	senders  []results.SenderSample
	services []results.ServiceSample
}
