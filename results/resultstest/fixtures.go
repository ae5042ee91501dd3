// Package resultstest has points and manifests for tests of what stores, compares
// and shows them.
package resultstest

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"aqmlab/results"
)

// Everything are points with queries, several services and probes besides.
func Everything() []results.Point {
	points := Measured()
	for i := range points {
		p := &points[i]
		for k := range p.Flows {
			f := &p.Flows[k]
			f.Service, f.Workload = int32(k%2), int32(k%2)
			if k%2 == 1 {
				f.Query = int64(k/10) + 1
			}
		}
		for k := range 20 {
			p.Services = append(p.Services, results.ServiceSample{At: time.Duration(k/2+1) * time.Millisecond, Over: time.Millisecond, Service: int32(k % 2), Bytes: int64(1000 * (k + i + 1))})
		}
		p.Pauses = []results.PauseCount{{Switch: "s1", Port: "h2", Stops: int64(i) + 1, Stopped: 1500 * time.Microsecond, PeakBytes: 9000}}
		for k := range 60 {
			s := results.ProbeSample{Probe: "service-1", At: time.Duration(k) * time.Millisecond, RTT: time.Duration(80+(k*7)%40*(i+1)) * time.Microsecond}
			if k%20 == 5 {
				s.RTT, s.Lost = 0, true
			}
			p.Probes = append(p.Probes, s)
		}
	}
	return points
}

// Began is when runs of these tests begin: a time that exists in UTC only.
func Began() time.Time { return time.Date(2026, 3, 29, 2, 30, 0, 0, time.FixedZone("CEST", 2*3600)) }

// LabText is the lab of runs.
const LabText = "name: star\nschemes: [droptail, tcn, codel]\n"

// StarManifest is of a run of three schemes at two loads with two seeds.
func StarManifest() results.Manifest {
	return results.Manifest{
		Version: "v1.2.3", GitRevision: "0123abc", Start: Began(),
		Host:    results.Machine{Kernel: "6.18.0", CPU: "Model <X>", Cores: 2, Memory: 4 << 30, GoVersion: "go1.26"},
		Runtime: "netns", Dilation: 20, Transport: results.Transport{Name: "dctcp", Provider: "kernel"},
		RTTBy: results.RTTByDelayLine, BaseRTT: results.Micros(85500 * time.Nanosecond),
		Lab: "star", Schemes: []string{"droptail", "tcn", "codel"},
		Loads: []float64{0.5, 0.9}, Seeds: []uint64{1, 2}, Baseline: "droptail",
	}
}

// Measured are points with all that a point may hold: tcn is better for small
// flows, codel is no different.
func Measured() []results.Point {
	s := Synth{Flows: 600, Reach: 5, Sigma: 0.3}
	var points []results.Point
	for i, scheme := range []string{"droptail", "tcn", "codel"} {
		for _, load := range []float64{0.5, 0.9} {
			for seed := range uint64(2) {
				slow := 1.0
				if scheme == "tcn" {
					slow = 0.6
				}
				p := s.Point(scheme, seed+1, uint64(100+i), slow)
				p.Load = load
				Decorate(&p, int64(i+1))
				points = append(points, p)
			}
		}
	}
	return points
}

// Decorate adds queue samples, counts and fidelity.
func Decorate(p *results.Point, n int64) {
	for i := range 50 {
		at := time.Duration(i) * 10 * time.Millisecond
		p.Queues = append(p.Queues,
			results.QueueSample{At: at, Switch: "s1", Port: "h1", Queue: 0, Bytes: n * 1000 * int64(i%7), PeakBytes: n * 9000, Sent: 5000, Marks: 2},
			results.QueueSample{At: at, Switch: "s1", Port: "h1", Queue: 1, Bytes: n * 500, PeakBytes: n * 800, Sent: 100},
			results.QueueSample{At: at, Switch: "s1", Port: "h2", Bytes: 100, PeakBytes: 100, Sent: 10, Drops: 1})
	}
	p.Ingress = []results.IngressCount{{Switch: "s1", Port: "h1", Held: 50, Released: 50, MarkedECE: 40, PeakPackets: 9}}
	p.Ports = []results.PortCount{{Switch: "s1", Port: "h1", Enqueued: 900, Sent: 890, Marked: 100 * n, DropsFull: 3, DropsScheme: 4, SentBytes: 1e6, PeakBytes: n * 9000}}
	p.Hosts = []results.HostCount{{Host: "h1", Timeouts: n, Retransmits: 5}, {Host: "h2", Timeouts: 1}}
	p.Fidelity = results.Fidelity{Label: results.FidelityOK, LatenessP50: 300, LatenessP99: 1234, LatenessMax: 5000, ShareOfRTT: 0.0145, CPUHeadroom: 0.4}
	if p.Scheme == "codel" && p.Load == 0.9 {
		p.Fidelity.Label, p.Fidelity.Reasons = results.FidelityLow, []string{"p99 lateness is 14 % of the base RTT"}
	}
	if p.Scheme == "tcn" && p.Seed == 2 && p.Load == 0.9 {
		p.Flows[7].Received, p.Flows[7].FCT, p.Flows[7].Error = 10, 0, "connection reset"
	}
}

// FlowOf is a completed flow.
func FlowOf(id int64, bytes int64, start, fct time.Duration) results.Flow {
	return results.Flow{ID: id, Start: start, Sent: start, FCT: fct, Bytes: bytes, Received: bytes, Client: 0, Server: 1}
}

// Trace is a point of four small flows with the given FCTs in microseconds;
// a zero did not complete.
func Trace(scheme string, seed uint64, us ...int) results.Point {
	p := results.Point{Coord: results.Coord{Scheme: scheme, Load: 0.5, Seed: seed}, Fidelity: results.Fidelity{Label: results.FidelityExact}}
	for i, n := range us {
		p.Flows = append(p.Flows, QueryFlow(int64(i), 0, time.Duration(i)*time.Millisecond, time.Duration(n)*time.Microsecond))
	}
	return p
}

// QueryFlow is a flow of a query, or with query 0 of none; one that takes no time did not complete.
func QueryFlow(id, query int64, sent, fct time.Duration) results.Flow {
	f := FlowOf(id, 1000, sent, fct)
	f.Query = query
	if fct == 0 {
		f.Received, f.Error = 0, "lost"
	}
	return f
}

// Queried is a point of queries of two flows, the second of which takes what is
// given in microseconds; a zero does not complete.
func Queried(scheme string, seed uint64, last ...int) results.Point {
	p := results.Point{Coord: results.Coord{Scheme: scheme, Load: 0.5, Seed: seed}, Fidelity: results.Fidelity{Label: results.FidelityExact}}
	for i, n := range last {
		at := time.Duration(i+1) * time.Millisecond
		p.Flows = append(p.Flows,
			QueryFlow(int64(2*i), int64(i+1), at, time.Microsecond),
			QueryFlow(int64(2*i+1), int64(i+1), at, time.Duration(n)*time.Microsecond))
	}
	return p
}

// Lossy is a point of three completed flows, of which two met a timeout, and of
// one that did not complete.
func Lossy() results.Point {
	p := results.Point{Coord: results.Coord{Scheme: "red", Load: 0.5, Seed: 1}}
	for i, bytes := range []int64{1000, 2000, 20_000_000, 3000} {
		p.Flows = append(p.Flows, results.Flow{ID: int64(i), Start: time.Duration(i), Bytes: bytes, Received: bytes, FCT: time.Millisecond})
	}
	p.Flows[0].Retransmits, p.Flows[0].Timeouts = 3, 1
	p.Flows[2].Retransmits, p.Flows[2].Timeouts = 40, 2
	p.Flows[3].Received, p.Flows[3].FCT, p.Flows[3].Timeouts, p.Flows[3].Error = 0, 0, 9, "not finished"
	p.Ports = []results.PortCount{{Switch: "s1", Port: "h1", DropsFull: 5, DropsScheme: 7}}
	p.Links = []results.LinkCount{{From: "s1", To: "h1", Lost: 11}}
	p.Hosts = []results.HostCount{{Host: "h2", Timeouts: 12, Retransmits: 43}}
	return p
}

// WantKeys checks the keys of an object.
func WantKeys(t *testing.T, what string, got map[string]any, want ...string) {
	t.Helper()
	for _, k := range want {
		if _, ok := got[k]; !ok {
			t.Errorf("%s: no field %q", what, k)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s has %d fields, want %d: %v", what, len(got), len(want), got)
	}
}

// Synth draws points whose truth is known. Flows start by a Poisson process;
// sizes are those of a short-flow mix with a heavy tail; a flow takes its
// transmission time at 10 Gbps and a round trip, times exp(crowd), where crowd
// is a stationary Gaussian process over the starts that is shared by
// neighbours, as a queue is, and independent between schemes: no pairing can
// remove it, so it is the hard case.
type Synth struct {
	Flows int
	Reach float64 // starts over which crowd loses 63 % of its correlation
	Sigma float64 // standard deviation of crowd
}

// Point replays trace seed under a scheme whose small flows take slow times as
// long as they should.
func (s Synth) Point(scheme string, seed, noise uint64, slow float64) results.Point {
	p := results.Point{Coord: results.Coord{Scheme: scheme, Load: 0.9, Seed: seed}, Fidelity: results.Fidelity{Label: results.FidelityExact}}
	trace, crowd := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, noise))
	keep := math.Exp(-1 / max(s.Reach, 1e-9))
	level := crowd.NormFloat64()
	at := 0.0
	for i := range s.Flows {
		at += trace.ExpFloat64() * 1000 * 1e3
		bytes := drawSize(trace)
		level = keep*level + math.Sqrt(1-keep*keep)*crowd.NormFloat64()
		ns := (float64(bytes)*0.8 + 70e3) * math.Exp(s.Sigma*level)
		if results.Small.Holds(bytes) {
			ns *= slow
		}
		p.Flows = append(p.Flows, results.Flow{
			ID: int64(i), Start: time.Duration(at), Sent: time.Duration(at), FCT: time.Duration(ns),
			Bytes: bytes, Received: bytes, Client: 0, Server: 1 + int32(trace.IntN(7)),
		})
	}
	return p
}

// drawSize is small in 60 of 100 draws, medium in 35 and large in 5.
func drawSize(r *rand.Rand) int64 {
	within := func(low, high float64) int64 {
		return int64(low * math.Pow(high/low, r.Float64()))
	}
	switch u := r.Float64(); {
	case u < 0.60:
		return within(2e3, 1e5)
	case u < 0.95:
		return within(100_001, 1e7)
	}
	return within(10_000_001, 30e6)
}
