package resultstest

import (
	"math"
	"math/rand/v2"
	"time"

	"aqmlab/results"
)

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
