package testbed

import (
	"cmp"
	"context"
	"slices"
	"time"

	"aqmlab/collectors"
	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/netns"
	"aqmlab/orchestrator/role"
	"aqmlab/results"
	"aqmlab/switch/wire"
)

// A testbed's switches are one process, whose fabric carries all of them, or,
// as containers, a process each, whose fabrics carry one each and hand packets
// to one another over links of the kernel.

// apart tells whether the switches are processes of their own.
func (t *Testbed) apart() bool { return len(t.plan.Switches) > 1 }

// switchName is what errors call a switch.
func (t *Testbed) switchName(i int) string {
	if t.apart() {
		return "switch " + t.plan.Switches[i]
	}
	return "the switch"
}

// openSwitches attaches the switches to their links.
func (t *Testbed) openSwitches(ctx context.Context) error {
	if t.virtual {
		if err := t.net.KeepTimes(); err != nil {
			return err
		}
	}
	return each(t.switches, func(i int, p switchProcess) error {
		c := t.ports(i)
		if err := p.Open(ctx, c); err != nil || !t.near(c) {
			return err
		}
		n := role.Near{Device: netns.Device, Others: t.cpus.Hosts}
		for _, h := range t.net.Hosts {
			n.Namespaces = append(n.Namespaces, h.Namespace)
		}
		return p.ReceiveNear(ctx, n)
	})
}

// near tells whether hosts that get little may receive on the switch's CPU. What is
// calibrated must be as under load: there the hosts' CPUs receive. The switch must reach
// their devices, and be allowed to change them.
func (t *Testbed) near(c wire.Config) bool {
	return t.uncalibrated && c.Poll > 0 && !t.contained && !t.netem && !host.InUserNamespace()
}

// keptPoll is how long after the last frame the switch of a lab that stays polls: nobody
// knows for how long the lab will be up.
const keptPoll = time.Second

// PollsOn are the CPUs on which this machine's switches poll; none of a lab that lies on
// several.
func (t *Testbed) PollsOn() (cpus []int) {
	if len(t.remotes) > 0 {
		return nil
	}
	for i := range t.switches {
		if c := t.ports(i); c.Poll > 0 {
			cpus = append(cpus, c.CPU)
		}
	}
	return cpus
}

// ports is what one of this machine's switches opens.
func (t *Testbed) ports(i int) wire.Config {
	sw := t.switches[i].number
	c := wire.Config{MTU: t.lab.Host.MTU, CPU: -1, Virtual: t.virtual, Stays: t.stays}
	if n := len(t.cpus.Switches); n > 0 {
		c.CPU = t.cpus.Switches[i%n]
		// Who shares a CPU, with the hosts or with other switches, sleeps.
		if len(t.switches) <= n {
			c.Spin, c.Poll = wire.DefaultSpin, wire.Forever
		}
		if t.stays {
			c.Poll = min(c.Poll, keptPoll)
		}
	}
	for _, h := range t.net.Hosts {
		if h.Switch == sw {
			c.Ports = append(c.Ports, wire.PortConfig{Interface: h.Name, MAC: h.Gateway[:], Far: h.MAC[:]})
		}
	}
	for _, trunk := range t.net.Trunks {
		for side, e := range trunk.Ends {
			if e.Switch == sw {
				c.Trunks = append(c.Trunks, wire.PortConfig{Interface: e.Interface, MAC: e.MAC[:], Far: trunk.Ends[1-side].MAC[:]})
			}
		}
	}
	return c
}

// startFabric has the switches run a network.
func (t *Testbed) startFabric(ctx context.Context, f role.Fabric) error {
	return each(t.switches, func(_ int, p switchProcess) error {
		mine := f
		if t.apart() {
			mine.Spec.Only = t.plan.Switches[p.number]
		}
		return p.Start(ctx, mine)
	})
}

// look looks at the replay that is going on. Times of queues count from the start
// of their switch.
func (t *Testbed) look(ctx context.Context) (results.Seen, error) {
	if t.seen.samples == nil {
		t.seen.samples = make([][]results.QueueSample, len(t.switches))
	}
	err := each(t.switches, func(i int, p switchProcess) error {
		more, err := p.Recent(ctx, len(t.seen.samples[i]))
		t.seen.samples[i] = append(t.seen.samples[i], more...)
		return err
	})
	if err != nil {
		return results.Seen{}, err
	}
	return results.See(t.seen.flows, slices.Concat(t.seen.samples...)), nil
}

// stopFabric ends it and returns what the switches measured.
func (t *Testbed) stopFabric(ctx context.Context) (role.Measured, error) {
	all, err := gather(ctx, t.switches, switchProcess.Finish)
	if err != nil {
		return role.Measured{}, err
	}
	for i := range all {
		all[i].Start -= int64(t.switches[i].ahead)
	}
	whole := all[0]
	for _, m := range all[1:] {
		join(&whole, m, t.dilation)
	}
	if t.apart() {
		slices.SortStableFunc(whole.Queues, func(a, b results.QueueSample) int { return cmp.Compare(a.At, b.At) })
		slices.SortStableFunc(whole.Estimates, func(a, b results.EstimateSample) int { return cmp.Compare(a.At, b.At) })
	}
	return whole, nil
}

// join adds what another switch measured. Lateness and CPU time are those of the
// switch that has the most: a packet's way is as exact as its worst part.
func join(whole *role.Measured, m role.Measured, dilation float64) {
	apart := time.Duration(float64(m.Start-whole.Start) / dilation)
	for _, q := range m.Queues {
		q.At += apart
		whole.Queues = append(whole.Queues, q)
	}
	for _, e := range m.Estimates {
		e.At += apart
		whole.Estimates = append(whole.Estimates, e)
	}
	collectors.Shift(m.Capture, apart) // a file may have a section for each switch
	whole.Capture.Chunks = append(whole.Capture.Chunks, m.Capture.Chunks...)
	whole.Capture.Packets += m.Capture.Packets
	whole.Capture.LeftOut += m.Capture.LeftOut
	whole.Classes, whole.Delays = append(whole.Classes, m.Classes...), append(whole.Delays, m.Delays...)
	whole.Ports = append(whole.Ports, m.Ports...)
	whole.Lost = append(whole.Lost, m.Lost...)
	whole.Ran = max(whole.Ran, m.Ran+apart)
	whole.LatenessP50 = max(whole.LatenessP50, m.LatenessP50)
	whole.LatenessP99 = max(whole.LatenessP99, m.LatenessP99)
	whole.LatenessMax = max(whole.LatenessMax, m.LatenessMax)
	whole.Busy = max(whole.Busy, m.Busy)
	whole.Delivered += m.Delivered
	whole.Clamped += m.Clamped
	whole.EdgeDrops += m.EdgeDrops
	whole.Ignored += m.Ignored
	whole.Held += m.Held
}
