package testbed

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"aqmlab/labs"
	"aqmlab/orchestrator/backend"
	"aqmlab/orchestrator/host/cc"
	"aqmlab/orchestrator/role"
	"aqmlab/results"
)

// OpenNamespaces brings a lab up in network namespaces of this machine, to run its
// points on.
func OpenNamespaces(ctx context.Context, lab *labs.Lab, o backend.Options) (*backend.Backend, error) {
	return open(ctx, lab, Options{Root: o.Root, Log: o.Log}, o.Note)
}

// OpenContainers does so in Docker containers.
func OpenContainers(ctx context.Context, lab *labs.Lab, o backend.Options) (*backend.Backend, error) {
	return open(ctx, lab, Options{Root: o.Root, Log: o.Log, Containers: true}, o.Note)
}

// open brings a lab up and calibrates it.
func open(ctx context.Context, lab *labs.Lab, o Options, note func(string)) (*backend.Backend, error) {
	for _, line := range otherLosses(lab, kernelVersion()) {
		note("warning: " + line)
	}
	t, err := Up(ctx, lab, o)
	if err != nil {
		return nil, err
	}
	c, err := t.Calibrate(ctx, note)
	if err != nil {
		return nil, errors.Join(err, t.Down(context.WithoutCancel(ctx)))
	}
	note(t.describe(c))
	if missed := results.MissedRTTs(c.RTTs); missed != "" {
		note("warning: " + missed + "; a larger dilation brings them closer")
	}
	return &backend.Backend{Manifest: t.manifest(c), Jobs: 1, Measure: t.measureWatched, Close: t.Down}, nil
}

// measureWatched runs a point and lets watch look at it.
func (t *Testbed) measureWatched(ctx context.Context, p backend.Point, watch func(backend.Progress)) (results.Point, error) {
	return t.Run(ctx, p, func(s role.State) {
		watch(backend.Progress{Completed: s.Completed, Failed: s.Failed, Look: func() (results.Seen, error) { return t.See(ctx) }})
	})
}

// describe says on what the points will run.
func (t *Testbed) describe(c Calibration) string {
	var s strings.Builder
	provider := "the kernel"
	if t.cc.Provider() == cc.EBPF {
		provider = "an eBPF program"
	}
	where := ""
	if t.engine != nil {
		where = " in containers"
	}
	fmt.Fprintf(&s, "%d hosts%s, %s from %s, dilation %v", len(t.net.Hosts), where, t.lab.Host.Transport, provider, c.Dilation)
	if c.BaseRTT > 0 {
		fmt.Fprintf(&s, ", base RTT %v", c.BaseRTT.Round(time.Microsecond))
	}
	if drawn := t.lab.RTT.Max - t.lab.RTT.Min; drawn > 0 {
		fmt.Fprintf(&s, " and up to %v more, by %s", drawn, t.RTTBy())
	}
	return s.String()
}

func (t *Testbed) manifest(c Calibration) results.Manifest {
	m := backend.ManifestOf(t.lab)
	m.Dilation = c.Dilation
	m.Transport.Provider = string(t.cc.Provider())
	m.RTTBy, m.BaseRTT, m.BaseRTTs = t.RTTBy(), results.Micros(c.BaseRTT), c.RTTs
	return m
}
