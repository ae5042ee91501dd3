package orchestrator

import (
	"context"
	"fmt"
	"slices"
	"time"

	"aqmlab/kind"
	"aqmlab/orchestrator/role"
	"aqmlab/results"
	"aqmlab/trafficgen"
)

// Calibration is what bringing lab time and wall clock together found.
type Calibration struct {
	Dilation float64
	Overhead time.Duration // wall time that hosts and switch add to a round trip
	BaseRTT  time.Duration // lab time, of the idle lab, without what the lab draws
	// RTTs are the base RTTs of each sender that was measured.
	RTTs []results.BaseRTT
}

// What the pilot must show for a dilation to be chosen. They leave room: the
// pilot is short, and the label of a run is given at twice the lateness.
const (
	pilotLateShare = 0.05 // p99 lateness of deliveries over the base RTT
	pilotHeadroom  = 0.25 // idle share of the busiest of switch and hosts
	maxOverhead    = 0.5  // share of the base RTT that hosts and switch add by themselves
)

const (
	pilotTime   = 600 * time.Millisecond // on the wall
	pilotBytes  = 100_000                // size of its flows: a busy mix of starts and transfers
	maxDilation = 128
)

// Calibrate measures what hosts and switch add to a round trip, takes it out
// of the links' delays, and, for a lab that leaves the dilation to us, finds
// the smallest one for which this machine keeps up: it replays a short pilot
// at the lab's highest load and looks at lateness and idle time.
func (t *Testbed) Calibrate(ctx context.Context, say func(string)) (Calibration, error) {
	c, err := t.calibrate(ctx, say)
	if err != nil {
		return Calibration{}, fmt.Errorf("calibrating: %w", err)
	}
	return c, nil
}

func (t *Testbed) calibrate(ctx context.Context, say func(string)) (Calibration, error) {
	found, err := t.timeBase(ctx, t.lab.Seeds[0])
	if err != nil {
		return Calibration{}, err
	}
	t.overhead = max(0, time.Duration(float64(excess(found))*t.dilation))
	if t.lab.Dilation == 0 {
		if err := t.chooseDilation(ctx, say); err != nil {
			return Calibration{}, err
		}
	}
	c := Calibration{Dilation: t.dilation, Overhead: t.overhead}
	c.BaseRTT, c.RTTs, err = t.baseRTTs(ctx)
	return c, err
}

// chooseDilation tries dilations from 1 up.
func (t *Testbed) chooseDilation(ctx context.Context, say func(string)) error {
	d := 1.0
	if t.lab.RTT.Min > 0 {
		d = max(d, roundUp(float64(t.overhead)/(maxOverhead*float64(t.lab.RTT.Min))))
	}
	for ; d <= maxDilation; d = next(d) {
		if err := t.setDilation(d); err != nil {
			return err
		}
		ok, why, err := t.pilot(ctx)
		if err != nil {
			return err
		}
		if ok {
			return nil
		}
		say(fmt.Sprintf("dilation %v is too fast for this machine: %s", d, why))
	}
	return fmt.Errorf("this machine does not keep up even %d times slower than lab time; run it where less else runs, or set dilation", maxDilation)
}

// roundUp is the smallest dilation to be tried that is not below d; for a d
// above maxDilation it is above maxDilation as well.
func roundUp(d float64) float64 {
	at := 1.0
	for at < d && at <= maxDilation {
		at = next(at)
	}
	return at
}

// next is the dilation to try after d: whole steps at first, then half as much
// again.
func next(d float64) float64 {
	if d < 4 {
		return d + 1
	}
	up := float64(int(d*1.5 + 0.5))
	if d < maxDilation {
		return min(up, maxDilation) // so that it is tried, too
	}
	return up
}

// pilot replays a short trace at the lab's highest load under its baseline.
func (t *Testbed) pilot(ctx context.Context) (ok bool, why string, err error) {
	spec := t.lab.Traffic(slices.Max(t.lab.Workload.Load), t.lab.Seeds[0])
	flows, err := pilotTrace(spec, time.Duration(float64(pilotTime)/t.dilation))
	if err != nil {
		return false, "", err
	}
	m, err := t.measure(ctx, point{scheme: t.lab.Baseline, flows: flows}, func(role.State) {})
	if err != nil {
		return false, "", fmt.Errorf("running the pilot: %w", err)
	}
	f := t.judge(m)
	switch {
	case f.ShareOfRTT > pilotLateShare:
		return false, fmt.Sprintf("deliveries were up to %v late (p99), %.0f %% of the base RTT", f.LatenessP99, 100*f.ShareOfRTT), nil
	case f.CPUHeadroom < pilotHeadroom:
		return false, fmt.Sprintf("the CPUs were busy %.0f %% of the time", 100*(1-f.CPUHeadroom)), nil
	case f.EdgeDrops > 0:
		return false, fmt.Sprintf("%d frames were lost between kernel and switch", f.EdgeDrops), nil
	}
	return true, "", nil
}

// pilotTrace is the load of a spec in independent flows of the pilot's size, as
// many as start within that lab time, and one at least.
func pilotTrace(spec trafficgen.Spec, within time.Duration) ([]trafficgen.Flow, error) {
	spec.Arrival, spec.ServiceSizes, spec.Background = kind.Choice{Kind: "poisson"}, nil, nil
	spec.Sizes = kind.Choice{Kind: "fixed", Params: map[string]any{"size": fmt.Sprintf("%dB", pilotBytes)}}
	// Every host may be a client, each of which asks for the load.
	spec.Flows = max(1, int(spec.Load*float64(spec.Rate.Bytes(within))/pilotBytes)*spec.Hosts)
	flows, err := trafficgen.Trace(spec)
	if err != nil {
		return nil, err
	}
	end := slices.IndexFunc(flows, func(f trafficgen.Flow) bool { return f.Start > within })
	if end < 0 {
		return flows, nil
	}
	return flows[:max(1, end)], nil
}

// setDilation changes how fast the lab runs.
func (t *Testbed) setDilation(d float64) error {
	t.dilation = d
	t.pace()
	return t.net.Retime(t.plan)
}
