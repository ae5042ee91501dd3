package reproduce

import (
	"errors"
	"fmt"

	"aqmlab/results/papers"
)

// Score is a claim, and how it fared.
type Score struct {
	Paper      string
	Experiment papers.Experiment
	Claim      papers.Claim
	Sim        *Figure // nil: not run
	Testbed    *Figure
	Verdict    Verdict
	// By says which of the two columns the verdict is of: that of the paper's own
	// environment, or else the other. Empty when neither was run.
	By     string
	Reason string // why it was not run
	// Chance is set when the interval of a difference holds zero, so that its
	// direction may be chance.
	Chance bool
}

// Card scores every claim of the experiments that were asked for by what is
// stored.
func (p *Plan) Card() ([]Score, error) {
	have, err := p.read()
	if err != nil {
		return nil, err
	}
	var card []Score
	for _, s := range p.studies {
		if !s.scored {
			continue
		}
		for _, c := range s.Claims {
			score, err := p.score(have, s, c)
			if err != nil {
				return nil, fmt.Errorf("scoring %s: %w", c.ID, err)
			}
			card = append(card, score)
		}
	}
	return card, nil
}

func (p *Plan) score(have *stored, s *study, c papers.Claim) (Score, error) {
	out := Score{Paper: s.paper, Experiment: s.Experiment, Claim: c, Verdict: NotRun, Reason: c.Unmeasured}
	if c.Unmeasured != "" {
		return out, nil
	}
	for _, col := range []struct {
		column
		into **Figure
	}{{simulated, &out.Sim}, {testbed, &out.Testbed}} {
		f, err := p.figure(have, s, c, col.column)
		switch {
		case errors.Is(err, errNothing):
			if out.Reason == "" || !errors.Is(err, errMissing) { // what was run says more than what was not
				out.Reason = err.Error()
			}
		case err != nil:
			return out, err
		default:
			*col.into = &f
		}
	}
	judged := out.Sim
	if out.By = "sim"; judged == nil || s.Environment == papers.Testbed && out.Testbed != nil {
		judged, out.By = out.Testbed, "testbed"
	}
	if judged == nil {
		out.By = ""
		return out, nil
	}
	out.Verdict, out.Reason = judge(c, judged.Value), ""
	directed := c.Relation == papers.Lower || c.Relation == papers.Higher
	out.Chance = directed && judged.HasCI && judged.CI95[0] <= 0 && judged.CI95[1] >= 0
	return out, nil
}
