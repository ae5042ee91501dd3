package testbed

import (
	"context"
	"fmt"
	"slices"
	"time"

	"aqmlab/kind"
	"aqmlab/labs"
	"aqmlab/orchestrator/backend"
	"aqmlab/results"
	"aqmlab/trafficgen"
	"aqmlab/trafficgen/live"
	"aqmlab/trafficgen/traffic"
	"aqmlab/units"
)

// Calibration is what bringing lab time and wall clock together found.
type Calibration struct {
	Dilation float64
	Overhead time.Duration // wall time that hosts and switch add to a round trip
	BaseRTT  time.Duration // lab time, of the idle lab, without what the lab draws
	// RTTs are the base RTTs of each sender that was measured.
	RTTs []results.BaseRTT
}

// What the pilot must show for a dilation to be chosen. They leave some room to the
// bounds of the label: whole points differ from the pilot.
const (
	pilotLateShare = 0.08 // p99 lateness of deliveries over the base RTT
	pilotHeadroom  = 0.15 // share of the busiest CPUs that the lab leaves
	maxOverhead    = 0.5  // share of the base RTT that hosts and switch add by themselves
)

const (
	pilotTime  = 1200 * time.Millisecond // on the wall
	pilotBytes = 100_000                 // size of its flows: a busy mix of starts and transfers
	// pilotMost bounds its flows where many hosts offer more in its time than a machine can
	// carry: 3 Gbps and more.
	pilotMost = 5000
)

// Calibrate measures what hosts and switch add to a round trip, takes it out
// of the links' delays, and, for a lab that leaves the dilation to us, finds
// the smallest one for which this machine keeps up: it replays a short pilot
// at the lab's highest load and looks at lateness, losses and what the lab itself
// uses. Where none is good enough it takes the best, which is labelled. say is told
// of each that is not, and of other programs that use the CPUs.
func (t *Testbed) Calibrate(ctx context.Context, say func(string)) (Calibration, error) {
	c, err := t.calibrate(ctx, say)
	if err != nil {
		return Calibration{}, fmt.Errorf("calibrating: %w", err)
	}
	return c, nil
}

func (t *Testbed) calibrate(ctx context.Context, say func(string)) (Calibration, error) {
	others, err := t.watchOthers(ctx)
	if err != nil {
		return Calibration{}, err
	}
	found, err := t.findOverhead(ctx)
	if err != nil {
		return Calibration{}, err
	}
	if err := t.checkReach(found); err != nil {
		return Calibration{}, err
	}
	if t.lab.Dilation == 0 {
		if err := t.chooseDilation(ctx, t.least(found), say); err != nil {
			return Calibration{}, err
		}
	}
	rtt, all, err := t.baseRTTs(ctx)
	if err != nil {
		return Calibration{}, err
	}
	if busy, err := others(ctx); err != nil {
		return Calibration{}, err
	} else if busy != "" {
		say("warning: " + busy + "; what that does to a point shows in its label")
	}
	return Calibration{Dilation: t.dilation, Overhead: t.overhead, BaseRTT: rtt, RTTs: all}, nil
}

// FindOverhead measures what hosts and switch add to a round trip.
func (t *Testbed) FindOverhead(ctx context.Context) error {
	_, err := t.findOverhead(ctx)
	return err
}

// findOverhead answers what was measured, too.
func (t *Testbed) findOverhead(ctx context.Context) ([]timedConnection, error) {
	found, err := t.timeBase(ctx, t.lab.Seeds[0])
	if err != nil {
		return nil, err
	}
	t.overhead = max(0, time.Duration(float64(excess(found))*t.dilation))
	return found, nil
}

// least is the dilation below which hosts and switch, or the network between machines,
// add more to a round trip than their share of the base RTT.
func (t *Testbed) least(found []timedConnection) float64 {
	least := 1.0
	if t.lab.RTT.Min > 0 {
		least = float64(t.overhead) / (maxOverhead * float64(t.lab.RTT.Min))
	}
	if far := t.farthest(found); far != nil {
		least = max(least, far.Least())
	}
	return least
}

// pilot replays a short trace at the lab's highest load under its baseline, without the
// lab's events and programs.
func (t *Testbed) pilot(ctx context.Context) (m measurement, err error) {
	lab := t.lab
	defer t.Use(lab)
	alone := *lab
	alone.Events, alone.Programs = nil, nil
	t.Use(&alone)
	spec := lab.Traffic(slices.Max(lab.Workload.Load), lab.Seeds[0])
	flows, err := pilotTrace(spec, time.Duration(float64(pilotTime)/t.dilation))
	if err != nil {
		return m, err
	}
	if flows, err = paceDatagrams(flows, t.lab, spec.Rate); err != nil {
		return m, err
	}
	if m, err = t.measure(ctx, backend.Point{Coord: results.Coord{Scheme: t.lab.Baseline}, Flows: flows}, func(backend.Progress) {}); err != nil {
		return m, fmt.Errorf("running the pilot: %w", err)
	}
	return m, nil
}

// verdict says how bad a pilot was, where up to 1 is good, and what was worst.
// Lateness does not count while others kept the switch from its CPU: a larger
// dilation would leave them there.
func verdict(m measurement, f results.Fidelity) (worst float64, why string) {
	late := f.ShareOfRTT / pilotLateShare
	if m.sw.Waited > muchWaiting {
		late = 0
	}
	busy := (1 - f.CPUHeadroom) / (1 - pilotHeadroom)
	lost := 0.0
	if f.EdgeDrops > 0 {
		lost = 1 + float64(f.EdgeDrops)/float64(m.sw.Delivered+f.EdgeDrops)
	}
	switch worst = max(late, busy, lost); worst {
	case late:
		why = fmt.Sprintf("deliveries were up to %v late (p99), %.0f %% of the base RTT", f.LatenessP99, 100*f.ShareOfRTT)
	case busy:
		why = fmt.Sprintf("the lab itself kept its CPUs busy %.0f %% of the time", 100*(1-f.CPUHeadroom))
	default:
		why = fmt.Sprintf("%d frames were lost between kernel and switch", f.EdgeDrops)
	}
	return worst, why
}

// pilotTrace is the load of a spec in independent flows of the pilot's size, as
// many as start within that lab time, one at least and pilotMost at most.
func pilotTrace(spec trafficgen.Spec, within time.Duration) ([]traffic.Flow, error) {
	spec.Arrival, spec.ServiceSizes, spec.Background = kind.Choice{Kind: "poisson"}, nil, nil
	spec.Sizes = kind.Choice{Kind: "fixed", Params: map[string]any{"size": fmt.Sprintf("%dB", pilotBytes)}}
	// Every host may be a client, each of which asks for the load.
	spec.Flows = min(max(1, int(spec.Load*float64(spec.Rate.Bytes(within))/pilotBytes)*spec.Hosts), pilotMost)
	flows, err := trafficgen.Trace(spec)
	if err != nil {
		return nil, err
	}
	end := slices.IndexFunc(flows, func(f traffic.Flow) bool { return f.Start > within })
	if end < 0 {
		return flows, nil
	}
	return flows[:max(1, end)], nil
}

// paceDatagrams gives flows of datagrams what these need, the rate of a link and twice the
// time that they take at it.
func paceDatagrams(flows []traffic.Flow, lab *labs.Lab, rate units.Rate) ([]traffic.Flow, error) {
	sorts, err := sortsOf(lab)
	if err != nil {
		return nil, err
	}
	for i := range flows {
		if f := &flows[i]; sorts[f.Transport] == live.Datagrams {
			f.Rate, f.Stop = rate, f.Start+2*rate.Time(int(f.Bytes))
		}
	}
	return flows, nil
}
