package backend

import (
	"time"

	"aqmlab/collectors"
	"aqmlab/labs"
	"aqmlab/switch/fabric"
	"aqmlab/trafficgen/traffic"
	"aqmlab/units"
)

const (
	// samples is about how many samples of a queue a point yields, and maxSamples
	// that of all its queues together: a large network is sampled more coarsely.
	samples    = 2000
	maxSamples = 200_000
	// shortest is the least time between two samples that no lab asked for.
	shortest = 10 * time.Microsecond
)

// sampleEvery is the lab's own interval between the samples of queues, or else
// spreads them over a trace.
func SampleEvery(lab *labs.Lab, flows []traffic.Flow, spec fabric.Spec) time.Duration {
	if lab.Collect.Queues > 0 || len(flows) == 0 {
		return lab.Collect.Queues
	}
	queues := (2*len(spec.Links) - len(spec.Hosts)) * spec.Port.Queues
	n := min(samples, max(1, maxSamples/max(1, queues)))
	return max(span(flows, lab.Topology.Rate)/time.Duration(n), shortest)
}

// span is the least lab time that a trace takes on links of a rate: to the last
// thing that it plans, or for all that a host has to receive or send.
func span(flows []traffic.Flow, rate units.Rate) time.Duration {
	in, out := map[int]int64{}, map[int]int64{}
	var most int64
	for _, f := range flows {
		if f.Stop > 0 { // it ends then, whatever its size
			continue
		}
		in[f.Client] += f.Bytes
		out[f.Server] += f.Bytes
		most = max(most, in[f.Client], out[f.Server])
	}
	return max(traffic.End(flows), rate.Time(int(most)))
}

// goodputEvery is the time between two samples of what services deliver: that of
// queues, of which there are more the larger a network is.
func GoodputEvery(lab *labs.Lab, flows []traffic.Flow) time.Duration {
	if lab.Collect.Queues > 0 {
		return lab.Collect.Queues
	}
	return max(span(flows, lab.Topology.Rate)/samples, shortest)
}

// captureSpec is what the lab wants to be captured, or nil.
func CaptureSpec(lab *labs.Lab) *collectors.CaptureSpec {
	c := lab.Capture
	if c.Format == "" {
		return nil
	}
	return &collectors.CaptureSpec{Ports: c.Ports, Snap: int(c.Snap), Size: int(c.Size)}
}
