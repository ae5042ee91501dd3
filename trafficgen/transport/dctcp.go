package transport

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
	G            float64 `lab:"g" only:"modelled" range:"(0, 1]" doc:"weight of the newest window in the estimate of how much is marked"`
	InitialAlpha float64 `lab:"initial_alpha" only:"modelled" range:"[0, 1]" doc:"the estimate before the first mark: 1 in RFC 8257 and Linux, 0 in ns-2"`
	MinWindow    int     `lab:"min_window" only:"modelled" range:"1..1000000" doc:"segments below which no mark takes the window: 2 in Linux, 1 in ns-2"`
	GrowOnEcho   bool    `lab:"grow_on_echo" only:"modelled" doc:"an ACK with an echo lets the window grow if the one before had an echo, too, as in ns-2"`
	OnLoss       string  `lab:"on_loss" oneof:"half,alpha" what:"choice" doc:"what a loss takes of the window: half (RFC 8257, section 3.5) or alpha (what a mark takes, as in Linux 3.18 to 5.0)"`
}

// DefaultDCTCP is what RFC 8257 recommends (sections 3.3 and 4.2) and Linux does.
func DefaultDCTCP() DCTCP {
	return DCTCP{G: 1.0 / 16, InitialAlpha: 1, MinWindow: 2, OnLoss: OnLossHalf}
}

// ECNStar are the parameters of Reno with ECN.
type ECNStar struct {
	MinWindow  int  `lab:"min_window" only:"modelled" range:"1..1000000" doc:"segments below which no mark takes the window: 2 in RFC 5681 and Linux, 1 in ns-2"`
	GrowOnEcho bool `lab:"grow_on_echo" only:"modelled" doc:"an ACK with an echo lets the window grow if the one before had an echo, too, as in ns-2; not in RFC 3168"`
}

// DefaultECNStar is what Linux does.
func DefaultECNStar() ECNStar { return ECNStar{MinWindow: 2} }

func newDCTCP(p DCTCP, _ struct{}) (Transport, error) {
	return Transport{Name: "dctcp", ECN: true, DCTCP: p}, nil
}

func newECNStar(p ECNStar, _ struct{}) (Transport, error) {
	return Transport{Name: "ecn-star", ECN: true}, nil
}
