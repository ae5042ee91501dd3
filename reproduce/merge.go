package reproduce

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"aqmlab/reproduce/metric"
	"aqmlab/reproduce/papers"
)

// hash is eight hexadecimal digits, the same for equal values.
func hash(v any) string {
	sum := sha256.Sum256([]byte(compact(v)))
	return hex.EncodeToString(sum[:4])
}

// tidy puts a record into its one order, and drops origins of nothing.
func (r *record) tidy() {
	slices.SortStableFunc(r.Figures, func(a, b kept) int {
		return cmp.Or(strings.Compare(a.Claim, b.Claim), strings.Compare(a.Runtime, b.Runtime), cmp.Compare(a.Load, b.Load), strings.Compare(a.Scheme, b.Scheme))
	})
	slices.SortStableFunc(r.Points, func(a, b keptPoint) int {
		return cmp.Or(strings.Compare(a.Runtime, b.Runtime), strings.Compare(a.Lab, b.Lab), cmp.Compare(a.Load, b.Load), strings.Compare(a.Scheme, b.Scheme), cmp.Compare(a.Seed, b.Seed))
	})
	used := make(map[string]origin)
	for _, f := range r.Figures {
		used[f.Origin] = r.Origins[f.Origin]
	}
	for _, p := range r.Points {
		used[p.Origin] = r.Origins[p.Origin]
	}
	r.Origins = used
}

// worth is what decides between two measurements of the same.
type worth struct {
	current      bool // of the lab as it is
	since        bool // not before the time that was asked for
	flows, seeds int
	measured     time.Time
}

// beats tells whether a measurement takes the place of another: the lab as it is
// counts most, then more flows and seeds, then the later time.
func (w worth) beats(o worth) bool {
	for _, is := range [][2]bool{{w.current, o.current}, {w.since, o.since}} {
		if is[0] != is[1] {
			return is[0]
		}
	}
	return cmp.Or(cmp.Compare(w.flows, o.flows), cmp.Compare(w.seeds, o.seeds), w.measured.Compare(o.measured)) >= 0
}

// merge takes over what is worth more than what the record has. What is the same
// keeps its origin: to read the same runs again measures nothing.
func (p *Plan) merge(r, fresh *record) {
	for id, o := range fresh.Origins {
		r.Origins[id] = o
	}
	for _, f := range fresh.Figures {
		i := slices.IndexFunc(r.Figures, f.same)
		switch {
		case i < 0:
			r.Figures = append(r.Figures, f)
		case f.differs(r.Figures[i]) && p.worth(f).beats(p.worth(r.Figures[i])):
			r.Figures[i] = f
		}
	}
	for _, f := range fresh.Points {
		i := slices.IndexFunc(r.Points, f.same)
		switch {
		case i < 0:
			r.Points = append(r.Points, f)
		case f.differs(r.Points[i]) && p.worthOfPoint(f).beats(p.worthOfPoint(r.Points[i])):
			r.Points[i] = f
		}
	}
}

// differs tells whether two records of a figure say anything else than who made them.
func (k kept) differs(o kept) bool {
	k.Origin = o.Origin
	return hash(k) != hash(o)
}

func (k keptPoint) differs(o keptPoint) bool {
	k.Origin = o.Origin
	return hash(k) != hash(o)
}

func (p *Plan) worth(k kept) worth {
	return worth{p.current(k), !k.Measured.Before(p.Since), k.Flows, k.Seeds, k.Measured}
}

func (p *Plan) worthOfPoint(k keptPoint) worth {
	return worth{p.currentPoint(k), !k.Measured.Before(p.Since), k.Flows, 1, k.Measured}
}

// current tells whether a figure is of the lab and the claim as they are.
func (p *Plan) current(k kept) bool {
	for _, s := range p.studies {
		for _, c := range s.Claims {
			if c.ID == k.Claim {
				of, err := p.of(s, c, k.Scheme, k.Load)
				return err == nil && of == k.Of
			}
		}
	}
	return false
}

func (p *Plan) currentPoint(k keptPoint) bool {
	i := slices.IndexFunc(p.studies, func(s *study) bool { return s.lab.Name == k.Lab })
	if i < 0 {
		return false
	}
	of, err := p.studies[i].of(k.Scheme, k.Load)
	return err == nil && of == k.Of
}

// prune drops what the papers no longer claim.
func (p *Plan) prune(r *record) {
	r.Figures = slices.DeleteFunc(r.Figures, func(k kept) bool {
		return !slices.ContainsFunc(p.studies, func(s *study) bool {
			return slices.ContainsFunc(s.Claims, func(c papers.Claim) bool { return c.ID == k.Claim && metric.NeedsRuns(c) })
		})
	})
}

// of is the hash of all that a claim's figure for a scheme at a load depends on,
// but for how much of it is run: the labs, and what the metric is taken of.
func (p *Plan) of(s *study, c papers.Claim, scheme string, load float64) (string, error) {
	labs := []string{}
	add := func(s *study, scheme string) error {
		of, err := s.of(scheme, load)
		labs = append(labs, of)
		return err
	}
	if err := add(s, scheme); err != nil {
		return "", err
	}
	if c.Baseline != "" {
		base := s
		if c.In != "" {
			base = p.study(c.In)
		}
		if err := add(base, c.Baseline); err != nil {
			return "", err
		}
	}
	constant := c.From // the figure is a difference from it
	if !c.Relation.Relative() || c.Baseline != "" {
		constant = nil
	}
	return hash([]any{labs, c.Metric, c.Relation.Relative(), constant, c.Class, c.Port, c.Queue, c.Probe, c.Windows, c.Base}), nil
}

// of is the hash of the lab with one scheme at one load, at the published number
// of flows, whatever it is called.
func (s *study) of(scheme string, load float64) (string, error) {
	at := spot{scheme, load}
	if h, ok := s.hashes[at]; ok {
		return h, nil
	}
	one, err := s.lab.Restricted([]string{scheme}, load, 1)
	if err != nil {
		return "", err
	}
	one.Workload.Flows, one.Title, one.Baseline = s.published, "", scheme
	s.hashes[at] = one.Hash()
	return s.hashes[at], nil
}
