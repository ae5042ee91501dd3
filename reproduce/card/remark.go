package card

import (
	"fmt"
	"slices"
	"strings"
)

// remark is why claims of one experiment that have the same verdict were not run,
// cannot be, or are not reproduced.
type remark struct {
	verdict Verdict
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
			at, remarks = len(remarks), append(remarks, remark{verdict: s.Verdict, why: why, first: i})
		}
		r := &remarks[at]
		r.claims, r.last = append(r.claims, s.shortID()), i
		r.all = len(r.claims) == len(claims)
	}
	return remarks
}

// why is what there is to say of a verdict.
func (s Score) why() string { return strings.TrimSuffix(s.Reason+s.explanation(), ".") }

// isOn tells whether the remark is on a claim.
func (r remark) isOn(s Score) bool { return r.verdict == s.Verdict && r.why == s.why() }

// standsBelow tells whether the remark stands below the claims: the others stand
// with theirs.
func (r remark) standsBelow() bool { return len(r.claims) > 1 || r.verdict == Described }

// shared tells whether what there is to say of a claim stands below all.
func shared(remarks []remark, s Score) bool {
	return slices.ContainsFunc(remarks, func(r remark) bool { return r.isOn(s) && r.standsBelow() })
}

// String names the claims, the verdict and the reason.
func (r remark) String() string { return fmt.Sprintf("%s, %s: %s.", r.names(), r.verdict, r.why) }

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
