// Package reproduce runs the labs of published experiments and scores what the
// papers claim against what was measured.
//
// A plan holds the points (scheme, load, seed) that the claims of some
// experiments need, at one of four scales. Each is stored as a run of its own
// as soon as it is measured, and found again by what it was measured with: the
// lab as it was run, resolved, and where its hosts were. What the claims are
// judged by is taken from the runs into one record an experiment, which is small
// and stays when the runs are removed. The score card is made of records alone, so
// it can be printed at any time, and grows over machines and days.
package reproduce

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"aqmlab/kind"
	"aqmlab/labs"
	"aqmlab/orchestrator"
	"aqmlab/reproduce/metric"
	"aqmlab/reproduce/papers"
	"aqmlab/switch/port"
)

// ErrUnknown is wrapped by the error for what is neither a paper nor an
// experiment.
var ErrUnknown = errors.New("no such paper or experiment")

// All stands for every experiment of every paper.
const All = "all"

// Options say what a plan is made of.
type Options struct {
	Scale   Scale
	Runtime orchestrator.Runtime // one that [Runtimes] lists
	Out     string               // folder of the card: its records, and below "runs" the runs
	Loads   []float64            // of the scale's loads those alone; none: all of them
	Flows   int                  // a point, in place of the scale's, but at most the published; zero: the scale's
	Since   time.Time            // what was measured before is measured anew; zero: nothing is
	Command string               // for the records: how this was asked for
	Jobs    int                  // points that run at once in virtual time; zero: one a CPU
	Kinds   port.Kinds
	Log     io.Writer // gets what helper processes complain about; may be nil
}

// Runtimes lists where the labs can be run: a point's place is part of what it
// is found by, so it is never picked for the user.
func Runtimes() []string {
	return slices.DeleteFunc(orchestrator.RuntimeNames(), func(name string) bool { return name == string(orchestrator.Auto) })
}

// Plan is the experiments to reproduce, and the points that their claims need.
type Plan struct {
	Options
	Warnings []string // of the scale, and of what is left out

	studies []*study
	jobs    []job
}

// study is an experiment at the plan's scale, or, where it has several labs, the
// part that one of them is for.
type study struct {
	paper string
	papers.Experiment
	lab       *labs.Lab
	published int // flows a point, before they are scaled
	labs      int // of the experiment, each of which has a study
	// scored is set for an experiment that was asked for, and not only for being
	// the baseline of another's claim.
	scored bool
	loads  []float64       // of the scale, whichever of them were asked for
	hashes map[spot]string // of the lab, by what of it is run
}

// String names the experiment, and which of its labs where it has several.
func (s *study) String() string {
	if s.labs > 1 {
		return fmt.Sprintf("%s (%s)", s.ID, s.Lab)
	}
	return s.ID
}

// New plans the experiments that the names stand for: those of experiments, of
// papers, or [All]. The error for any other name wraps [ErrUnknown].
func New(names []string, o Options) (*Plan, error) {
	if !slices.Contains(Runtimes(), string(o.Runtime)) {
		return nil, fmt.Errorf("runtime %q: want one of %s", o.Runtime, strings.Join(Runtimes(), ", "))
	}
	p, err := outline(names, o)
	if err != nil {
		return nil, err
	}
	return p, p.fill()
}

// outline is a plan without points.
func outline(names []string, o Options) (*Plan, error) {
	published, err := papers.All()
	if err != nil {
		return nil, err
	}
	p := &Plan{Options: o}
	if err := p.choose(published, names); err != nil {
		return nil, err
	}
	for _, s := range p.studies {
		if err := s.check(); err != nil {
			return nil, fmt.Errorf("claims of %s: %w", s, err)
		}
	}
	return p, nil
}

// choose takes the experiments that the names stand for, and those that their
// claims look at.
func (p *Plan) choose(published []papers.Paper, names []string) error {
	known := []string{All}
	wanted := func(paper papers.Paper, e papers.Experiment) bool {
		return p.Scale.covers(e) && slices.ContainsFunc(names, func(n string) bool { return n == All || n == paper.ID || n == e.ID })
	}
	var chosen []papers.Experiment
	for _, paper := range published {
		known = append(known, paper.ID)
		for _, e := range paper.Experiments {
			known = append(known, e.ID)
			if wanted(paper, e) {
				chosen = append(chosen, e)
			}
		}
	}
	for _, n := range names {
		if !slices.Contains(known, n) {
			return fmt.Errorf("%w: %w", ErrUnknown, kind.Unknown("name", n, known))
		}
	}
	if len(chosen) == 0 {
		return fmt.Errorf("%w: nothing of %s is for the %s scale", ErrUnknown, strings.Join(names, ", "), p.Scale)
	}
	for _, paper := range published {
		for _, e := range paper.Experiments {
			if !wanted(paper, e) && !lookedAt(chosen, e.ID) {
				continue
			}
			if err := p.take(paper.ID, e, wanted(paper, e)); err != nil {
				return err
			}
		}
	}
	return nil
}

// take adds an experiment with all its labs, its own first.
func (p *Plan) take(paper string, e papers.Experiment, scored bool) error {
	names := e.Labs()
	for _, name := range names {
		lab, err := labs.FromBook(name, p.Kinds)
		if err != nil {
			return fmt.Errorf("the labs of %s: %w", e.ID, err)
		}
		p.studies = append(p.studies, &study{paper: paper, Experiment: e.On(name), lab: lab, published: lab.Workload.Flows, labs: len(names), scored: scored, hashes: make(map[spot]string)})
	}
	return nil
}

// lookedAt tells whether a claim of the experiments has its baseline in another.
func lookedAt(chosen []papers.Experiment, id string) bool {
	return slices.ContainsFunc(chosen, func(e papers.Experiment) bool {
		return slices.ContainsFunc(e.Claims, func(c papers.Claim) bool { return c.In == id })
	})
}

// check wants a metric for every claim that is measured, and schemes of the lab.
// The baseline of another experiment is checked there, when it is looked for.
func (s *study) check() error {
	for _, c := range s.Claims {
		if !metric.NeedsRuns(c) {
			continue
		}
		if _, ok := metric.Find(c.Metric); !ok {
			return fmt.Errorf("%s: %w", c.ID, kind.Unknown("metric", c.Metric, metric.Names()))
		}
		names := c.Schemes()
		if c.In == "" && c.Baseline != "" {
			names = append(names, c.Baseline)
		}
		for _, name := range names {
			if !slices.ContainsFunc(s.lab.Schemes, func(l labs.Scheme) bool { return l.Name == name }) {
				return fmt.Errorf("%s: lab %s has no scheme %s", c.ID, s.Lab, name)
			}
		}
	}
	return nil
}

// study finds an experiment of the plan, with its own lab.
func (p *Plan) study(id string) *study {
	i := slices.IndexFunc(p.studies, func(s *study) bool { return s.ID == id })
	if i < 0 {
		return nil
	}
	return p.studies[i]
}
