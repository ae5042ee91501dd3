package aqm

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"aqmlab/switch/packet"
	"aqmlab/units"
)

// pieOracle is basic PIE as RFC 8033 tells it, for one queue, in seconds and
// with a timer. It keeps to the text's order: random drop (4.1), controller
// (4.2), delay from the departure rate (4.3, 5.2), bursts (4.4), ECN (5.1).
type pieOracle struct {
	alpha, beta, target, update, maxBurst float64
	rate                                  bool // delay from the departure rate

	prob, oldDelay, burst float64
	waited                float64
	dqTime, dqStart       float64
	dqCount               int
	measuring             bool
}

func (o *pieOracle) delay(backlog int) float64 {
	if o.rate {
		return float64(backlog) * o.dqTime / 16384
	}
	return o.waited
}

func (o *pieOracle) timer(backlog int) {
	delay := o.delay(backlog)
	p := o.alpha*(delay-o.target) + o.beta*(delay-o.oldDelay)
	scale, bound := 2048.0, 0.000001
	for o.prob >= bound && scale > 1 {
		scale, bound = scale/4, bound*10
	}
	p /= max(scale, 1)
	if o.prob >= 0.1 && p > 0.02 {
		p = 0.02
	}
	o.prob += p
	if delay < o.target/2 && o.oldDelay < o.target/2 {
		o.prob *= 0.98
	}
	o.prob = math.Max(0, math.Min(1, o.prob))
	o.oldDelay = delay
	o.burst = math.Max(0, o.burst-o.update)
}

func (o *pieOracle) arrive(backlog int, random func() float64) Verdict {
	spared := o.oldDelay < o.target/2 && o.prob < 0.2 || backlog <= 2*1500
	if o.burst < 1e-9 && !spared && random() < o.prob {
		if o.prob <= 0.1 {
			return MarkOrDrop
		}
		return Drop
	}
	if o.prob == 0 && o.delay(backlog) < o.target/2 && o.oldDelay < o.target/2 {
		o.burst = o.maxBurst
	}
	return Pass
}

func (o *pieOracle) depart(now float64, size, backlog int, waited float64) {
	o.waited = waited
	if backlog == 0 {
		o.waited = 0
	}
	if !o.measuring && backlog >= 16384 {
		o.measuring, o.dqCount, o.dqStart = true, 0, now
	}
	if !o.measuring {
		return
	}
	if o.dqCount += size; o.dqCount < 16384 {
		return
	}
	o.measuring = false
	if took := now - o.dqStart; o.dqTime == 0 {
		o.dqTime = took
	} else {
		o.dqTime = 0.75*o.dqTime + 0.25*took
	}
}

// TestPIEAgainstTheRFC runs one queue of a 100 Mbps link, filled at 0 to 2 times
// its rate, through scheme and oracle. The oracle has a timer every 15 ms, the
// scheme has none.
func TestPIEAgainstTheRFC(t *testing.T) {
	for _, signal := range []string{"sojourn", "departure-rate"} {
		seen := map[Verdict]int{}
		for seed := range uint64(4) {
			pieWalk(t, signal, seed, seen)
		}
		if seen[MarkOrDrop] < 100 || seen[Drop] < 100 || seen[Pass] < 1000 {
			t.Errorf("%s: the walks reach %v: too few to compare", signal, seen)
		}
	}
}

func pieWalk(t *testing.T, signal string, seed uint64, seen map[Verdict]int) {
	const update = 15 * time.Millisecond
	e := env()
	e.Rand = rand.New(rand.NewPCG(seed, 1))
	made, err := Table().New("pie", map[string]any{"signal": signal}, e)
	if err != nil {
		t.Fatal(err)
	}
	s, twin := made.(*pie), rand.New(rand.NewPCG(seed, 1))
	o := &pieOracle{alpha: 0.125, beta: 1.25, target: 0.015, update: 0.015, maxBurst: 0.15, burst: 0.15, rate: signal == "departure-rate"}
	rng := rand.New(rand.NewPCG(seed, 5))
	var q packet.Queue
	load, free, timer := 1.0, time.Duration(0), update
	tick := func(now time.Duration) { // timers due by now
		for ; timer <= now; timer += update {
			o.timer(q.Bytes())
		}
	}
	for now := time.Duration(0); now < 20*time.Second; now += time.Duration(rng.ExpFloat64() * 120e3 / load) {
		for ; q.Len() > 0 && free <= now; free += (100 * units.Mbps).Time(1500) {
			tick(free)
			p := q.Pop()
			waited := free - p.Enqueued
			s.Depart(free, p, View{Queue: 1, Bytes: q.Bytes(), Waited: waited})
			o.depart(free.Seconds(), int(p.Size), q.Bytes(), waited.Seconds())
		}
		tick(now)
		if q.Len() == 0 {
			free = max(free, now)
		}
		if rng.IntN(4000) == 0 {
			load = 0.05 + rng.Float64()*2
		}
		got := s.Arrive(now, nil, View{Queue: 1, Bytes: q.Bytes()})
		want := o.arrive(q.Bytes(), twin.Float64)
		if got != want || math.Abs(s.queues[1].prob-o.prob) > 1e-6 {
			t.Fatalf("%s, seed %d, at %v: %v with probability %v, want %v with %v", signal, seed, now, got, s.queues[1].prob, want, o.prob)
		}
		if seen[got]++; got != Drop && q.Bytes() < 500000 {
			q.Push(&packet.Packet{Size: 1500, Enqueued: now})
		}
	}
}

// pieSteps runs PIE's controller, sojourn signal, on departures that waited as
// given, one each tupdate of 15 ms, and returns the queue's state.
func pieSteps(s Scheme, waits ...time.Duration) *pieQueue {
	p := &packet.Packet{Size: 1500}
	for i, w := range waits {
		s.Depart(time.Duration(i)*15*time.Millisecond, p, View{Bytes: 90000, Waited: w})
	}
	s.Arrive(time.Duration(len(waits))*15*time.Millisecond, p, View{Bytes: 3000})
	return &s.(*pie).queues[0]
}

// TestPIEControl works the first runs out by hand: the delays are 35 ms and then
// 35 ms again.
func TestPIEControl(t *testing.T) {
	ms := time.Millisecond
	q := pieSteps(build(t, "pie", nil), 35*ms, 35*ms)
	first := (0.125*0.020 + 1.25*0.035) / 2048 // 2.26e-5: divided by 128 from now on
	want := first + 0.125*0.020/128
	if math.Abs(q.prob-want) > 1e-12 || q.burst != 120*ms {
		t.Errorf("probability %v, want %v; burst allowance %v, want 120ms", q.prob, want, q.burst)
	}
}

// TestPIEStepIsCapped: from 10 % on the probability grows by at most 2 % a run
// (RFC 8033, appendix A); below, a step is as large as it comes out.
func TestPIEStepIsCapped(t *testing.T) {
	for prob, want := range map[float64]float64{0.1: 0.12, 0.5: 0.52, 0.99: 1, 0.05: 0.05 + (0.125*0.985+1.25*0.98)/2} {
		s := build(t, "pie", nil)
		q := &s.(*pie).queues[0]
		*q = pieQueue{prob: prob, delay: 20 * time.Millisecond, sojourn: time.Second}
		s.Arrive(15*time.Millisecond, nil, View{Bytes: 90000})
		if math.Abs(q.prob-want) > 1e-12 {
			t.Errorf("from %v: %v, want %v", prob, q.prob, want)
		}
	}
}

func TestPIETuning(t *testing.T) {
	for prob, want := range map[float64]float64{
		0: 2048, 9e-7: 2048, 1e-6: 512, 9e-6: 512, 1e-5: 128, 1e-4: 32, 1e-3: 8, 9e-3: 8, 1e-2: 2, 0.09: 2, 0.1: 1, 1: 1,
	} {
		if got := tuning(prob); got != want {
			t.Errorf("at %v: divided by %v, want %v", prob, got, want)
		}
	}
}

// TestPIEDecision: what becomes of an arrival at a given probability.
func TestPIEDecision(t *testing.T) {
	ms := time.Millisecond
	tests := []struct {
		name   string
		params map[string]any
		queue  pieQueue
		bytes  int
		want   Verdict
	}{
		{"at mark_ecnth marks", map[string]any{"mark_ecnth": 1}, pieQueue{prob: 1, delay: 20 * ms}, 9000, MarkOrDrop},
		{"above it drops", nil, pieQueue{prob: 1, delay: 20 * ms}, 9000, Drop},
		{"without ECN drops", map[string]any{"mark_ecnth": 1, "ecn": false}, pieQueue{prob: 1, delay: 20 * ms}, 9000, Drop},
		{"burst allowance", nil, pieQueue{prob: 1, delay: 20 * ms, burst: 1}, 9000, Pass},
		{"two packets wait", nil, pieQueue{prob: 1, delay: 20 * ms}, 3000, Pass},
		{"empty", nil, pieQueue{prob: 1, delay: 20 * ms}, 0, Pass},
		{"short delay, high probability", nil, pieQueue{prob: 1}, 9000, Drop},
		{"probability zero", nil, pieQueue{delay: 20 * ms}, 9000, Pass},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := build(t, "pie", tt.params)
			s.(*pie).queues[2] = tt.queue
			if got := s.Arrive(0, nil, View{Queue: 2, Bytes: tt.bytes}); got != tt.want {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}

// TestPIESparesShortDelay: below half the target and a probability below 0.2
// nothing is touched, whatever the dice.
func TestPIESparesShortDelay(t *testing.T) {
	s := build(t, "pie", map[string]any{"max_burst": "0s"})
	s.(*pie).queues[0] = pieQueue{prob: 0.19, delay: 7 * time.Millisecond}
	for range 1000 {
		if got := s.Arrive(0, nil, View{Bytes: 90000}); got != Pass {
			t.Fatalf("%v, want pass", got)
		}
	}
}

// TestPIEIdle: an hour without a packet takes any probability away and gives the
// burst allowance back.
func TestPIEIdle(t *testing.T) {
	for _, signal := range []string{"sojourn", "departure-rate"} {
		s := build(t, "pie", map[string]any{"signal": signal, "target": "100us", "tupdate": "100us"})
		q := &s.(*pie).queues[0]
		q.prob, q.burst, q.delay = 1, 0, time.Millisecond
		if got := s.Arrive(time.Hour, nil, View{}); got != Pass || q.prob != 0 || q.updated != time.Hour {
			t.Errorf("%s: %v, probability %v, updated %v", signal, got, q.prob, q.updated)
		}
		if q.burst != 150*time.Millisecond {
			t.Errorf("%s: burst allowance %v, want 150ms", signal, q.burst)
		}
	}
}

func TestPIEBadParameters(t *testing.T) {
	refused(t, "pie", env(), map[string]map[string]any{
		"target":       {"target": "0s"},
		"tupdate":      {"tupdate": "0s"},
		"max_burst":    {"max_burst": "-1ms"},
		"alpha":        {"alpha": 0},
		"beta":         {"beta": -1},
		"mark_ecnth":   {"mark_ecnth": 1.1},
		"signal":       {"signal": "length"},
		"dq_threshold": {"dq_threshold": "0B"},
	})
}

// TestPIEPeriod: the controller runs at the end of each period, not before, and
// a queue that has never sent anything has no delay.
func TestPIEPeriod(t *testing.T) {
	for _, signal := range []string{"sojourn", "departure-rate"} {
		s := build(t, "pie", map[string]any{"signal": signal})
		q := &s.(*pie).queues[0]
		for at, runs := range map[time.Duration]time.Duration{0: 0, 15*time.Millisecond - 1: 0, 15 * time.Millisecond: 1, 45 * time.Millisecond: 3} {
			*q = pieQueue{burst: 150 * time.Millisecond, prob: 0.5}
			s.Arrive(at, nil, View{Bytes: 90000})
			if q.burst != (150-15*runs)*time.Millisecond || q.delay != 0 || q.updated != runs*15*time.Millisecond {
				t.Errorf("%s at %v: allowance %v, delay %v, last run %v", signal, at, q.burst, q.delay, q.updated)
			}
		}
	}
}

func BenchmarkPIE(b *testing.B) {
	s, err := Table().New("pie", map[string]any{"target": "100us", "tupdate": "100us"}, env())
	if err != nil {
		b.Fatal(err)
	}
	p, now := &packet.Packet{Size: 1500}, time.Duration(0)
	b.ReportAllocs()
	for b.Loop() {
		now += 12 * time.Microsecond
		s.Arrive(now, p, View{Bytes: 30000})
		s.Depart(now, p, View{Bytes: 30000, Waited: 240 * time.Microsecond})
	}
}
