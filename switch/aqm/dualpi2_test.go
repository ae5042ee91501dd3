package aqm

import (
	"math"
	"strings"
	"testing"
	"time"
)

// shareOf is what share of n packets of a queue get each verdict, when they wait for so
// long and leave so many behind.
func shareOf(s Scheme, n int, v View) map[Verdict]float64 {
	shares := map[Verdict]float64{}
	for range n {
		shares[s.Depart(0, nil, v)] += 1 / float64(n)
	}
	return shares
}

// TestDualPI2Couples: p_L is the greater of k p' and the ramp, and p_C is p' squared (RFC
// 9332, section 2.4 and appendix A.1). With min_th 40 us and range 20 us the ramp is at a
// half after 50 us.
func TestDualPI2Couples(t *testing.T) {
	const us = time.Microsecond
	params := map[string]any{"min_th": "40us", "range": "20us"}
	for _, tt := range []struct {
		prob   float64
		queue  int
		waited time.Duration
		behind int
		act    Verdict
		want   float64
	}{
		{0, 0, 40 * us, 9, Mark, 0},
		{0, 0, 50 * us, 9, Mark, 0.5},
		{0, 0, 60*us + 1, 9, Mark, 1},
		{0, 0, 60*us + 1, 0, Mark, 0}, // it was alone in its queue
		{0, 0, 60*us + 1, 1, Mark, 1},
		{0.1, 0, 10 * us, 9, Mark, 0.2}, // coupled
		{0.1, 0, 60*us + 1, 0, Mark, 0.2},
		{0.1, 0, 50 * us, 9, Mark, 0.5}, // the greater one
		{0.3, 0, 50 * us, 9, Mark, 0.6},
		{0.1, 1, time.Second, 9, MarkOrDrop, 0.01},
		{0.4, 1, 10 * us, 9, MarkOrDrop, 0.16},
		{0, 1, time.Second, 9, MarkOrDrop, 0},
	} {
		s := build(t, "dualpi2", params).(*dualPI2)
		s.state.prob = tt.prob
		const n = 1000
		got := shareOf(s, n, View{Queue: tt.queue, Packets: tt.behind, Waited: tt.waited})
		if math.Abs(got[tt.act]-tt.want) > 1.5/n || math.Abs(got[Pass]-(1-tt.want)) > 1.5/n {
			t.Errorf("%+v: %v", tt, got)
		}
		if v := s.Arrive(0, nil, View{Queue: tt.queue, Bytes: 1 << 30}); v != Pass {
			t.Errorf("on arrival: %v", v)
		}
	}
}

// TestDualPI2StepAndSpacing: with range 0 the ramp is a step, and what is acted on is spaced
// evenly.
func TestDualPI2StepAndSpacing(t *testing.T) {
	s := build(t, "dualpi2", map[string]any{"min_th": "40us", "range": "0s"}).(*dualPI2)
	for waited, want := range map[time.Duration]Verdict{40 * time.Microsecond: Pass, 40*time.Microsecond + 1: Mark} {
		if got := s.Depart(0, nil, View{Packets: 1, Waited: waited}); got != want {
			t.Errorf("waited %v: %v", waited, got)
		}
	}
	s.state.prob = 0.125
	last := 0
	for i := range 40 {
		if s.Depart(0, nil, View{Packets: 1}) == Mark {
			if last > 0 && i-last != 4 {
				t.Errorf("packet %d is marked after %d", i, last)
			}
			last = i
		}
	}
}

// TestDualPI2Overload: from k p' = 1 on, both queues lose packets with p' squared, and what
// is left in L is marked (RFC 9332, section 4.2.3 and appendix A.2).
func TestDualPI2Overload(t *testing.T) {
	for queue, want := range []map[Verdict]float64{{Drop: 0.36, Mark: 0.64}, {Drop: 0.36, Pass: 0.64}} {
		s := build(t, "dualpi2", nil).(*dualPI2)
		s.state.prob = 0.6
		got := shareOf(s, 1000, View{Queue: queue, Packets: 1})
		for v, share := range want {
			if math.Abs(got[v]-share) > 0.002 {
				t.Errorf("queue %d: %v, want %v", queue, got, want)
			}
		}
	}
}

// TestDualPI2BurstIsOverload: with the RFC's parameters for an RTT of 100 ms at most (appendix
// A.1) a queue that grows by 150 ms between two runs is only marked. One that grows by 170 ms
// takes k p' beyond 1, and loses packets: p' is 3.15 times the growth in seconds, less 0.00225.
func TestDualPI2BurstIsOverload(t *testing.T) {
	params := map[string]any{"target": "15ms", "tupdate": "15ms", "alpha": 0.15, "beta": 3, "min_th": "17ms"}
	for growth, want := range map[time.Duration]float64{150 * time.Millisecond: 0, 170 * time.Millisecond: 0.533 * 0.533} {
		s := build(t, "dualpi2", params)
		s.Depart(14*time.Millisecond, nil, View{Packets: 9, Waited: growth})
		dropped := 0.0
		const n = 1000
		for range n {
			if s.Depart(16*time.Millisecond, nil, View{Packets: 9, Waited: growth}) == Drop {
				dropped++
			}
		}
		if math.Abs(dropped/n-want) > 0.002 {
			t.Errorf("growth of %v: %v of the packets are dropped, want %v", growth, dropped/n, want)
		}
	}
}

// TestDualPI2FollowsTheLongerDelay: the controller moves p' by the delay of the queue that
// waits longer, and by nothing else.
func TestDualPI2FollowsTheLongerDelay(t *testing.T) {
	const us = time.Microsecond
	params := map[string]any{"target": "50us", "tupdate": "100us", "alpha": 100, "beta": 1000}
	for name, tt := range map[string]struct {
		l, c time.Duration
		want float64 // after two runs: 100 x 2 x off target, and 1000 x the growth once
	}{
		"C waits longer": {10 * us, 80 * us, 100*2*30e-6 + 1000*80e-6},
		"L waits longer": {90 * us, 80 * us, 100*2*40e-6 + 1000*90e-6},
		"below target":   {10 * us, 20 * us, 0},
	} {
		s := build(t, "dualpi2", params).(*dualPI2)
		now := 99 * us
		s.Depart(now, nil, View{Queue: 0, Packets: 3, Waited: tt.l})
		s.Depart(now, nil, View{Queue: 1, Packets: 3, Waited: tt.c})
		s.Depart(201*us, nil, View{Queue: 1, Packets: 3, Waited: tt.c})
		want := tt.want
		if name == "below target" {
			want = math.Max(0, 1000*20e-6-100*30e-6) - 100*30e-6 // grows first, then falls
		}
		if got := s.state.prob; math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: p' is %v, want %v", name, got, want)
		}
	}
}

func TestDualPI2Derives(t *testing.T) {
	e := env()
	e.RTTs = OneRTT(100 * time.Millisecond)
	told := map[string]string{}
	e.Tell = func(d Derived) { told[d.Param] = d.Value }
	if _, err := Table().New("dualpi2", nil, e); err != nil {
		t.Fatal(err)
	}
	for param, want := range map[string]string{"target": "15ms", "tupdate": "15ms", "alpha": "0.15", "beta": "3", "min_th": "17ms", "range": "8.5ms"} {
		if told[param] != want {
			t.Errorf("%s: %s, want %s", param, told[param], want)
		}
	}
	e.RTTs = RTTs{}
	if _, err := Table().New("dualpi2", map[string]any{"target": "1ms", "tupdate": "1ms", "alpha": 1, "beta": 1}, e); err == nil {
		t.Error("computes min_th without a base RTT")
	}
	refuses(t, "dualpi2", []refusal{{map[string]any{"k": 17}, "k: 17 is outside [1, 16]"}, {map[string]any{"th_len": -1}, "th_len: -1 is outside"}})
}

// TestDualPI2WantsTwoQueues: a coupled AQM is one of two queues (RFC 9332, section 2.4). With
// one, all packets would be taken for low-latency ones.
func TestDualPI2WantsTwoQueues(t *testing.T) {
	one := env()
	one.Queues, one.Weights = 1, []int{1}
	_, err := Table().New("dualpi2", nil, one)
	if err == nil || !strings.Contains(err.Error(), "the scheduler has one queue, and nothing is coupled: want scheduler dualq") {
		t.Errorf("%v", err)
	}
}
