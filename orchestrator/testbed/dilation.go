package testbed

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"aqmlab/labs"
	"aqmlab/results"
)

// longestRTT is the wall time that a base RTT may take where the dilation is left to us.
// TCP takes a handshake for lost after a second of wall time, and a round trip through
// full queues takes several times the base RTT.
const longestRTT = 250 * time.Millisecond

// ladder lists the dilations that may be chosen. Each is about half as much again as the
// one before.
func ladder() []float64 {
	return []float64{1, 1.5, 2, 3, 4, 6, 9, 14, 21, 32, 48, 72, 108, 160, 240, 360, 540, 800, 1200, 1800}
}

// largest is the largest dilation that may be chosen for a lab.
func largest(lab *labs.Lab) float64 {
	all := ladder()
	if lab.RTT.Max == 0 {
		return all[len(all)-1]
	}
	past := slices.IndexFunc(all, func(d float64) bool { return d*float64(lab.RTT.Max) > float64(longestRTT) })
	if past < 0 {
		past = len(all)
	}
	return all[max(0, past-1)]
}

// dilations lists those that are tried, from the first that is not below least up to
// most, which is one of the ladder; most alone if least is beyond it.
func dilations(least, most float64) []float64 {
	all := ladder()
	first := slices.IndexFunc(all, func(d float64) bool { return d >= min(least, most) })
	return all[first : slices.Index(all, most)+1]
}

// chooseDilation finds the smallest dilation, not below least, that the pilot passes with.
func (t *Testbed) chooseDilation(ctx context.Context, least float64, say func(string)) error {
	try := func(d float64) (trial, error) {
		if err := t.setDilation(ctx, d); err != nil {
			return trial{}, err
		}
		m, err := t.pilot(ctx)
		if err != nil {
			return trial{}, err
		}
		bad, why := verdict(m, t.judge(m))
		if bad > 1 {
			say(fmt.Sprintf("dilation %v is too fast for this machine: %s", d, why))
		}
		return trial{bad, slower(m.Flows)}, nil
	}
	d, worst, err := choose(dilations(least, largest(t.lab)), try)
	if err != nil {
		return err
	}
	if worst > 1 {
		say(fmt.Sprintf("warning: this machine keeps up with none; it does best with dilation %v", d))
	}
	return t.setDilation(ctx, d)
}

// setDilation changes how fast the lab runs.
func (t *Testbed) setDilation(ctx context.Context, d float64) error {
	t.dilation = d
	return t.eachGround(func(_ int, g ground) error { return g.retime(ctx, d) })
}

// trial is how a pilot went.
type trial struct {
	bad    float64 // up to 1 is good
	slower float64 // how many times longer flows took to be served than to be asked for; 1 or more
}

// fewFlows is less than what tells how much a machine carries.
const fewFlows = 100

// slower compares when half of the flows had been asked for with when half were served. A
// machine that carries less than what is offered takes longer by the ratio of the two,
// whatever becomes of single flows.
func slower(flows []results.Flow) float64 {
	var asked, served []time.Duration
	for _, f := range flows {
		if asked = append(asked, f.Start); f.Completed() {
			served = append(served, f.Sent+f.FCT)
		}
	}
	if len(asked) < fewFlows || len(served) < len(asked)/2 {
		return 1
	}
	slices.Sort(asked)
	slices.Sort(served)
	half := len(asked) / 2
	return max(1, float64(served[half-1])/float64(max(asked[half-1], 1)))
}

// leap is the share of what a trial says is missing that is made up for at once: a machine
// that carries too little is not at its best.
const leap = 0.5

// next is the index of the dilation to try after a bad trial of the i-th.
func next(all []float64, i int, t trial) int {
	enough := slices.IndexFunc(all, func(d float64) bool { return d >= leap*t.slower*all[i] })
	if enough < 0 {
		enough = len(all) - 1
	}
	return max(i+1, enough)
}

// choose returns the first of several dilations that is good, and how bad it is. Those at
// which a machine cannot carry what is offered, as a trial has shown, are left out until a
// good one is known. If none is good it returns the least bad, and of equals the lowest.
func choose(all []float64, try func(float64) (trial, error)) (d, bad float64, err error) {
	bad = math.Inf(1)
	for i, before, leapt := 0, -1, false; i < len(all); {
		this, err := try(all[i])
		switch {
		case err != nil:
			return 0, 0, err
		case this.bad <= 1 && leapt:
			return between(all, before, i, this, try)
		case this.bad <= 1:
			return again(all[:i+1], this, try)
		}
		if this.bad < bad {
			d, bad = all[i], this.bad
		}
		before, i = i, next(all, i, this)
		leapt = leapt || i > before+1
	}
	return d, bad, nil
}

// between halves what was left out between a bad dilation and a good one, by their indices,
// until the two are neighbours.
func between(all []float64, low, high int, good trial, try func(float64) (trial, error)) (d, bad float64, err error) {
	for high-low > 1 {
		middle := (low + high) / 2
		this, err := try(all[middle])
		switch {
		case err != nil:
			return 0, 0, err
		case this.bad <= 1:
			high, good = middle, this
		default:
			low = middle
		}
	}
	return all[high], good.bad, nil
}

// manyFailures is how many dilations must have failed for lower ones to be tried
// again.
const manyFailures = 3

// again goes down from the last of several dilations, whose trial was good, after all others
// were not. When those are many, what disturbed the machine may have gone by: it takes the
// lowest down to which all are good now.
func again(all []float64, good trial, try func(float64) (trial, error)) (d, bad float64, err error) {
	at := len(all) - 1
	for at >= manyFailures {
		this, err := try(all[at/2])
		if err != nil {
			return 0, 0, err
		}
		if this.bad > 1 {
			break
		}
		at, good = at/2, this
	}
	return all[at], good.bad, nil
}
