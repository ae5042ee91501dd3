package card

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"aqmlab/orchestrator"
	"aqmlab/reproduce/papers"
)

// columnsOf lists the runtimes that some claims were measured on; that of modelled
// hosts stands there always, unless all were computed.
func columnsOf(claims []Score) (columns []string) {
	for _, r := range append(Runtimes(), Computed) {
		if slices.ContainsFunc(claims, func(s Score) bool {
			_, measured := s.Columns[r]
			_, computed := s.Columns[Computed]
			return measured || r == orchestrator.Simulator() && !computed
		}) {
			columns = append(columns, string(r))
		}
	}
	return columns
}

// shortID is a claim's name within its experiment.
func (s Score) shortID() string { return strings.TrimPrefix(s.Claim.ID, s.Experiment.ID+"-") }

// statement is what the claim says, with the schemes that it is about.
func (s Score) statement() string {
	c := s.Claim
	schemes := strings.Join(c.Schemes(), ", ")
	if c.Baseline != "" {
		schemes += " against " + c.Baseline
	}
	if c.Baseline != "" && c.In != "" {
		schemes += " of " + c.In
	}
	return fmt.Sprintf("%s [%s]", c.Statement, schemes)
}

// explanation says why a claim that was judged is not reproduced, or is far from the
// published number, where that is known.
func (s Score) explanation() string {
	if s.Verdict == DirectionOnly || s.Verdict == NotReproduced || s.Shortfall == OffNumber {
		return s.Claim.Explanation
	}
	return ""
}

// cause is the kind of that reason.
func (s Score) cause() papers.Cause {
	if s.explanation() == "" {
		return ""
	}
	return s.Claim.Cause
}

func (s Score) verdictText() string {
	text := string(s.Verdict)
	if s.Chance {
		text += ", may be chance"
	}
	if s.Unsettled {
		text += ", unsettled"
	}
	return text
}

// establishedText is the second verdict, with what a claim falls short by unless the
// first says so.
func (s Score) establishedText() string {
	switch s.Shortfall {
	case none:
		return "yes"
	case NoFigure, OffClaim:
		return "no"
	}
	return "no: " + string(s.Shortfall)
}

// unit is that of the card's figures.
func (s Score) unit() string {
	if s.Claim.Relation.Relative() {
		return "%"
	}
	return s.Claim.Unit
}

// published is the paper's figure, or no number.
func (s Score) published() float64 {
	c := s.Claim
	switch {
	case !c.Relation.Relative():
		return *c.To
	case c.Percent == 0 && (c.From == nil || c.To == nil):
		return math.NaN()
	case c.Relation == papers.Lower:
		return -c.Percent
	}
	return c.Percent
}

func (s Score) publishedText() string {
	c := s.Claim
	text := "alike"
	switch {
	case c.Relation == papers.Close && c.Percent > 0:
		text = fmt.Sprintf("within %.3g %%", c.Percent)
	case c.Relation == papers.Close:
	case math.IsNaN(s.published()):
		return string(c.Relation)
	case c.Bound:
		return fmt.Sprintf("%s by more than %.3g %%", c.Relation, c.Percent)
	case c.PercentMax > 0 && c.Relation == papers.Lower:
		return fmt.Sprintf("-%.3g to -%.3g %%", c.Percent, c.PercentMax)
	case c.PercentMax > 0:
		return fmt.Sprintf("+%.3g to +%.3g %%", c.Percent, c.PercentMax)
	case c.Relation.Relative():
		text = fmt.Sprintf("%+.3g %%", s.published())
	case c.Relation == papers.Equal:
		text = fmt.Sprintf("%.4g %s", *c.To, c.Unit)
	default:
		text = fmt.Sprintf("%s %.4g %s", strings.ReplaceAll(string(c.Relation), "-", " "), *c.To, c.Unit)
	}
	if c.Qualifier == "up to" {
		text = "up to " + text
	}
	return text
}

// figureText is a figure with its interval, and where it is from when there were
// several loads or schemes to choose from.
func (s Score) figureText(column orchestrator.Runtime) string {
	f, ok := s.Columns[column]
	if !ok {
		return "-"
	}
	relative := s.Claim.Relation.Relative()
	format := "%.4g"
	if relative {
		format = "%+.3g"
	}
	text := fmt.Sprintf(format+" %s", f.Value, s.unit())
	switch infinite := math.IsInf(float64(f.Value), 0); {
	case infinite && relative: // than none, or to what never happened
		text = fmt.Sprintf("from %s to %s", orNever(float64(f.From)), orNever(float64(f.To)))
	case infinite:
		text = "never"
	}
	if f.CI95 != nil {
		text += " (" + intervalText(f, format) + ")"
	}
	if s.Claim.Load == 0 && s.Claim.Class != "" {
		text += fmt.Sprintf(" at %v", f.Load)
	}
	if top, ok := s.Tops[column]; ok {
		text += fmt.Sprintf(" to "+format+" %% at %v", top.Value, top.Load)
	}
	if len(s.Claim.Others) > 0 {
		text += ", " + f.Scheme
	}
	if f.LowFidelity {
		text += ", low fidelity"
	}
	if f.Stale {
		text += ", before the lab was changed"
	}
	return text
}

// intervalText is the interval of a figure. One without end is of a difference from what may
// be none.
func intervalText(f Figure, format string) string {
	low, high := float64(f.CI95[0]), float64(f.CI95[1])
	switch {
	case math.IsInf(low, 1) && f.From == 0 && !math.IsInf(float64(f.To), 1):
		return "more than none"
	case math.IsInf(low, 1):
		return "never"
	case math.IsInf(high, 1):
		return fmt.Sprintf(format+" or more", low)
	}
	return fmt.Sprintf(format+" to "+format, low, high)
}

// orNever is a number, or what stands for one that is infinite.
func orNever(v float64) string {
	if math.IsInf(v, 0) {
		return "never"
	}
	return fmt.Sprintf("%.4g", v)
}

// remark is why claims of one experiment that have the same verdict were not run,
// cannot be, are not reproduced, or are off the number.
type remark struct {
	outcome string // their verdict, or by what they fall short of the number
	why     string
	claims  []string // their short names, in the order of the experiment
	first   int      // place of the first of them
	last    int
	all     bool // the experiment has no others
}

// remarksOn lists the remarks on an experiment, in the order in which its claims
// first give rise to them.
func remarksOn(claims []Score) (remarks []remark) {
	for i, s := range claims {
		why := s.why()
		if why == "" {
			continue
		}
		at := slices.IndexFunc(remarks, func(r remark) bool { return r.isOn(s) })
		if at < 0 {
			at, remarks = len(remarks), append(remarks, remark{outcome: s.remarked(), why: why, first: i})
		}
		r := &remarks[at]
		r.claims, r.last = append(r.claims, s.shortID()), i
		r.all = len(r.claims) == len(claims)
	}
	return remarks
}

// why is what there is to say of a verdict.
func (s Score) why() string { return strings.TrimSuffix(s.Reason+s.explanation(), ".") }

// remarked is what a remark on the claim is on: the verdict, or of what is reproduced that it
// is off the number.
func (s Score) remarked() string {
	if s.Shortfall == OffNumber {
		return string(s.Shortfall)
	}
	return string(s.Verdict)
}

// isOn tells whether the remark is on a claim.
func (r remark) isOn(s Score) bool { return r.outcome == s.remarked() && r.why == s.why() }

// standsBelow tells whether the remark stands below the claims: the others stand
// with theirs.
func (r remark) standsBelow() bool { return len(r.claims) > 1 || r.outcome == string(Described) }

// shared tells whether what there is to say of a claim stands below all.
func shared(remarks []remark, s Score) bool {
	return slices.ContainsFunc(remarks, func(r remark) bool { return r.isOn(s) && r.standsBelow() })
}

// String names the claims, the verdict and the reason.
func (r remark) String() string { return fmt.Sprintf("%s, %s: %s.", r.names(), r.outcome, r.why) }

// names lists the claims, or says from which to which they are.
func (r remark) names() string {
	n := len(r.claims)
	switch {
	case r.all && n > 1:
		return fmt.Sprintf("all %d claims", n)
	case n > 2 && r.last-r.first+1 == n:
		return fmt.Sprintf("%s to %s", r.claims[0], r.claims[n-1])
	}
	return strings.Join(r.claims, ", ")
}

// withoutDescribed lists the claims that are not only described.
func withoutDescribed(claims []Score) []Score {
	return slices.DeleteFunc(slices.Clone(claims), func(s Score) bool { return s.Verdict == Described })
}
