package results

import "slices"

// subject is what times are measured of.
type subject struct {
	name    string // such as "small flows"
	measure string // such as "FCT"
	share   string // what a share is one of
}

func subjectOf(c Class) subject {
	if c == Queries {
		return subject{"queries", "QCT", "queries"}
	}
	return subject{string(c) + " flows", "FCT", "flows"}
}

// distribution gathers the times of one subject under every scheme.
type distribution struct {
	subject
	of func(Point) []float64 // in microseconds
	us map[string][]float64  // by scheme
}

// completions are the distributions of flows and queries.
func completions() []distribution {
	class := func(c Class) func(Point) []float64 {
		return func(p Point) []float64 { return flowTimes(p.Flows, c) }
	}
	return []distribution{
		{subjectOf(All), class(All), make(map[string][]float64)},
		{subjectOf(Small), class(Small), make(map[string][]float64)},
		{subjectOf(Queries), func(p Point) []float64 { return completionTimes(QueriesOf(p.Flows)) }, make(map[string][]float64)},
	}
}

// answers is the distribution of a probe's round-trip times.
func answers(probe string) distribution {
	of := func(p Point) (us []float64) {
		for _, s := range p.Probes {
			if s.Probe == probe && !s.Lost {
				us = append(us, micros(s.RTT))
			}
		}
		return us
	}
	return distribution{subject{"probe " + probe, "RTT", "answers"}, of, make(map[string][]float64)}
}

func (d distribution) add(p Point) { d.us[p.Scheme] = append(d.us[p.Scheme], d.of(p)...) }

// chart draws what was gathered. ok is false when that is nothing.
func (d distribution) chart(c Comparison) (ch chart, ok bool) {
	for _, us := range d.us {
		slices.Sort(us)
	}
	return cdfChart(c, d.subject, d.us)
}

// drawCDFs shows the distributions of what was measured of flows, queries and
// probes.
func (s *section) drawCDFs(c Comparison, points []StoredPoint) error {
	all := completions()
	of := len(all)
	for _, p := range s.Probes {
		all = append(all, answers(p.Name))
	}
	for _, stored := range points {
		p, err := stored.ReadFlows()
		if err != nil {
			return err
		}
		for _, d := range all {
			d.add(p)
		}
	}
	for i, d := range all {
		ch, ok := d.chart(c)
		switch {
		case !ok:
		case i < of:
			s.CDFs = append(s.CDFs, ch)
		default:
			s.Probes[i-of].CDFs = []chart{ch}
		}
	}
	return nil
}
