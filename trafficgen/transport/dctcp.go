package transport

import "aqmlab/kind"

// What DCTCP takes of the window for a loss.
const (
	OnLossHalf  = "half"  // half of it (RFC 8257, section 3.5)
	OnLossAlpha = "alpha" // what a mark takes, as Linux 3.18 to 5.0 do
)

// OnLoss is the parameter of DCTCP that real hosts follow, too.
const OnLoss = "on_loss"

// DCTCP are the parameters of DCTCP, by the names of RFC 8257. Real hosts have the
// defaults of all but [OnLoss].
type DCTCP struct {
	G            float64 `lab:"g" doc:"weight of the newest window in the estimate of how much is marked, above 0 and at most 1"`
	InitialAlpha float64 `lab:"initial_alpha" doc:"the estimate before the first mark, 0 to 1: 1 in RFC 8257 and Linux, 0 in ns-2"`
	MinWindow    int     `lab:"min_window" doc:"segments below which no mark takes the window: 2 in Linux, 1 in ns-2"`
	GrowOnEcho   bool    `lab:"grow_on_echo" doc:"an ACK with an echo lets the window grow if the one before had an echo, too, as in ns-2"`
	OnLoss       string  `lab:"on_loss" doc:"what a loss takes of the window: half (RFC 8257, section 3.5) or alpha (what a mark takes, as in Linux 3.18 to 5.0)"`
}

// DefaultDCTCP is what RFC 8257 recommends (sections 3.3 and 4.2) and Linux does.
func DefaultDCTCP() DCTCP {
	return DCTCP{G: 1.0 / 16, InitialAlpha: 1, MinWindow: 2, OnLoss: OnLossHalf}
}

// Check validates the parameters. Errors name the one that does not fit.
func (p DCTCP) Check() error {
	switch {
	case !(p.G > 0 && p.G <= 1): // NaN neither
		return kind.Invalid("g", "%v is outside (0, 1]", p.G)
	case !(p.InitialAlpha >= 0 && p.InitialAlpha <= 1):
		return kind.Invalid("initial_alpha", "%v is outside [0, 1]", p.InitialAlpha)
	case p.OnLoss != OnLossHalf && p.OnLoss != OnLossAlpha:
		return kind.Invalid(OnLoss, "%w", kind.Unknown("choice", p.OnLoss, []string{OnLossHalf, OnLossAlpha}))
	}
	return checkMinWindow(p.MinWindow)
}

// ECNStar are the parameters of Reno with ECN.
type ECNStar struct {
	MinWindow  int  `lab:"min_window" doc:"segments below which no mark takes the window: 2 in RFC 5681 and Linux, 1 in ns-2"`
	GrowOnEcho bool `lab:"grow_on_echo" doc:"an ACK with an echo lets the window grow if the one before had an echo, too, as in ns-2; not in RFC 3168"`
}

// DefaultECNStar is what Linux does.
func DefaultECNStar() ECNStar { return ECNStar{MinWindow: 2} }

// Check validates the parameters. Errors name the one that does not fit.
func (p ECNStar) Check() error { return checkMinWindow(p.MinWindow) }

func checkMinWindow(segments int) error {
	if segments < 1 {
		return kind.Invalid("min_window", "%d is below 1", segments)
	}
	return nil
}

func newDCTCP(p DCTCP, _ struct{}) (Transport, error) {
	return Transport{Name: "dctcp", ECN: true, DCTCP: p}, p.Check()
}

func newECNStar(p ECNStar, _ struct{}) (Transport, error) {
	return Transport{Name: "ecn-star", ECN: true}, p.Check()
}
