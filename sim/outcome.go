package sim

import (
	"aqmlab/results"
	"aqmlab/switch/fabric"
	"aqmlab/trafficgen/traffic"
)

// Outcome is what a simulation measured.
type Outcome struct {
	Flows  []results.Flow // in the order of the trace; those that did not end say so
	Queues []results.QueueSample
	Probes []results.ProbeSample // probe after probe; those without an answer are lost
	Ports  []fabric.PortCount
	Lost   []fabric.LossCount // by links that may lose packets
	Hosts  []results.HostCount

	Senders   []results.SenderSample   // in the order of time
	Estimates []results.EstimateSample // the same
	Services  []results.ServiceSample
	Capture   results.Capture // no chunks: nothing was captured
}

// Seen are the records and samples so far, of a simulation that may go on. They
// are good until it does.
func (s *Simulation) Seen() ([]results.Flow, []results.QueueSample) {
	return s.records, s.queues.Samples()
}

// Outcome is what the simulation has measured when it is over, to be asked once.
func (s *Simulation) Outcome() Outcome {
	for _, x := range s.sessions.slots {
		x.account()
	}
	o := Outcome{Flows: s.records, Queues: s.queues.Samples(), Probes: s.probes.measured(), Ports: s.network.Counts(), Lost: s.network.Lost(), Senders: s.senders.samples, Estimates: s.estimates.End(), Services: s.services.Samples()}
	for i, h := range s.config.Fabric.Hosts {
		c := s.hosts.count(i)
		c.Host = h.Name
		o.Hosts = append(o.Hosts, c)
	}
	if s.capture != nil {
		o.Capture = s.capture.End()
	}
	return o
}

// records are the flows of a trace before they have run.
func records(flows []traffic.Flow) []results.Flow {
	list := make([]results.Flow, len(flows))
	for i, f := range flows {
		list[i] = results.Flow{
			ID: int64(f.ID), Start: f.Start, Bytes: f.Bytes,
			Client: int32(f.Client), Server: int32(f.Server), Service: int32(f.Service),
			Workload: int32(f.Workload), Query: int64(f.Query), Stops: f.Stop > 0,
			Stop: f.Stop, Rate: int64(f.Rate), Push: f.Push,
			Error: unfinished,
		}
	}
	return list
}

// The errors of flows that did not complete.
const (
	unfinished = "not finished: no flow made progress any more"
	givenUp    = "not finished: its connection was given up after half a second of retransmissions without progress"
)
