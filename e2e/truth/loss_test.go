package truth

import (
	"fmt"
	"math"
	"testing"
	"time"

	"aqmlab/sim"
	"aqmlab/switch/aqm"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// lossy drops packets with payload, when it is asked for one and wants to.
type lossy struct {
	aqm.Scheme
	lose func() bool
}

func (l lossy) Arrive(now time.Duration, k *packet.Packet, v aqm.View) aqm.Verdict {
	if k.Segment.Len > 0 && l.lose() {
		return aqm.Drop
	}
	return l.Scheme.Arrive(now, k, v)
}

// every loses each n-th packet.
func every(n int) func(aqm.Env) func() bool {
	return func(aqm.Env) func() bool {
		i := 0
		return func() bool { i++; return i%n == 0 }
	}
}

// some loses a share of the packets, whichever.
func some(p float64) func(aqm.Env) func() bool {
	return func(env aqm.Env) func() bool {
		return func() bool { return env.Rand.Float64() < p }
	}
}

// lossyFlow is a flow that loses packets on a link so fast that it has no queue.
type lossyFlow struct {
	transport string
	rtt       time.Duration
	lose      func(aqm.Env) func() bool
	window    float64 // about what it should have, in segments
	packets   float64 // to look at, after a fifth as many
	set       func(*sim.Config)
}

// run is the mean window of the flow in segments, which is its goodput times the
// RTT, and how many timeouts it had. The least timeout is 1 s (RFC 6298, section
// 2.4), far above the RTT.
func (f lossyFlow) run(t *testing.T) (window float64, timeouts int64) {
	t.Helper()
	span := time.Duration(f.packets / f.window * float64(f.rtt))
	c := load(t, star{1, 100 * units.Gbps, f.rtt, f.transport, "droptail", span * 6 / 5}.lab())
	c.TCP.RTOMin = time.Second
	f.set(&c)
	extend(t, &c, func(s aqm.Scheme, env aqm.Env) aqm.Scheme { return lossy{s, f.lose(env)} })
	m := measure(t, &c, 0, span/5, span*6/5)
	o := run(t, c)
	return m.goodput() / 8 / payload * f.rtt.Seconds(), o.Hosts[1].Timeouts
}

// TestReno: the mean window of Reno that loses a share p of its packets follows
// the square-root law, C / sqrt(p) (Mathis et al., The Macroscopic Behavior of the
// TCP Congestion Avoidance Algorithm, CCR 1997): C is sqrt(3/2) for a loss every
// 1/p packets, and 1.31 for losses at random (Ott, Kemperman and Mathis, 1996).
//
// The law lets the window grow until the loss and halves it there. But the sender
// hears of a loss a round trip later, and it repairs it for another, in which the
// window does not grow. With windows from x/2 to x, one more in each round, there
// are x/2 + 1 rounds and one of x/2 for the repair: 3x^2/8 + 5x/4 packets in
// x/2 + 2 round trips. That lowers C by 1 % at p = 0.0001, and by 13 % at 0.01.
//
// With byte counting (RFC 3465) the window grows by a segment a round trip
// whether ACKs are delayed or not, so the factor b of the law is 1 for both.
//
// Random losses come 150 times or more, a standard error of at most 5 %. Windows of ten
// packets, which change by whole ones, are met within a tenth, larger ones within a
// twentieth.
func TestReno(t *testing.T) {
	for _, p := range []float64{1e-4, 1e-3, 1e-2} {
		peak := (math.Sqrt(25.0/16+3/(2*p)) - 5.0/4) * 4 / 3
		periodic := 1 / p / (peak/2 + 2)
		within := 0.05
		if peak < 20 {
			within = 0.1
		}
		for _, each := range []int{1, 2} {
			f := lossyFlow{"reno", ms, every(int(1 / p)), periodic, 30 / p, func(c *sim.Config) { c.TCP.DelayedAck = each }}
			got, timeouts := f.run(t)
			near(t, fmt.Sprintf("one loss in %v, an ACK for %d", 1/p, each), got, periodic, within)
			if timeouts > 0 {
				t.Errorf("%d timeouts", timeouts)
			}
		}
		random := periodic * 1.31 / math.Sqrt(1.5)
		got, _ := lossyFlow{"reno", ms, some(p), random, max(150/p, 3e5), func(*sim.Config) {}}.run(t)
		near(t, fmt.Sprintf("losses with probability %v", p), got, random, 0.1)
	}
}

// TestRenoTimeouts: with many losses, timeouts matter. Padhye et al. (Modeling TCP
// Throughput, SIGCOMM 1998, equation 30) count as a timeout all that Reno does not
// repair by three duplicate ACKs. SACK repairs some of that, so their model is the
// least, and the square-root law, without timeouts, the most.
func TestRenoTimeouts(t *testing.T) {
	const rtt, rto = 100 * ms, time.Second
	for _, p := range []float64{0.02, 0.05, 0.1} {
		wait := rto.Seconds() / rtt.Seconds() * min(1, 3*math.Sqrt(3*p/8)) * p * (1 + 32*p*p)
		least, most := 1/(math.Sqrt(2*p/3)+wait), 1.31/math.Sqrt(p)
		got, timeouts := lossyFlow{"reno", rtt, some(p), least, 2e4, func(*sim.Config) {}}.run(t)
		between(t, fmt.Sprintf("losses with probability %v, %d timeouts", p, timeouts), got, least, most)
	}
}

// TestCubic: the mean window of CUBIC that loses every 1/p-th packet is
// (C (3 + beta) / (4 (1 - beta)))^(1/4) (RTT / p)^(3/4) (RFC 9438, section 5.1,
// equation 5), where that is above what an AIMD as aggressive as Reno has, sqrt(3/2p)
// (section 4.3). Fast convergence, which the equation does not know, is off. The
// sender hears of a loss a round trip later, when its window has grown on; that is
// the more the shorter a cycle is.
func TestCubic(t *testing.T) {
	const beta, c, p = 0.7, 0.4, 1e-4
	slow := func(c *sim.Config) { c.TCP.Control.Params = map[string]any{"fast_convergence": false} }
	start := func(env aqm.Env) func() bool { // ends slow start near where the window belongs
		lose, i := every(1/p)(env), 0
		return func() bool { i++; return lose() || i == 400 }
	}
	cubic := math.Pow(c*(3+beta)/4/(1-beta), 0.25) * math.Pow(0.1/p, 0.75)
	got, _ := lossyFlow{"cubic", 100 * ms, start, cubic, 150 / p, slow}.run(t)
	near(t, "100 ms: cubic region", got, cubic, 0.1)
	got, _ = lossyFlow{"cubic", ms, start, 120, 50 / p, slow}.run(t)
	near(t, "1 ms: as Reno", got, math.Sqrt(1.5/p), 0.05)
}
