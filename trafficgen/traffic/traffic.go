// Package traffic is what hosts are to send: flows, probes, and how both are tagged.
// It is all that whoever plays a trace needs to know of traffic.
package traffic

import (
	"errors"
	"fmt"
	"math"
	"time"

	"aqmlab/results"
	"aqmlab/units"
)

// MaxBytes is the largest flow, 1 TiB.
const MaxBytes = 1 << 40

// Flow is one transfer of payload from a server to a client. The fields after the
// first six are optional.
type Flow struct {
	ID      int           // index in the trace
	Start   time.Duration // lab time, above zero
	Client  int           // index of the host that asks and receives
	Server  int           // index of the host that sends
	Bytes   int64         // payload, from 1 to [MaxBytes]
	Service int           // from 0; [Tagging] makes it the DSCP and queue of the payload

	Transport int           // index of what it speaks: 0 is the hosts' transport, 1 the first of [Spec.Transports]
	Workload  int           // index of its workload: 0 is the spec's own, 1 the first of [Spec.Background]
	Query     int           // from 1, distinct over the trace: the flows of one query, which is over when all are
	Push      bool          // the server sends at Start, by itself; otherwise the client asks at Start
	Stop      time.Duration // lab time, above Start, when the server's application has sent enough; the flow is over when that has come
	Rate      units.Rate    // most payload that the server's application offers
}

// Record is what results have of the flow before it has run.
func (f Flow) Record() results.Flow {
	return results.Flow{
		ID: int64(f.ID), Start: f.Start, Bytes: f.Bytes,
		Client: int32(f.Client), Server: int32(f.Server), Service: int32(f.Service),
		Workload: int32(f.Workload), Transport: int32(f.Transport), Query: int64(f.Query), Stops: f.Stop > 0,
		Stop: f.Stop, Rate: int64(f.Rate), Push: f.Push,
	}
}

// End is the lab time of the last thing that a trace plans: a start or a stop.
func End(flows []Flow) time.Duration {
	var end time.Duration
	for _, f := range flows {
		end = max(end, f.Start, f.Stop)
	}
	return end
}

// ProbeBytes is the network-layer length of a probe and of the answer to it.
const ProbeBytes = 64

// Probe is a small packet that one host sends another at regular lab times, and
// that is answered at once by one of the same length and DSCP. Neither is
// ECN-capable.
type Probe struct {
	Name  string
	From  int // index of the host that sends it, and measures
	To    int // index of the host that answers
	DSCP  uint8
	Start time.Duration // lab time of the first
	Every time.Duration // lab time between two, above zero
	Stop  time.Duration // lab time, above Start, from which on none is sent; zero: as long as there is traffic
}

// Check tells whether the probe can be sent between that many hosts.
func (p Probe) Check(hosts int) error {
	switch {
	case p.From < 0 || p.From >= hosts || p.To < 0 || p.To >= hosts:
		return fmt.Errorf("probe %s: hosts %d and %d are not both in 0 to %d", p.Name, p.From, p.To, hosts-1)
	case p.From == p.To:
		return fmt.Errorf("probe %s: host %d probes itself", p.Name, p.From)
	case p.DSCP > MaxDSCP:
		return fmt.Errorf("probe %s: DSCP %d is outside 0 to %d", p.Name, p.DSCP, MaxDSCP)
	case p.Every <= 0:
		return fmt.Errorf("probe %s: the time between two, %v, is not above zero", p.Name, p.Every)
	case p.Start < 0:
		return fmt.Errorf("probe %s: start %v is below zero", p.Name, p.Start)
	case p.Stop != 0 && p.Stop <= p.Start:
		return fmt.Errorf("probe %s: it stops at %v, and starts at %v", p.Name, p.Stop, p.Start)
	}
	return nil
}

// At is when the n-th is sent, from 0. ok is false when there are no more.
func (p Probe) At(n int) (at time.Duration, ok bool) {
	at = p.Start + time.Duration(n)*p.Every
	return at, p.Stop == 0 || at < p.Stop
}

// CheckProbes tells whether all can be sent and told apart.
func CheckProbes(probes []Probe, hosts int) error {
	seen := make(map[string]bool)
	for _, p := range probes {
		if p.Name == "" || seen[p.Name] {
			return errors.New("probes: each wants a name of its own")
		}
		seen[p.Name] = true
		if err := p.Check(hosts); err != nil {
			return err
		}
	}
	return nil
}

// MaxDSCP is the largest value of the six bits of a DSCP.
const MaxDSCP = 63

// MaxThresholds bounds the thresholds of a [Tagging]. It leaves most DSCPs to
// services.
const MaxThresholds = 8

// Tagging says what DSCP, and by that what queue, the bytes of a flow have:
// that of their service, or, with PIAS (Bai et al., NSDI 2015), first that of a
// priority that all services share and that falls as the flow goes on.
//
// With N thresholds, the bytes below the first have DSCP 0, those from there to
// below the second DSCP 1, and so on; all from the last threshold on have DSCP N
// plus the service. Offsets count payload from the beginning of the message;
// bytes that are sent again count once. Without a gap each flow is a message. With
// one, a connection's flow begins a message if its server last wrote longer ago than
// that, and nothing it wrote is unacknowledged; else it goes on with the message of
// the flow before (TCN, footnote 5). What flows the other way, requests and ACKs, has the DSCP of the first
// byte. A transport may have a DSCP of its own, which then all bytes of its flows have. The
// zero value is ready to use: every byte has the DSCP of its service.
type Tagging struct {
	Thresholds []units.Size  // rising, above zero, at most [MaxThresholds]
	Gap        time.Duration // lab time between two writes that begins a message; zero: each flow does
	Own        map[int]uint8 // DSCPs of transports that have one of their own, by [Flow.Transport]
}

// Of is what gives the bytes of a flow their DSCP: a tagging, and the service that it is
// to be asked for. A flow whose transport has a DSCP of its own has no priorities.
func (t Tagging) Of(f *Flow) (own Tagging, service int) {
	if dscp, ok := t.Own[f.Transport]; ok {
		return Tagging{}, int(dscp)
	}
	return t, f.Service
}

// Check tells whether the thresholds fit, for services below the number given.
func (t Tagging) Check(services int) error {
	if n := len(t.Thresholds); n > MaxThresholds {
		return fmt.Errorf("%d thresholds are too many: want at most %d", n, MaxThresholds)
	}
	before := units.Size(0)
	for i, threshold := range t.Thresholds {
		if threshold <= before {
			return fmt.Errorf("threshold %v is not above %v: want rising thresholds above zero", t.Thresholds[i], before)
		}
		before = threshold
	}
	for transport, dscp := range t.Own {
		if dscp > MaxDSCP {
			return fmt.Errorf("DSCP %d of transport %d is outside 0 to %d", dscp, transport, MaxDSCP)
		}
	}
	if n := t.Queues(services); n > MaxDSCP+1 {
		return fmt.Errorf("%d thresholds and %d services need %d DSCPs: there are %d", len(t.Thresholds), services, n, MaxDSCP+1)
	}
	return nil
}

// Queues is how many DSCPs that many services need: a priority for each
// threshold, and one DSCP for each service.
func (t Tagging) Queues(services int) int { return len(t.Thresholds) + services }

// DSCP is that of the byte at an offset, from 0, into a flow of a service.
func (t Tagging) DSCP(service int, offset int64) uint8 {
	for i, threshold := range t.Thresholds {
		if offset < int64(threshold) {
			return uint8(i)
		}
	}
	return uint8(len(t.Thresholds) + service)
}

// Until is the first offset behind the given one at which the DSCP is another,
// or the largest int64: what lies between the two can be sent as one.
func (t Tagging) Until(offset int64) int64 {
	for _, threshold := range t.Thresholds {
		if offset < int64(threshold) {
			return int64(threshold)
		}
	}
	return math.MaxInt64
}
