package reproduce

import (
	"errors"
	"time"

	"aqmlab/reproduce/metric"
	"aqmlab/reproduce/papers"
	"aqmlab/results"
)

// harvest makes a record of the points of an experiment that are stored.
func (p *Plan) harvest(have *stored, id string) (*record, error) {
	r := &record{Experiment: id, Origins: make(map[string]origin)}
	for _, s := range p.studies {
		if s.ID != id {
			continue
		}
		r.Paper = s.paper
		for _, c := range s.Claims {
			if err := p.reap(have, r, s, c); err != nil {
				return nil, err
			}
		}
		if err := p.glean(have, r, s); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// reap takes the figures of a claim, one for every scheme and load.
func (p *Plan) reap(have *stored, r *record, s *study, c papers.Claim) error {
	if !metric.NeedsRuns(c) {
		return nil
	}
	for _, load := range s.lab.Workload.Load {
		if !c.About(load) {
			continue
		}
		for _, scheme := range c.Schemes() {
			f, err := p.at(have, s, c, spot{scheme, load})
			if errors.Is(err, errMissing) {
				continue
			}
			if err != nil && !errors.Is(err, metric.ErrNothing) {
				return err
			}
			of, oferr := p.of(s, c, scheme, load)
			if oferr != nil {
				return oferr
			}
			k := keep(f, err)
			k.Claim, k.Runtime, k.Scheme, k.Load, k.Scale, k.Flows, k.Of = c.ID, string(p.Runtime), scheme, load, p.Scale, s.lab.Workload.Flows, of
			if err := p.date(have, r, s, c, &k); err != nil {
				return err
			}
			r.Figures = append(r.Figures, k)
		}
	}
	return nil
}

// keep is a figure as a record has it, or why there is none.
func keep(f Figure, err error) kept {
	k := kept{Value: exact(f.Value), From: exact(f.From), To: exact(f.To), LowFidelity: f.LowFidelity, Seeds: f.Seeds}
	if err != nil {
		return kept{Nothing: err.Error()}
	}
	if f.HasCI {
		k.CI95 = []exact{exact(f.CI95[0]), exact(f.CI95[1])}
	}
	return k
}

// date notes when and by what the last of a figure's points was measured, and,
// where there is no figure, of how many seeds there is none.
func (p *Plan) date(have *stored, r *record, s *study, c papers.Claim, k *kept) error {
	seeds := 0
	look := func(s *study, scheme string) error {
		found, err := have.find(s, spot{scheme, k.Load})
		for _, f := range found {
			if o := p.origin(f.manifest); k.Origin == "" || f.manifest.Start.After(k.Measured) {
				k.Measured, k.Origin = f.manifest.Start, o.hash()
				r.Origins[k.Origin] = o
			}
		}
		seeds = len(found)
		return err
	}
	if c.Baseline != "" {
		base := s
		if c.In != "" {
			base = p.study(c.In)
		}
		if err := look(base, c.Baseline); err != nil {
			return err
		}
	}
	err := look(s, k.Scheme)
	if k.Nothing != "" {
		k.Seeds = seeds
	}
	return err
}

func (p *Plan) origin(m results.Manifest) origin {
	return origin{Version: m.Version, Revision: m.GitRevision, Command: p.Command, Machine: m.Host}
}

// glean sums up the points of a study, whichever experiment they were run with.
func (p *Plan) glean(have *stored, r *record, s *study) error {
	for _, load := range s.lab.Workload.Load {
		for _, scheme := range s.lab.Schemes {
			at := spot{scheme.Name, load}
			if len(p.wants(s, at)) == 0 {
				continue
			}
			points, err := have.find(s, at)
			if err != nil {
				return err
			}
			for _, f := range points {
				if err := p.gleanPoint(f, r, s, at); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (p *Plan) gleanPoint(f found, r *record, s *study, at spot) error {
	of, err := s.of(at.scheme, at.load)
	if err != nil {
		return err
	}
	point, err := f.point.ReadFlows()
	if err != nil {
		return err
	}
	o := p.origin(f.manifest)
	r.Origins[o.hash()] = o
	k := sumUp(point)
	k.Lab, k.Runtime, k.Of, k.Measured, k.Origin = s.lab.Name, string(p.Runtime), of, f.manifest.Start, o.hash()
	k.Seconds = seconds(f.manifest)
	r.Points = append(r.Points, k)
	return nil
}

// seconds is how long a run took for each of its points; zero when it is not
// known.
func seconds(m results.Manifest) float64 {
	if m.End.Before(m.Start) || len(m.Points) == 0 {
		return 0
	}
	return (m.End.Sub(m.Start) / time.Duration(len(m.Points))).Round(10 * time.Millisecond).Seconds()
}

// sumUp is a point without its flows.
func sumUp(p results.Point) keptPoint {
	counts := results.CountsOf(p)
	k := keptPoint{Coord: p.Coord, Flows: len(p.Flows), Marks: counts.Marks, Drops: counts.Drops, Timeouts: counts.Timeouts, FCT: make(map[string][]float64)}
	for _, f := range p.Flows {
		if f.Completed() {
			k.Completed++
		}
	}
	for _, class := range results.Classes() {
		if f := results.Summarize(p.Flows, class); f.Count > 0 {
			k.FCT[string(class)] = []float64{rounded(f.Mean), rounded(f.P99)}
		}
	}
	return k
}

// rounded drops digits below a nanosecond of a time in microseconds.
func rounded(us float64) float64 { return float64(int64(us*1000+0.5)) / 1000 }
