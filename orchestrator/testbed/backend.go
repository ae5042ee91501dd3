package testbed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cilium/ebpf/features"

	"aqmlab/labs"
	"aqmlab/orchestrator/backend"
	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/host/cc"
	"aqmlab/results"
	"aqmlab/trafficgen/transport"
)

// OpenNamespaces brings a lab up in network namespaces of this machine, to run its
// points on.
func OpenNamespaces(ctx context.Context, lab *labs.Lab, o backend.Options) (*backend.Backend, error) {
	if err := CheckPrograms(lab, "/", func(string) error { return nil }); err != nil {
		return nil, err
	}
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
	return &backend.Backend{Manifest: t.manifest(c), Jobs: 1, Measure: t.Run, Close: t.Down}, nil
}

// describe says on what the points will run.
func (t *Testbed) describe(c Calibration) string {
	var s strings.Builder
	provider := "the kernel"
	if slices.ContainsFunc(t.speaks, func(c Congestion) bool { return c.Provider == cc.EBPF }) {
		provider = "an eBPF program"
		if len(t.controls) > 1 {
			provider = "the kernel and " + provider
		}
	}
	where := ""
	switch {
	case len(t.grounds) > 1:
		where = fmt.Sprintf(" in containers of %d machines", len(t.grounds))
	case t.contained:
		where = " in containers"
	case host.InUserNamespace():
		where = " without root"
	}
	fmt.Fprintf(&s, "%d hosts%s, %s from %s, dilation %v", len(t.net.Hosts), where, t.lab.Spoken(), provider, c.Dilation)
	if cpus := t.PollsOn(); len(cpus) > 0 {
		fmt.Fprintf(&s, ", the switch polls on CPU %s", results.Join(cpus))
	}
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
	m.Rootless = host.InUserNamespace()
	m.ProvidedBy(t.Providers()...)
	for _, r := range t.remotes {
		m.Machines = append(m.Machines, results.Station{Name: r.Name, Address: r.Address.String(), Machine: r.part.Machine})
	}
	m.RTTBy, m.BaseRTT, m.BaseRTTs = t.RTTBy(), results.Micros(c.BaseRTT), c.RTTs
	m.PollsOn = t.PollsOn()
	return m
}

// rackOnly is the first kernel that finds losses in one way: Linux 6.17 removed what
// RFC 6675 describes ("tcp: remove obsolete and unused RFC3517/RFC6675 loss recovery
// code").
const rackOnly = 6<<16 | 17<<8

// kernelVersion is that of the running kernel as KERNEL_VERSION has it; zero when it
// is not known.
func kernelVersion() uint32 {
	version, err := features.LinuxVersionCode()
	if err != nil {
		return 0
	}
	return version
}

// otherLosses says, a line each, where real hosts on a kernel do not find or answer
// losses as the lab asks.
func otherLosses(lab *labs.Lab, version uint32) []string {
	var lines []string
	add := func(format string, a ...any) {
		release := fmt.Sprintf("Linux %d.%d", version>>16, version>>8&0xff)
		lines = append(lines, fmt.Sprintf(format, append([]any{release}, a...)...))
	}
	if r := lab.Host.LossRecovery; r != labs.RecoverRACK && version >= rackOnly {
		add("host.loss_recovery: %s has rack alone, without tail loss probes; %s needs one before 6.17, such as that of runtime uml", r)
	}
	for _, s := range lab.Speaks() {
		t, err := s.Build()
		if err == nil && t.Name == "dctcp" && t.DCTCP.OnLoss == transport.OnLossHalf && version != 0 && version < cc.HalvesSince {
			add("host.transport.%[2]s: %[1]s has %[3]s; %[4]s needs 5.1 or later", transport.OnLoss, transport.OnLossAlpha, transport.OnLossHalf)
			break
		}
	}
	return lines
}
