package reproduce

import (
	"errors"
	"time"

	"aqmlab/reproduce/metric"
	"aqmlab/reproduce/papers"
	"aqmlab/reproduce/record"
	"aqmlab/results"
)

// collect makes a record of the points of an experiment that are stored.
func (a *archive) collect(id string) (*record.Record, error) {
	r := record.New("", id)
	for _, e := range a.plan.experiments {
		if e.ID != id {
			continue
		}
		r.Paper = e.paper
		for _, c := range e.Claims {
			if err := a.collectFigures(r, e, c); err != nil {
				return nil, err
			}
		}
		if err := a.collectPoints(r, e); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// collectFigures takes the figures of a claim, one for every scheme and load.
func (a *archive) collectFigures(r *record.Record, e *experiment, c papers.Claim) error {
	if !metric.NeedsRuns(c) {
		return nil
	}
	for _, load := range e.lab.Workload.Load {
		if !c.About(load) {
			continue
		}
		for _, scheme := range c.Schemes() {
			at := results.Coord{Scheme: scheme, Load: load}
			f, err := a.measure(e, c, at)
			switch {
			case errors.Is(err, metric.ErrNotRun):
				continue
			case errors.Is(err, metric.ErrNothing):
				f = record.Figure{Nothing: err.Error()}
			case err != nil:
				return err
			}
			if f.Fingerprint, err = a.plan.fingerprint(e, c, at); err != nil {
				return err
			}
			f.Claim, f.Runtime, f.Scheme, f.Load = c.ID, string(a.plan.Runtime), scheme, load
			f.Scale, f.Flows = string(a.plan.Scale), e.lab.Workload.Flows
			if err := a.dateFigure(r, e, c, &f); err != nil {
				return err
			}
			r.Figures = append(r.Figures, f)
		}
	}
	return nil
}

// dateFigure notes when and by what the last of a figure's points was measured. Where
// there is no figure, it notes the seeds, so that they are not run in vain again.
func (a *archive) dateFigure(r *record.Record, e *experiment, c papers.Claim, f *record.Figure) error {
	points, err := a.find(e, results.Coord{Scheme: f.Scheme, Load: f.Load})
	if err != nil {
		return err
	}
	if f.Nothing != "" {
		f.Seeds = len(points)
	}
	if c.Baseline != "" {
		base, err := a.find(a.plan.baselineOf(e, c), results.Coord{Scheme: c.Baseline, Load: f.Load})
		if err != nil {
			return err
		}
		points = append(base, points...)
	}
	for _, s := range points {
		if f.Origin == "" || s.manifest.Start.After(f.Measured) {
			f.Measured, f.Origin = s.manifest.Start, a.addOrigin(r, s.manifest)
		}
	}
	return nil
}

// addOrigin notes what measured a run, and returns its name in the record.
func (a *archive) addOrigin(r *record.Record, m results.Manifest) string {
	o := record.Origin{Version: m.Version, Revision: m.GitRevision, Command: a.plan.Command, Machine: m.Host}
	id := record.Hash(o)
	r.Origins[id] = o
	return id
}

// collectPoints sums up the points of an experiment. Another experiment with the same
// lab may have run them.
func (a *archive) collectPoints(r *record.Record, e *experiment) error {
	for _, load := range e.lab.Workload.Load {
		for _, scheme := range e.lab.Schemes {
			at := results.Coord{Scheme: scheme.Name, Load: load}
			if len(a.plan.purposes(e, at)) == 0 {
				continue
			}
			fingerprint, err := e.fingerprint(at)
			if err != nil {
				return err
			}
			points, err := a.find(e, at)
			if err != nil {
				return err
			}
			for _, s := range points {
				point, err := s.point.ReadFlows()
				if err != nil {
					return err
				}
				k := sumUp(point)
				k.Lab, k.Runtime, k.Fingerprint = e.lab.Name, string(a.plan.Runtime), fingerprint
				k.Measured, k.Origin, k.Seconds = s.manifest.Start, a.addOrigin(r, s.manifest), secondsPerPoint(s.manifest)
				r.Points = append(r.Points, k)
			}
		}
	}
	return nil
}

// secondsPerPoint is how long a run took for each of its points; zero when it is
// not known.
func secondsPerPoint(m results.Manifest) float64 {
	if m.End.Before(m.Start) || len(m.Points) == 0 {
		return 0
	}
	return (m.End.Sub(m.Start) / time.Duration(len(m.Points))).Round(10 * time.Millisecond).Seconds()
}

// sumUp is a point without its flows.
func sumUp(p results.Point) record.Point {
	counts := results.CountsOf(p)
	k := record.Point{Coord: p.Coord, Flows: len(p.Flows), Marks: counts.Marks, Drops: counts.Drops, Timeouts: counts.Timeouts, FCT: make(map[string][]float64)}
	for _, f := range p.Flows {
		if f.Completed() {
			k.Completed++
		}
	}
	for _, class := range results.Classes() {
		if f := results.Summarize(p.Flows, class); f.Count > 0 {
			k.FCT[string(class)] = []float64{toNanoseconds(f.Mean), toNanoseconds(f.P99)}
		}
	}
	return k
}

// toNanoseconds drops digits below a nanosecond of a time in microseconds.
func toNanoseconds(us float64) float64 { return float64(int64(us*1000+0.5)) / 1000 }
