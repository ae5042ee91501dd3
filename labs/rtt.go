package labs

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"aqmlab/kind"
	"aqmlab/units"
)

const (
	rttMinPath       = "rtt.min"
	rttMaxPath       = "rtt.max"
	rttBasePath      = "rtt.base"
	rttPerPath       = "rtt.per"
	rttAtPath        = "rtt.at"
	rttByPath        = "rtt.by"
	distributionPath = "rtt.distribution"
)

// Where the base RTT sits: on all links alike, or at the end hosts, which is to
// say on their links.
const (
	baseLinks = "links"
	baseHosts = "hosts"
)

// Whose RTT is drawn, and where it is added.
const (
	perHost  = "host"
	perFlow  = "flow"
	atSender = "sender"
)

// What holds packets back, for what is drawn.
const (
	ByAny       = "auto"       // netem if the kernel has it, else the delay line
	ByNetem     = "netem"      // the sending host's kernel
	ByDelayLine = "delay-line" // the switch, before the host's link
)

// PerFlow tells whether the flows of a host differ in their base RTTs.
func (r RTT) PerFlow() bool { return r.Max > r.Min && r.Per == perFlow }

// flowClasses is how many RTTs the flows of a host share. Each stands for as
// large a part of the distribution.
const flowClasses = 128

// checkRTT wants the keys that the distribution uses, and no others.
func (r *reader) checkRTT(l *Lab, layout Layout) {
	r.checkBase(l, layout)
	c := r.form.choice(distributionPath)
	kindPath := join(c.path, c.kindKey)
	checkUsed(r, c, l.RTT.Distribution, RTTs())
	shape := build(r, c, l.RTT.Distribution, func(params map[string]any) (RTTShape, error) {
		return RTTs().New(l.RTT.Distribution.Kind, params, struct{}{})
	})
	switch {
	case shape == nil:
	case l.RTT.Distribution.Kind == fixedRTT:
		r.checkFixed(l, kindPath)
	default:
		r.checkRange(l)
	}
}

// checkBase derives the base RTT of a lab that sets the links' delays instead.
func (r *reader) checkBase(l *Lab, layout Layout) {
	if !r.sound(linkDelayPath) {
		r.failed[rttMinPath] = true
	}
	own := r.ownDelays(l, layout)
	if own == "" {
		if l.RTT.Base == "" {
			l.RTT.Base = baseLinks
		}
		return
	}
	for _, path := range []string{rttMinPath, rttBasePath} {
		if r.uses(path, own) {
			r.fail(path, "%s is set, too, and says what the base RTT is: want one of the two", own)
		}
	}
	l.RTT.Min = 2 * l.Topology.oneWay(layout)
	l.RTT.Base = ""
}

// checkFixed is for a lab in which all base RTTs are the same.
func (r *reader) checkFixed(l *Lab, kindPath string) {
	rtt := &l.RTT
	if !r.uses(rttMaxPath, kindPath) {
		rtt.Max = rtt.Min
	}
	if rtt.Max != rtt.Min && r.sound(rttMinPath, rttMaxPath) {
		r.fail(rttMaxPath, "%s differs from rtt.min, %s: a fixed distribution has one RTT",
			units.FormatTime(rtt.Max), units.FormatTime(rtt.Min))
	}
	for _, path := range []string{rttPerPath, rttAtPath, rttByPath} {
		if r.uses(path, kindPath) {
			r.fail(path, "not used when %s is %s", distributionPath, fixedRTT)
		}
	}
	rtt.Per, rtt.At, rtt.By = "", "", ""
}

// checkRange is for a lab in which base RTTs are drawn.
func (r *reader) checkRange(l *Lab) {
	rtt := &l.RTT
	switch {
	case r.get(rttMaxPath) == nil:
		r.fail(rttMaxPath, "missing: %s is %s: want a time such as 240us", distributionPath, rtt.Distribution.Kind)
	case rtt.Max < rtt.Min && r.sound(rttMinPath, rttMaxPath):
		r.fail(rttMaxPath, "%s is below rtt.min, %s", units.FormatTime(rtt.Max), units.FormatTime(rtt.Min))
	}
	if rtt.Per == "" {
		rtt.Per = perFlow
	}
	if rtt.At == "" {
		rtt.At = atSender
	}
	if rtt.By == "" {
		rtt.By = ByAny
	}
}

// delays are how long each host holds back what it sends, so that base RTTs are
// those of the lab's distribution. They depend on the seed alone, and not on
// what the same seed draws elsewhere. A host that only asks holds nothing back: its
// requests would add a delay of their own to the RTT of the answer.
//
// A host of its own RTT has one delay, drawn at random. Flows of their own RTT
// share the delays of classes, one from the middle of each of as many equal
// parts of the distribution, so that few flows, too, see all of it.
func (l *Lab) delays(seed uint64, hosts int) ([][]time.Duration, error) {
	all := make([][]time.Duration, hosts)
	spread := l.RTT.Max - l.RTT.Min
	if spread == 0 {
		return all, nil
	}
	all, err := l.drawn(seed, hosts, spread)
	if err != nil {
		return nil, err
	}
	traffic := l.Traffic(l.Workload.Load[0], seed)
	for i := range all {
		if !traffic.Serves(i) {
			all[i] = []time.Duration{0}
		}
	}
	return all, nil
}

// drawn are the delays of hosts that send flows.
func (l *Lab) drawn(seed uint64, hosts int, spread time.Duration) ([][]time.Duration, error) {
	all := make([][]time.Duration, hosts)
	at, err := RTTs().New(l.RTT.Distribution.Kind, l.RTT.Distribution.Params, struct{}{})
	if err != nil {
		return nil, err
	}
	delay := func(u float64) time.Duration { return time.Duration(math.Round(float64(spread) * at(u))) }
	root := rand.NewPCG(seed, 0x8f1d3ab26c05e947) // any constant that nothing else draws with
	r := rand.New(rand.NewPCG(root.Uint64(), root.Uint64()))
	if l.RTT.Per == perHost {
		for i := range all {
			all[i] = []time.Duration{delay(r.Float64())}
		}
		return all, nil
	}
	classes := make([]time.Duration, flowClasses)
	for i := range classes {
		classes[i] = delay((float64(i) + 0.5) / flowClasses)
	}
	for i := range all {
		r.Shuffle(flowClasses, func(a, b int) { classes[a], classes[b] = classes[b], classes[a] })
		all[i] = slices.Clone(classes)
	}
	return all, nil
}

// RTTs lists the distributions of base RTTs.
func RTTs() kind.Table[struct{}, RTTShape] {
	return kind.Table[struct{}, RTTShape]{
		kind.Row(fixedRTT, "the same for all", struct{}{}, newFixedRTT),
		kind.Row("uniform", "every RTT of the range is as likely", struct{}{}, newUniformRTT),
		kind.Row("long-tail", "many short ones and few long ones, as in the simulations of ECN# (CoNEXT 2019)", struct{}{}, newLongTailRTT),
		kind.Row("cdf", "a table of RTTs and cumulative probabilities from a file, interpolated linearly and stretched to the range", rttTable{}, newTableRTT),
	}
}
