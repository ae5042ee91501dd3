// Package bench measures aqmlab itself: its data path beside a Linux bridge, what
// collectors cost, how long labs take to come up, and how fast simulations run.
package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"github.com/vishvananda/netlink"

	"aqmlab/labs"
	"aqmlab/orchestrator/backend"
	"aqmlab/orchestrator/netns"
	"aqmlab/orchestrator/role"
	"aqmlab/orchestrator/testbed"
	"aqmlab/results"
	"aqmlab/switch/packet"
	"aqmlab/trafficgen/traffic"
)

// Spread is what repeated measurements gave.
type Spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// spread takes one figure of each round.
func spread[T any](rounds []T, figure func(T) float64) Spread {
	values := make([]float64, len(rounds))
	for i, r := range rounds {
		values[i] = figure(r)
	}
	slices.Sort(values)
	return Spread{values[len(values)/2], values[0], values[len(values)-1]}
}

// Datapath compares the switch with a Linux bridge between the same two hosts,
// in turns in one run.
type Datapath struct {
	Machine results.Machine `json:"machine"`
	Rounds  int             `json:"rounds"`
	PollsOn []int           `json:"polls_on,omitempty"` // CPUs on which the switch polls
	// GaveWay counts the turns in which the switch slept for a while all the same, because
	// other programs wanted its CPU.
	GaveWay int `json:"gave_way,omitempty"`
	// One long flow, and the fastest of 20 round trips of a segment on the idle path.
	BridgeGbps Spread `json:"bridge_gbps"`
	SwitchGbps Spread `json:"switch_gbps"` // at 100 Gbps, with dwrr and tcn
	BridgeRTT  Spread `json:"bridge_rtt_us"`
	SwitchRTT  Spread `json:"switch_rtt_us"`
	// One long flow through a port of 1 Gbps with the papers' limiter.
	ShapedGbps    Spread  `json:"shaped_gbps"`
	TheoryGbps    float64 `json:"theory_gbps"` // limiter's rate less headers
	ShareOfTheory Spread  `json:"share_of_theory"`
	LatenessP50   Spread  `json:"shaped_lateness_p50_us"`
	LatenessP99   Spread  `json:"shaped_lateness_p99_us"`
	Busy          Spread  `json:"shaped_switch_busy"` // share of its CPU
}

// The labs of the benchmark: two hosts without any delay of the switch's own, and a port
// with several queues and marks. The flow is not ECN-capable, so that it differs in
// nothing from the one through the bridge.
const (
	forwardLab = `
name: bench-forward
topology: {kind: star, hosts: 2, rate: 100Gbps}
host: {transport: cubic}
switch: {buffer: {per_port: 4MB}, scheduler: {kind: dwrr, queues: 4}}
schemes: [{name: tcn, aqm: tcn, threshold: 80us}]
workload: {flows: 1, connections: 1}
dilation: 1
`
	shapedLab = `
name: bench-shaped
topology: {kind: star, hosts: 2, rate: 1Gbps}
host: {transport: cubic}
switch: {buffer: {per_port: 384KB}, limiter: {rate_fraction: 0.995, bucket: 2500B}}
schemes: [{name: droptail, aqm: droptail}]
workload: {flows: 1, connections: 1}
dilation: 1
`
	forwardBytes = 1_000_000_000 // about two seconds
	shapedBytes  = 250_000_000
)

// MeasureDatapath measures rounds times (1 or more). It needs a quiet machine.
func MeasureDatapath(ctx context.Context, rounds int, log io.Writer) (Datapath, error) {
	d, err := onTwoHosts(ctx, log, shapedLab, func(b *bench) (Datapath, error) { return b.run(ctx, rounds) })
	if err != nil {
		err = fmt.Errorf("measuring the data path: %w", err)
	}
	return d, err
}

// onTwoHosts brings up the two hosts of forwardLab, to be measured with its ports and
// with those of another lab.
func onTwoHosts[T any](ctx context.Context, log io.Writer, other string, measure func(*bench) (T, error)) (measured T, err error) {
	var b bench
	if b.forward, err = labs.Parse("bench-forward", []byte(forwardLab)); err != nil {
		return measured, err
	}
	if b.other, err = labs.Parse("bench-other", []byte(other)); err != nil {
		return measured, err
	}
	if b.Testbed, err = testbed.Up(ctx, b.forward, testbed.Options{Log: log, Uncalibrated: true}); err != nil {
		return measured, err
	}
	measured, err = measure(&b)
	return measured, errors.Join(err, b.Down(context.WithoutCancel(ctx)))
}

// bench is a testbed whose two hosts reach each other with or without the
// switch.
type bench struct {
	*testbed.Testbed
	forward, other *labs.Lab
}

// sample is one round's figures.
type sample struct{ gbps, rtt float64 }

func (b *bench) run(ctx context.Context, rounds int) (Datapath, error) {
	if err := b.direct(); err != nil {
		return Datapath{}, err
	}
	var bridged, switched, shaped []sample
	var reports []role.Measured
	gaveWay := 0
	for range rounds {
		s, err := b.bridged(ctx)
		if err != nil {
			return Datapath{}, fmt.Errorf("through a bridge: %w", err)
		}
		bridged = append(bridged, s)
		s, forward, err := b.switched(ctx, b.forward, forwardBytes)
		if err != nil {
			return Datapath{}, fmt.Errorf("through the switch: %w", err)
		}
		switched = append(switched, s)
		s, report, err := b.switched(ctx, b.other, shapedBytes)
		if err != nil {
			return Datapath{}, fmt.Errorf("through a shaped port: %w", err)
		}
		shaped, reports = append(shaped, s), append(reports, report)
		for _, m := range []role.Measured{forward, report} {
			if m.GaveWay {
				gaveWay++
			}
		}
	}
	theory := b.theory()
	gbps, rtt := func(s sample) float64 { return s.gbps }, func(s sample) float64 { return s.rtt }
	return Datapath{
		Machine:       results.ThisMachine(),
		Rounds:        rounds,
		PollsOn:       b.PollsOn(),
		GaveWay:       gaveWay,
		BridgeGbps:    spread(bridged, gbps),
		SwitchGbps:    spread(switched, gbps),
		BridgeRTT:     spread(bridged, rtt),
		SwitchRTT:     spread(switched, rtt),
		ShapedGbps:    spread(shaped, gbps),
		TheoryGbps:    theory,
		ShareOfTheory: spread(shaped, func(s sample) float64 { return s.gbps / theory }),
		LatenessP50:   spread(reports, func(m role.Measured) float64 { return micros(m.LatenessP50) }),
		LatenessP99:   spread(reports, func(m role.Measured) float64 { return micros(m.LatenessP99) }),
		Busy:          spread(reports, func(m role.Measured) float64 { return m.Busy }),
	}, nil
}

// theory is the payload that the shaped port's limiter lets through, in Gbps.
func (b *bench) theory() float64 {
	mtu := b.other.Host.MTU
	rate := b.other.Switch.Limiter.RateFraction * float64(b.other.Topology.Rate) / 1e9
	return rate * float64(mtu-packet.TCPHeaders) / float64(mtu+packet.FrameOverhead)
}

func micros(d time.Duration) float64 { return float64(d) / 1e3 }

// switched measures the way through the switch with the ports of a lab.
func (b *bench) switched(ctx context.Context, lab *labs.Lab, bytes int64) (s sample, m role.Measured, err error) {
	b.Use(lab)
	p := backend.Point{Coord: results.Coord{Scheme: lab.Baseline}}
	if lab.Collect.Queues > 0 {
		p.Flows = oneFlow(bytes) // whose queues are to be sampled
	}
	m, err = b.WithSwitch(ctx, p, func(ctx context.Context) error {
		s, err = b.path(ctx, bytes)
		return err
	})
	return s, m, err
}

// bridged measures the way through a Linux bridge over the switch's ports.
func (b *bench) bridged(ctx context.Context) (s sample, err error) {
	if err := netns.Do(b.Network().Switches[0], b.addBridge); err != nil {
		return sample{}, err
	}
	defer func() { err = errors.Join(err, netns.Do(b.Network().Switches[0], netns.RemoveBridge)) }()
	return b.path(ctx, forwardBytes)
}

// path measures the way between the two hosts as it is: round trips while it is
// idle, then one long flow.
func (b *bench) path(ctx context.Context, bytes int64) (sample, error) {
	rtts, err := b.MeasureRTT(ctx, [][2]int{{0, 1}})
	if err != nil {
		return sample{}, err
	}
	run, err := b.Replay(ctx, backend.Point{Flows: oneFlow(bytes)}, b.Lab().Collect.Queues, func(backend.Progress) {})
	return sample{results.Goodput(run.Flows), micros(rtts[0].Least)}, err
}

// oneFlow is from the second host to the first.
func oneFlow(bytes int64) []traffic.Flow {
	return []traffic.Flow{{Start: time.Millisecond, Server: 1, Bytes: bytes}}
}

// direct lets the two hosts address each other's MAC, which a bridge needs and
// the switch does not mind.
func (b *bench) direct() error {
	for i, h := range b.Network().Hosts {
		peer := b.Network().Hosts[1-i]
		if err := netns.Do(h.Namespace, func() error { return b.reach(peer) }); err != nil {
			return fmt.Errorf("preparing %s for a bridge: %w", h.Name, err)
		}
	}
	return nil
}

// reach gives the host that the calling thread is in a route to a peer on its
// own link.
func (b *bench) reach(peer netns.Host) error {
	device, err := netlink.LinkByName(netns.Device)
	if err != nil {
		return err
	}
	index, to := device.Attrs().Index, peer.Addr.AsSlice()
	neighbour := &netlink.Neigh{LinkIndex: index, State: netlink.NUD_PERMANENT, IP: to, HardwareAddr: peer.MAC[:]}
	if err := netlink.NeighAdd(neighbour); err != nil {
		return fmt.Errorf("adding neighbour %s: %w", peer.Name, err)
	}
	bits := peer.Addr.BitLen()
	route := &netlink.Route{
		LinkIndex: index,
		Scope:     netlink.SCOPE_LINK,
		Dst:       &net.IPNet{IP: to, Mask: net.CIDRMask(bits, bits)},
		Congctl:   b.Congestion().Name,
	}
	if err := netlink.RouteAdd(route); err != nil {
		return fmt.Errorf("adding a route to %s: %w", peer.Name, err)
	}
	return nil
}

// addBridge joins the switch's ports to a bridge, in the calling thread's
// namespace.
func (b *bench) addBridge() error {
	var ports []string
	for _, h := range b.Network().Hosts {
		ports = append(ports, h.Name)
	}
	return netns.Bridge(ports...)
}

// CollectorsCost compares the switch with and without what a run collects beside
// its flows, in turns in one run.
type CollectorsCost struct {
	Machine results.Machine `json:"machine"`
	Rounds  int             `json:"rounds"`
	// One long flow, forwarding only, at 100 Gbps.
	WithoutGbps Spread `json:"without_gbps"`
	WithGbps    Spread `json:"with_gbps"`
	Ratio       Spread `json:"ratio"` // with over without, of each round's two turns
}

// collectedLab is forwardLab with its queues and services sampled, over the two
// seconds of its flow, as often as runs do without being told.
const collectedLab = forwardLab + "collect: {queues: 1ms}\n"

// MeasureCollectors measures rounds times (1 or more). It needs a quiet machine.
func MeasureCollectors(ctx context.Context, rounds int, log io.Writer) (CollectorsCost, error) {
	c, err := onTwoHosts(ctx, log, collectedLab, func(b *bench) (CollectorsCost, error) { return b.collectors(ctx, rounds, forwardBytes) })
	if err != nil {
		err = fmt.Errorf("measuring what collectors cost: %w", err)
	}
	return c, err
}

// collectors measures without and with them. Who is first changes from round to
// round, so that what the machine does over time favours neither.
func (b *bench) collectors(ctx context.Context, rounds int, bytes int64) (CollectorsCost, error) {
	labs := [2]*labs.Lab{b.forward, b.other}
	pairs := make([][2]sample, rounds)
	for round := range pairs {
		for turn := range labs {
			i := (round + turn) % 2
			s, m, err := b.switched(ctx, labs[i], bytes)
			if err != nil {
				return CollectorsCost{}, err
			}
			if collected := len(m.Queues) > 0; collected != (i == 1) {
				return CollectorsCost{}, fmt.Errorf("%d samples of queues in a turn that collects: %v", len(m.Queues), i == 1)
			}
			pairs[round][i] = s
		}
	}
	return CollectorsCost{
		Machine:     results.ThisMachine(),
		Rounds:      rounds,
		WithoutGbps: spread(pairs, func(p [2]sample) float64 { return p[0].gbps }),
		WithGbps:    spread(pairs, func(p [2]sample) float64 { return p[1].gbps }),
		Ratio:       spread(pairs, func(p [2]sample) float64 { return p[1].gbps / p[0].gbps }),
	}, nil
}
