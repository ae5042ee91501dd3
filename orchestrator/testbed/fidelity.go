package testbed

import (
	"fmt"
	"time"

	"aqmlab/results"
)

// Limits beyond which a run is labelled low-fidelity.
const (
	maxLateShare = 0.10 // p99 lateness of deliveries over the base RTT
	minHeadroom  = 0.05 // share of the busiest CPUs that the lab leaves
	muchWaiting  = 0.01 // share of the time that the switch waits for its CPU: enough to be the p99 of its lateness
)

// judge says how exactly the wall clock kept lab time.
func (t *Testbed) judge(m measurement) results.Fidelity {
	f := results.Fidelity{
		Label:       results.FidelityOK,
		LatenessP50: results.Micros(m.sw.LatenessP50),
		LatenessP99: results.Micros(m.sw.LatenessP99),
		LatenessMax: results.Micros(m.sw.LatenessMax),
		EdgeDrops:   m.sw.EdgeDrops,
		Clamped:     m.sw.Clamped,
		CPUHeadroom: 1 - max(m.sw.Busy, m.cpu),
		Clocks:      m.clocks,
	}
	if t.lab.RTT.Min > 0 {
		f.ShareOfRTT = float64(f.LatenessP99) / float64(t.lab.RTT.Min)
	}
	if f.ShareOfRTT > maxLateShare {
		why := fmt.Sprintf("the p99 lateness of deliveries, %v, is %.0f %% of the base RTT", m.sw.LatenessP99.Round(100*time.Nanosecond), 100*f.ShareOfRTT)
		if m.sw.Waited > muchWaiting {
			why += fmt.Sprintf(": other programs kept the switch from its CPU for %.0f %% of the time", 100*m.sw.Waited)
			if !m.sw.RealTime {
				why += " (it was not given a real-time priority)"
			}
		}
		f.Reasons = append(f.Reasons, why)
	}
	if f.EdgeDrops > 0 {
		f.Reasons = append(f.Reasons, fmt.Sprintf("%d frames were lost between kernel and switch (a larger net.core.netdev_max_backlog gives stalled CPUs more time)", f.EdgeDrops))
	}
	if m.kernel.DroppedFrames > 0 {
		f.EdgeDrops += m.kernel.DroppedFrames
		f.Reasons = append(f.Reasons, fmt.Sprintf("%d frames were lost by the hosts' devices", m.kernel.DroppedFrames))
	}
	if m.kernel.ChecksumErrors > 0 {
		f.Reasons = append(f.Reasons, fmt.Sprintf("%d packets reached their host with a wrong checksum", m.kernel.ChecksumErrors))
	}
	if f.CPUHeadroom < minHeadroom {
		f.Reasons = append(f.Reasons, fmt.Sprintf("the lab itself kept its CPUs busy %.0f %% of the time", 100*(1-f.CPUHeadroom)))
	}
	if why := t.judgeClocks(m.clocks); why != "" {
		f.Reasons = append(f.Reasons, why)
	}
	if len(f.Reasons) > 0 {
		f.Label = results.FidelityLow
	}
	return f
}

// worstClock is the clock that may have been furthest off, and by how much.
func worstClock(all []results.Clock) (worst results.Clock, off time.Duration) {
	for _, c := range all {
		if o := c.Off(); o > off {
			worst, off = c, o
		}
	}
	return worst, off
}

// judgeClocks says what is wrong with starts that should have been together; it is empty
// if that does not matter.
func (t *Testbed) judgeClocks(all []results.Clock) string {
	worst, off := worstClock(all)
	if lab := time.Duration(float64(off) / t.dilation); t.lab.RTT.Min == 0 || float64(lab) <= maxLateShare*float64(t.lab.RTT.Min) {
		return ""
	}
	return fmt.Sprintf("the clock of machine %s was up to %v off, so that its flows started that much too early or late", worst.Machine, off.Round(time.Microsecond))
}
