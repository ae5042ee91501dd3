package card

import (
	"math"

	"aqmlab/reproduce/papers"
)

// Shortfall is what keeps a claim from being established. Where there is more than one
// thing, it is what takes more than flows and seeds to mend.
type Shortfall string

// The shortfalls.
const (
	NoFigure     Shortfall = "not run"
	OffClaim     Shortfall = "not reproduced"    // or its direction only
	OffNumber    Shortfall = "off the number"    // reproduced, and too far beyond what was published
	NoInterval   Shortfall = "no interval"       // one seed
	OneRun       Shortfall = "seeds are one run" // their flows started and went alike, so that they tell nothing of chance
	WithinChance Shortfall = "may be chance"     // the interval holds what would contradict the claim
	none         Shortfall = ""                  // the claim is established
)

// nearShare is how near a figure has to be to the published number, in percent of that,
// where it is more than [tolerance].
const nearShare = 20

// Shortfalls lists them in the order in which they are counted.
func Shortfalls() []Shortfall {
	return []Shortfall{NoFigure, OffClaim, OffNumber, NoInterval, OneRun, WithinChance}
}

// shortfall says what keeps a claim that was judged by a figure from being established.
// What was computed has no chance in it.
func (s Score) shortfall(f Figure) Shortfall {
	switch {
	case s.Verdict != Reproduced:
		return OffClaim
	case !meetsNumber(s.Claim, float64(f.Value)) || !s.meetsTop():
		return OffNumber
	case s.By == Computed:
		return none
	case f.CI95 == nil:
		return NoInterval
	case f.CI95[0] == f.CI95[1] && f.Runs < 2:
		return OneRun
	case !outsideChance(s.Claim, float64(f.CI95[0]), float64(f.CI95[1])):
		return WithinChance
	}
	return none
}

// meetsNumber tells whether a figure that reproduces a claim is near the published number
// on either side. A bound stays a bound, and so does what the paper calls close. A value
// that is reproduced is near enough.
func meetsNumber(c papers.Claim, value float64) bool {
	switch {
	case c.Relation == papers.Close:
		return without(math.Abs(value)) <= alikeBound(c)
	case c.Relation != papers.Lower && c.Relation != papers.Higher, c.Percent == 0:
		return true
	}
	if c.Bound {
		return without(support(c, value)-c.Percent) >= 0
	}
	return near(support(c, value), c.Percent)
}

// meetsTop tells whether the figure that supports a claim most is near the upper end of
// the published range, if there is one.
func (s Score) meetsTop() bool {
	top, measured := s.Tops[s.By]
	return !measured || near(support(s.Claim, float64(top.Value)), s.Claim.PercentMax)
}

// near tells whether a difference is near a published one, both in percent.
func near(difference, published float64) bool {
	off := without(math.Abs(difference - published))
	return off <= tolerance || off <= without(published*nearShare/100)
}

// alikeBound is the published bound of what is close to a baseline, or else the card's.
func alikeBound(c papers.Claim) float64 {
	if c.Percent > 0 {
		return c.Percent
	}
	return tolerance
}

// outsideChance tells whether the whole interval of a figure supports a claim. That of a
// value needs not: how near it is counts alone.
func outsideChance(c papers.Claim, low, high float64) bool {
	least := min(support(c, low), support(c, high))
	switch c.Relation {
	case papers.Lower, papers.Higher:
		return least > 0
	case papers.Close:
		return without(-least) <= max(tolerance, alikeBound(c))
	case papers.AtLeast, papers.AtMost:
		return without(least) >= 0
	}
	return true
}

// without is a number without what binary fractions add.
func without(v float64) float64 { return math.Round(v*1e9) / 1e9 }
