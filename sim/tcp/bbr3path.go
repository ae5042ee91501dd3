package tcp

import (
	"math"
	"time"
)

// bbrPath is what [bbr3] knows of the path: over the long term how fast it delivers and how
// much may be under way, and over the short term, since losses came, how much of that is
// left.
type bbrPath struct {
	rates    [2]float64 // highest delivery rate of the cycle before and of this one (max_bw_filter)
	shortest time.Duration
	since    time.Duration // when that was measured
	stale    bool          // it was ten seconds ago

	long      int64   // bytes that may be under way (inflight_longterm)
	short     int64   // the same until the next probe (inflight_shortterm)
	shortRate float64 // bw_shortterm

	round      int64
	roundEnd   int64 // bytes delivered that end the one under way
	roundStart bool

	rate       float64 // highest of a round trip (bw_latest)
	volume     int64   // most delivered in one (inflight_latest)
	lossEnd    int64   // bytes delivered that end the round trip of losses
	lossRound  bool    // this acknowledgement ends one
	lossInside bool    // there were some

	extra      [bbrRounds]int64 // most that came at once in each of the last round trips
	extraRound int64
	extraBytes int64
	extraFrom  time.Duration
}

const (
	bbrLossShare = 0.02 // that is borne (LossThresh)
	bbrBeta      = 0.7  // what a round trip with losses leaves
	bbrHeadroom  = 0.15
)

// tooMuchLost tells whether more was lost of what was under way than is borne
// (IsInflightTooHigh).
func tooMuchLost(lost, pipe int64) bool { return float64(lost) > bbrLossShare*float64(pipe) }

func newBBRPath() bbrPath {
	return bbrPath{shortest: -1, long: math.MaxInt64, short: math.MaxInt64, shortRate: math.Inf(1)}
}

// highest is max_bw, and bandwidth bw.
func (p *bbrPath) highest() float64   { return max(p.rates[0], p.rates[1]) }
func (p *bbrPath) bandwidth() float64 { return min(p.highest(), p.shortRate) }

// newCycle is AdvanceMaxBwFilter. A cycle without samples does not count.
func (p *bbrPath) newCycle() {
	if p.rates[1] > 0 {
		p.rates = [2]float64{p.rates[1], 0}
	}
}

func (p *bbrPath) resetShort() { p.short, p.shortRate = math.MaxInt64, math.Inf(1) }

func (p *bbrPath) forgetLatest() { p.lossInside, p.rate, p.volume = false, 0, 0 }

// noteLoss begins a round trip of losses.
func (p *bbrPath) noteLoss(delivered int64) {
	if !p.lossInside {
		p.lossEnd = delivered
	}
	p.lossInside = true
}

// update takes what arrived (UpdateLatestDeliverySignals to UpdateACKAggregation).
func (p *bbrPath) update(w *window, s *sample, seeking bool) {
	d := &s.rate
	p.rate, p.volume = max(p.rate, d.rate), max(p.volume, d.delivered)
	p.lossRound = d.prior >= p.lossEnd
	if p.lossRound {
		p.lossEnd = d.total
	}
	p.roundStart = d.prior >= p.roundEnd
	if p.roundStart {
		p.roundEnd = d.total
		p.round++
	}
	if d.rate > 0 && (d.rate >= p.highest() || !d.limited) {
		p.rates[1] = max(p.rates[1], d.rate)
	}
	if p.lossRound {
		if p.lossInside && !seeking {
			p.lower(w)
		}
		p.lossInside = false
	}
	p.aggregate(w, s)
}

// lower adapts to losses, towards what the path delivered in the last round trip
// (AdaptLowerBoundsFromCongestion).
func (p *bbrPath) lower(w *window) {
	if math.IsInf(p.shortRate, 1) {
		p.shortRate = p.highest()
	}
	if p.short == math.MaxInt64 {
		p.short = w.cwnd
	}
	p.shortRate = max(p.rate, bbrBeta*p.shortRate)
	p.short = max(p.volume, int64(bbrBeta*float64(p.short)))
}

// aggregate measures what acknowledgements bring at once (UpdateACKAggregation).
func (p *bbrPath) aggregate(w *window, s *sample) {
	expected := int64(p.bandwidth() * (s.now - p.extraFrom).Seconds())
	if p.extraBytes <= expected {
		p.extraBytes, p.extraFrom, expected = 0, s.now, 0
	}
	p.extraBytes += s.arrived
	for i := max(p.extraRound, p.round-bbrRounds) + 1; i <= p.round; i++ {
		p.extra[i%bbrRounds] = 0
	}
	p.extraRound = p.round
	now := &p.extra[p.round%bbrRounds]
	*now = max(*now, min(p.extraBytes-expected, w.cwnd))
}

// extraMost is the most that came at once: in ten round trips, and before the pipe is full
// in this one.
func (p *bbrPath) extraMost(full bool) (most int64) {
	if !full {
		return p.extra[p.round%bbrRounds]
	}
	for _, x := range p.extra {
		most = max(most, x)
	}
	return most
}

// advance is AdvanceLatestDeliverySignals.
func (p *bbrPath) advance(s *sample) {
	if p.lossRound {
		p.rate, p.volume = s.rate.rate, s.rate.delivered
	}
}

// product is a gain over the bandwidth-delay product (BDPMultiple).
func (p *bbrPath) product(w *window, gain float64) int64 {
	if p.shortest < 0 {
		return 10 * w.mss
	}
	return int64(gain * p.bandwidth() * p.shortest.Seconds())
}
