package kernelaqm_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"aqmlab/e2e/vm/kernelaqm"
	"aqmlab/e2e/vm/vmtest"
)

// recorded is a source of the kernel's own random numbers.
type recorded struct {
	next uint64
	drew bool // next counts
}

// Uint64 is the number of which rand.Float64 takes the lower 53 bits; PIE takes
// the upper 56. Without one it is the largest, which marks nothing.
func (r *recorded) Uint64() uint64 {
	if !r.drew {
		return 1<<64 - 1
	}
	return r.next >> 11
}

// grid maps the kernel's time to one in which its controller runs at whole
// multiples of a period, as ours does, with every packet between the same two
// runs as in the kernel.
type grid struct {
	origin, period time.Duration
	runs           int
	moved          time.Duration // the most that a packet had to be moved for that
}

// newGrid finds the period of the kernel's timer, which ticks 250 times a second.
func newGrid(t *testing.T, events []kernelaqm.Event) *grid {
	t.Helper()
	var at []time.Duration
	for _, e := range events {
		if e.Kind == kernelaqm.Control {
			at = append(at, e.Now)
		}
	}
	if len(at) < 100 {
		t.Fatalf("the controller ran only %d times", len(at))
	}
	const tick = 4 * time.Millisecond
	period := ((at[len(at)-1] - at[0]) / time.Duration(len(at)-1)).Round(tick)
	return &grid{origin: at[0] - period, period: period}
}

func (g *grid) place(e *kernelaqm.Event) {
	if e.Kind == kernelaqm.Control {
		g.runs++
	}
	earliest := time.Duration(g.runs) * g.period
	exact := e.Now - g.origin
	e.Now = min(max(exact, earliest), earliest+g.period-1)
	if e.Kind != kernelaqm.Control {
		g.moved = max(g.moved, (e.Now - exact).Abs())
	}
}

// comparable is the range of packets in which Linux does what RFC 8033 says. It
// begins with the first mark, which puts both sums of probabilities to zero,
// because Linux's burst allowance runs out at another moment. It ends where the
// delay falls below half the target (there the RFC lets the probability decay,
// and Linux spares packets by the latest delay instead of the controller's),
// rises above 250 ms (Linux adds 2 % a run), or the sum reaches 8.5 (a mark for
// that reason does not put Linux's sum to zero, so that it marks on and on).
func comparable(events []kernelaqm.Event) (first, end int) {
	came := map[int]time.Duration{}
	first = -1
	for _, e := range events {
		switch e.Kind {
		case kernelaqm.Arrival:
			if came[e.Number] = e.Now; e.Marked && first < 0 {
				first = e.Number
			}
			if end = e.Number; e.Accumulated >= 8.5 {
				return first, end
			}
		case kernelaqm.Departure:
			delay := e.Now - came[e.Number]
			if first >= 0 && (delay < pieTarget/2 || delay > 250*time.Millisecond) {
				return first, end
			}
		}
	}
	return first, end
}

// pieTarget is the target of both, the kernel's default.
const pieTarget = 15 * time.Millisecond

// recordPIE records traffic whose delay moves about the target, and at the end
// far above it, so that packets are dropped. The sum reaches 8.5 once in some
// 2000 marks; then it tries another seed, as when the delay strays.
func recordPIE(t *testing.T) (events []kernelaqm.Event, packets, first, end int) {
	t.Helper()
	s, ms := time.Second, time.Millisecond
	for seed := range uint64(4) {
		traffic := steer(rand.New(rand.NewPCG(seed, 2)),
			stretch{22 * ms, 4 * s}, stretch{14 * ms, 2 * s}, stretch{25 * ms, 4 * s}, stretch{120 * ms, 700 * ms})
		for i := range traffic {
			traffic[i].At += s // the controller first runs after half a second
		}
		events, packets = record(t, kernelaqm.PIE(pieTarget, 16*ms), traffic), len(traffic)
		first, end = comparable(events)
		if first < 0 || end <= packets*9/10 {
			t.Logf("seed %d: Linux and the RFC part at packet %d", seed, end)
			continue
		}
		// Above 10 % packets are dropped. How long the probability stays there is up to the
		// kernel's random numbers.
		if drops := count(kernelFates(events)[first:end], dropped); drops < 20 {
			t.Logf("seed %d: %d packets are dropped", seed, drops)
			continue
		}
		return events, packets, first, end
	}
	t.Fatal("no traffic on which Linux does what the RFC says and drops packets")
	return nil, 0, 0, 0
}

// TestKernelPIE: with derandomize and the kernel's random numbers, each packet
// has the fate that it has in the kernel.
func TestKernelPIE(t *testing.T) {
	vmtest.NeedsGuest(t)
	events, packets, first, end := recordPIE(t)
	g, dice := newGrid(t, events), &recorded{}
	pie := scheme{"pie", map[string]any{"target": pieTarget.String(), "tupdate": g.period.String(), "derandomize": true}, dice}
	ours := replay(t, pie, events, func(e *kernelaqm.Event) {
		g.place(e)
		dice.next, dice.drew = e.Random, e.Drew
	})
	kernel := kernelFates(events)
	t.Logf("packets %d to %d of %d; the controller ran every %v; packets moved by up to %v", first, end, packets, g.period, g.moved)
	agree(t, kernel[first:end], ours[first:end], 250)
	if g.moved > time.Millisecond {
		t.Errorf("a packet is moved by %v", g.moved)
	}
}
