package aqm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"aqmlab/switch/packet"
)

// TestPI2Controller: p' follows the linear controller of RFC 9332, appendix A.1, which
// has a timer, over a random walk of the delay that also rests for many periods.
func TestPI2Controller(t *testing.T) {
	const every = 100 * time.Microsecond
	s := build(t, "pi2", map[string]any{"target": "50us", "tupdate": "100us", "alpha": 200, "beta": 2000, "k": 2}).(*pi2)
	rng := rand.New(rand.NewPCG(3, 3))
	var now, timer, delay, before time.Duration
	prob, least, most := 0.0, 1.0, 0.0
	for i := range 20_000 {
		now += time.Duration(rng.IntN(int(3 * every)))
		if i%1000 == 0 {
			now += 500 * every
		}
		for ; timer+every <= now; timer += every {
			prob += 200*(delay-50*time.Microsecond).Seconds() + 2000*(delay-before).Seconds()
			prob = math.Max(0, math.Min(0.5, prob)) // 1/k
			before = delay
		}
		packets := rng.IntN(4)
		waited := time.Duration(rng.IntN(int(every)))
		s.Depart(now, nil, View{Queue: 1, Packets: packets, Waited: waited})
		if delay = waited; packets == 0 {
			delay = 0 // the queue is empty
		}
		if got := s.queues[1].prob; math.Abs(got-prob) > 1e-9 {
			t.Fatalf("step %d: p' is %v, want %v", i, got, prob)
		}
		least, most = min(least, prob), max(most, prob)
	}
	if least > 0 || most < 0.5 {
		t.Errorf("p' goes from %v to %v: the walk shows little", least, most)
	}
}

// TestPI2Coupling: the probability is k p' for a scalable packet and p' squared for any
// other (PI2, section 4; RFC 9332, section 2.4: p_C = (p_CL / k)^2).
func TestPI2Coupling(t *testing.T) {
	const n = 20_000
	for _, tt := range []struct {
		scalable string
		ecn      packet.ECN
		prob     float64
		want     float64
		act      Verdict
	}{
		{"ect", packet.ECT0, 0.2, 0.4, Mark},
		{"ect", packet.ECT1, 0.2, 0.4, Mark},
		{"ect", packet.ECT0, 0.5, 1, Mark},
		{"ect", packet.NotECT, 0.2, 0.04, MarkOrDrop},
		{"ect", packet.NotECT, 0.5, 0.25, MarkOrDrop},
		{"ect", packet.ECT0, 0, 0, Pass},
		{"ect1", packet.ECT0, 0.3, 0.09, MarkOrDrop},
		{"ect1", packet.ECT1, 0.3, 0.6, Mark},
		{"ect1", packet.CE, 0.3, 0.6, Mark},
		{"none", packet.ECT1, 0.3, 0.09, MarkOrDrop},
	} {
		s := build(t, "pi2", map[string]any{"scalable": tt.scalable}).(*pi2)
		s.queues[0].prob = tt.prob
		acted := 0.0
		for range n {
			switch got := s.Arrive(0, &packet.Packet{Size: 1500, ECN: tt.ecn}, View{}); got {
			case Pass:
			case tt.act:
				acted++
			default:
				t.Fatalf("%+v: %v", tt, got)
			}
		}
		if five := 5 * math.Sqrt(tt.want*(1-tt.want)/n); math.Abs(acted/n-tt.want) > five {
			t.Errorf("%+v: acted on %v of the packets", tt, acted/n)
		}
	}
}

// TestPI2Derives: with a worst-case RTT of 100 ms the parameters are those of RFC 9332,
// appendix A.1.
func TestPI2Derives(t *testing.T) {
	e := env()
	e.RTTs = OneRTT(100 * time.Millisecond)
	told := map[string]string{}
	e.Tell = func(d Derived) { told[d.Param] = d.Value }
	if _, err := Table().New("pi2", nil, e); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprint(map[string]string{"target": "15ms", "tupdate": "15ms", "alpha": "0.15", "beta": "3"}); fmt.Sprint(told) != want {
		t.Errorf("derived %v, want %v", told, want)
	}
}

// TestPI2HoldsTheTarget: the fixed point of the controller is a delay of target.
func TestPI2HoldsTheTarget(t *testing.T) {
	s := build(t, "pi2", nil).(*pi2) // target 37.5 us
	at := func(now, delay time.Duration) float64 {
		s.Depart(now, nil, View{Packets: 9, Waited: delay})
		return s.queues[0].prob
	}
	at(time.Second, 60*time.Microsecond)
	at(time.Second+time.Millisecond, 37500)
	high := at(time.Second+2*time.Millisecond, 37500)
	for i := range 100 {
		p := at(time.Second+time.Duration(i+3)*time.Millisecond, 37500)
		if p != high || p <= 0 {
			t.Fatalf("p' moves from %v to %v at the target", high, p)
		}
	}
}

func TestPI2Parameters(t *testing.T) {
	refuses(t, "pi2", []refusal{
		{map[string]any{"k": 0.5}, "k: 0.5 is outside [1, 16]"},
		{map[string]any{"scalable": "ect2"}, "scalable: "},
		{map[string]any{"target": "-1us"}, "target: "},
	})
	e := env()
	e.RTTs = RTTs{}
	for _, params := range []map[string]any{nil, {"target": "1ms"}, {"target": "1ms", "tupdate": "1ms", "alpha": 1}} {
		if _, err := Table().New("pi2", params, e); err == nil {
			t.Errorf("%v: built without a base RTT", params)
		}
	}
	if _, err := Table().New("pi2", map[string]any{"target": "1ms", "tupdate": "1ms", "alpha": 1, "beta": 1}, e); err != nil {
		t.Error(err)
	}
}
