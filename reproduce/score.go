package reproduce

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"aqmlab/orchestrator"
	"aqmlab/orchestrator/backend"
	"aqmlab/reproduce/metric"
	"aqmlab/reproduce/papers"
)

// Score is a claim, and how it fared.
type Score struct {
	Paper      string
	Experiment papers.Experiment
	Claim      papers.Claim
	// Columns has what was measured, by runtime.
	Columns map[orchestrator.Runtime]Figure
	Verdict Verdict
	// By is the runtime that the verdict is of: one of the paper's own environment,
	// or else the other; for a claim about arithmetic [Computed]. Empty when there
	// is no figure.
	By     orchestrator.Runtime
	Reason string // why it was not run, or cannot be
	// Chance is set when the interval of a difference holds zero, so that its
	// direction may be chance.
	Chance bool
	// Unsettled is set for a claim that is not reproduced, when the interval holds
	// values with which it would be: more flows or seeds may change the verdict.
	Unsettled bool
}

// Computed is the column of claims about arithmetic, which no run is needed for.
const Computed orchestrator.Runtime = "computed"

// testbeds are the runtimes of real hosts, those first whose verdict counts: time
// that is virtual has no lateness.
func testbeds() []orchestrator.Runtime {
	return slices.Concat(
		orchestrator.RuntimesWith(func(f backend.Facts) bool { return !f.Modelled && f.Virtual }),
		orchestrator.RuntimesWith(func(f backend.Facts) bool { return !f.Modelled && !f.Virtual }),
	)
}

// Testbed is the runtime of real hosts that the score is of, if there is one: the
// first of [testbeds] whose figure is of the lab as it is.
func (s Score) Testbed() (orchestrator.Runtime, bool) {
	for _, stale := range []bool{false, true} {
		for _, r := range testbeds() {
			if f, ok := s.Columns[r]; ok && f.Stale == stale {
				return r, true
			}
		}
	}
	return "", false
}

// Card scores every claim of the experiments that were asked for, by what is
// recorded and by what is stored.
func (p *Plan) Card() ([]Score, error) {
	records, err := p.records()
	if err != nil {
		return nil, err
	}
	have, err := p.read(p.studies)
	if err != nil {
		return nil, err
	}
	for id, r := range records {
		fresh, err := p.harvest(have, id)
		if err != nil {
			return nil, fmt.Errorf("scoring %s: %w", id, err)
		}
		p.merge(r, fresh)
	}
	return p.card(records), nil
}

// card scores the claims by the records of their experiments.
func (p *Plan) card(records map[string]*record) (card []Score) {
	for _, s := range p.studies {
		for _, c := range s.Claims {
			if s.scored {
				card = append(card, p.score(records[s.ID], s, c))
			}
		}
	}
	return card
}

func (p *Plan) score(r *record, s *study, c papers.Claim) Score {
	out := Score{Paper: s.paper, Experiment: s.Experiment, Claim: c, Columns: make(map[orchestrator.Runtime]Figure), Verdict: NotRun, Reason: c.Unmeasured}
	if c.Unmeasured != "" {
		out.Verdict = unmeasured(s.Experiment)
		return out
	}
	if a, ok := metric.ArithmeticOf(c); ok {
		out.Columns[Computed] = computed(a, c)
		out.judge()
		return out
	}
	out.Reason = errMissing.Error()
	for _, column := range append([]orchestrator.Runtime{orchestrator.Simulator()}, testbeds()...) {
		f, err := p.figure(r, s, c, column)
		switch {
		case err == nil:
			out.Columns[column] = f
		case !errors.Is(err, errMissing): // what was run says more than what was not
			out.Reason = err.Error()
		}
	}
	out.judge()
	return out
}

// computed is the figure of a claim about arithmetic.
func computed(a metric.Arithmetic, c papers.Claim) Figure {
	from, to := a.Compute()
	f := Figure{Value: to, From: from, To: to, Scheme: c.Scheme}
	if c.Relation.Relative() {
		f.Value = metric.Difference(from, to)
	}
	return f
}

// unmeasured is the verdict of a claim that has no figure: what the paper only
// describes is not ours to run.
func unmeasured(e papers.Experiment) Verdict {
	if e.Environment == papers.Input || e.Environment == papers.Hardware {
		return Described
	}
	return NotRun
}

// flowsOf is the number of flows that the points of a figure had: where traffic is
// not drawn one by one, or more is added to it, the lab's is another. Of seeds with
// different numbers it is that of the figure's scale. A point younger than the
// figure is none of its own, but has taken the place of one.
func (s *study) flowsOf(r *record, f kept) int {
	had := 0
	for _, k := range r.Points {
		mine := k.Lab == s.lab.Name && k.Scheme == f.Scheme && k.Load == f.Load && k.Runtime == f.Runtime && !k.Measured.After(f.Measured)
		if mine && (had == 0 || away(k.Flows, f.Flows) < away(had, f.Flows)) {
			had = k.Flows
		}
	}
	return cmp.Or(had, f.Flows)
}

// away is how far apart two numbers are.
func away(a, b int) int { return max(a-b, b-a) }

// judge scores the column of the paper's own environment, or else the other.
func (s *Score) judge() {
	columns := []orchestrator.Runtime{Computed, orchestrator.Simulator()}
	if real, ok := s.Testbed(); ok && s.Experiment.Environment == papers.Testbed {
		columns = []orchestrator.Runtime{real, orchestrator.Simulator()}
	} else if ok {
		columns = append(columns, real)
	}
	i := slices.IndexFunc(columns, func(r orchestrator.Runtime) bool {
		f, ok := s.Columns[r]
		return ok && !f.Stale
	})
	if i < 0 {
		if len(s.Columns) > 0 {
			s.Reason = "the lab has changed since it was measured"
		}
		return
	}
	s.By = columns[i]
	f := s.Columns[s.By]
	s.Verdict, s.Reason = judge(s.Claim, f.Value), ""
	directed := s.Claim.Relation == papers.Lower || s.Claim.Relation == papers.Higher
	s.Chance = directed && f.HasCI && f.CI95[0] <= 0 && f.CI95[1] >= 0
	s.Unsettled = s.Verdict != Reproduced && f.HasCI && judge(s.Claim, mostFavourable(s.Claim, f.CI95)) == Reproduced
}

// figure takes, of all schemes and loads that a claim is about, the one that
// bears it out least, or most where it says "up to": of figures of the lab as it
// is, or when there are none of those from before it was changed.
func (p *Plan) figure(r *record, s *study, c papers.Claim, column orchestrator.Runtime) (Figure, error) {
	var chosen Figure
	found, why := false, errMissing
	for _, k := range r.Figures {
		if k.Claim != c.ID || k.Runtime != string(column) || !c.About(k.Load) || !slices.Contains(c.Schemes(), k.Scheme) {
			continue
		}
		f := k.figure()
		f.Flows = s.flowsOf(r, k)
		f.Stale = !p.current(k)
		if k.Nothing != "" {
			if !f.Stale {
				why = errors.New(k.Nothing)
			}
			continue
		}
		better := bears(c, f.Value) > bears(c, chosen.Value)
		if !found || chosen.Stale && !f.Stale || chosen.Stale == f.Stale && better == (c.Over == papers.Best) {
			chosen, found = f, true
		}
	}
	if !found {
		return Figure{}, why
	}
	return chosen, nil
}
