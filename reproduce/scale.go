package reproduce

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"aqmlab/labs"
	"aqmlab/reproduce/papers"
	"aqmlab/switch/packet"
	"aqmlab/trafficgen"
	"aqmlab/trafficgen/traffic"
)

// ScaleRow says what of an experiment is run at a scale.
type ScaleRow struct {
	Scale
	Doc string // for users

	headline           bool // headline claims alone
	seeds, kernelSeeds int
	flows, kernelFlows int // a point, at most; zero: the published number
	// loads are those that are run beside those that claims name.
	loads, kernelLoads func(published []float64) []float64
	// budget is the core time in seconds of an experiment with all its labs, which
	// bounds the flows of its points; zero: none does.
	budget float64
}

// Scales is the table of scales. On the TCP of a kernel a guest moves 54,000 packets a
// second where the model moves a million, so that the standard scale has fewer
// points and flows there: the testbed experiments of the papers take about an hour
// of two cores. With the budget of the quick scale, all experiments take about three
// minutes on two cores of the machine that aqmlab was written on, and 15 on a machine that is
// five times as slow.
func Scales() []ScaleRow {
	return []ScaleRow{
		{
			Scale: Quick, Doc: "few flows, one seed, and only the loads that claims name: a look, not a result; all papers take 3 to 15 minutes on two cores",
			seeds: 1, kernelSeeds: 1, loads: highest, kernelLoads: highest, budget: 15,
		},
		{
			Scale: Standard, Doc: "the loads that claims name and thirds of the highest; 10,000 flows; two seeds (the default); all papers take 1 to 6 hours on two cores",
			seeds: 2, kernelSeeds: 1, flows: 10_000, kernelFlows: 1_000, loads: thirds, kernelLoads: upperThirds,
		},
		{
			Scale: Headline, Doc: "what the papers are known for alone, with the published flows; two seeds",
			headline: true, seeds: 2, kernelSeeds: 1, loads: highest, kernelLoads: highest,
		},
		{
			Scale: Full, Doc: "the published loads and flows; three seeds; all papers take 15 hours to a week on two cores",
			seeds: 3, kernelSeeds: 3, loads: all, kernelLoads: all,
		},
	}
}

// MostSeeds is the largest number of seeds that may take the place of a scale's.
const MostSeeds = 1000

// quickFlows is the smallest number of flows that a budget leaves a point.
const quickFlows = 200

// row is the scale's row.
func (s Scale) row() ScaleRow {
	all := Scales()
	return all[slices.IndexFunc(all, func(r ScaleRow) bool { return r.Scale == s })]
}

// scale cuts the lab of an experiment down, and warns where a budget does so.
func (o Options) scale(e *experiment) (warning string, err error) {
	r, l := o.Scale.row(), e.lab
	if !o.modelled() {
		r.seeds, r.flows, r.loads = r.kernelSeeds, r.kernelFlows, r.kernelLoads
	}
	l.Seeds = nil
	for seed := range uint64(cmp.Or(o.Seeds, r.seeds)) {
		l.Seeds = append(l.Seeds, seed+1)
	}
	if e.fixed() && len(l.Background) == 0 && l.RTT.Per == "" && l.Workload.Jitter == 0 {
		l.Seeds = l.Seeds[:1] // the traffic is the same with any seed
	}
	e.loads = l.Workload.Load
	if !e.fixed() {
		e.loads = append(r.loads(e.loads), namedLoads(o.Scale.claims(e.Experiment), e.loads)...)
		slices.Sort(e.loads)
		e.loads = slices.Compact(e.loads)
	}
	l.Workload.Load = slices.DeleteFunc(slices.Clone(e.loads), func(load float64) bool {
		return len(o.Loads) > 0 && !slices.Contains(o.Loads, load)
	})
	flows := cmp.Or(o.Flows, r.flows, l.Workload.Flows)
	switch {
	case e.fixed():
		return "", nil
	case o.Flows == 0 && r.budget > 0:
		if flows, err = o.affordable(e, r.budget/float64(e.labs)); err != nil {
			return "", err
		}
		if flows < l.Workload.Flows {
			warning = fmt.Sprintf("%s: %d flows a point, the lab has %d", e, flows, l.Workload.Flows)
		}
	}
	l.Workload.Flows = min(l.Workload.Flows, flows)
	return warning, nil
}

func all(published []float64) []float64 { return slices.Clone(published) }

func highest(published []float64) []float64 { return []float64{slices.Max(published)} }

// thirds are those of the published loads that are nearest to a third of the highest,
// to two thirds, and to all of it.
func thirds(published []float64) (loads []float64) {
	for i := range 3 {
		want := slices.Max(published) * float64(i+1) / 3
		loads = append(loads, slices.MinFunc(published, func(a, b float64) int {
			return cmp.Compare(math.Abs(a-want), math.Abs(b-want))
		}))
	}
	return loads
}

func upperThirds(published []float64) []float64 { return thirds(published)[1:] }

// namedLoads lists the loads that claims name: their one load, or of those up to
// some load the highest that was published.
func namedLoads(claims []papers.Claim, published []float64) (loads []float64) {
	for _, c := range claims {
		if c.Load != 0 {
			loads = append(loads, c.Load)
		}
		if c.MaxLoad != 0 {
			below := slices.DeleteFunc(slices.Clone(published), func(l float64) bool { return !c.About(l) })
			if len(below) > 0 {
				loads = append(loads, slices.Max(below))
			}
		}
	}
	return loads
}

// claims lists those of an experiment that the scale is for.
func (s Scale) claims(e papers.Experiment) []papers.Claim {
	if !s.row().headline {
		return e.Claims
	}
	return slices.DeleteFunc(slices.Clone(e.Claims), func(c papers.Claim) bool { return !c.Headline })
}

// covers tells whether the scale is for an experiment.
func (s Scale) covers(e papers.Experiment) bool { return !s.row().headline || len(s.claims(e)) > 0 }

// affordable is how many flows a point may have so that the whole experiment
// takes so many seconds of one core.
func (o Options) affordable(e *experiment, seconds float64) (int, error) {
	total := 0.0
	for _, load := range e.lab.Workload.Load {
		flows, err := trafficgen.Trace(e.lab.Traffic(load, e.lab.Seeds[0]))
		if err != nil {
			return 0, fmt.Errorf("lab %s: %w", e.Lab, err)
		}
		total += o.cost(e.lab, flows) * float64(len(e.lab.Schemes)*len(e.lab.Seeds))
	}
	share := math.Min(1, seconds/total)
	return max(min(quickFlows, e.lab.Workload.Flows), int(share*float64(e.lab.Workload.Flows))), nil
}

// What a data packet costs at each switch that it passes, with its ACK and all
// events between, on one core of the machine that aqmlab was written on.
const perPacketHop = 400 * time.Nanosecond

// What a guest takes to boot, look around and calibrate, and for a data packet
// with its ACK on a star (docs/uml.md).
const (
	guestStart     = 3.0 // seconds
	perGuestPacket = 20 * time.Microsecond
)

// cost is about how many seconds a point takes: of one core in virtual time, else
// of the wall, for the starts of its flows without dilation, which most machines
// need.
func (o Options) cost(l *labs.Lab, flows []traffic.Flow) float64 {
	switch {
	case o.modelled():
		return packets(l, flows) * float64(l.Topology.Hops()-1) * perPacketHop.Seconds()
	case o.virtual():
		return guestStart + packets(l, flows)*perGuestPacket.Seconds()
	}
	return traffic.End(flows).Seconds()
}

// packets is about how many data packets a trace has.
func packets(l *labs.Lab, flows []traffic.Flow) float64 {
	payload := float64(l.Host.MTU - packet.TCPHeaders)
	packets, longest := 0.0, map[int]time.Duration{} // by client: how long its endless flows last
	for _, f := range flows {
		if f.Stop > 0 {
			longest[f.Client] = max(longest[f.Client], f.Stop-f.Start)
			continue
		}
		packets += max(1, float64(f.Bytes)/payload)
	}
	for _, d := range longest {
		packets += d.Seconds() * float64(l.Topology.Rate) / 8 / payload
	}
	return packets
}
