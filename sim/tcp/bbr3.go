package tcp

import (
	"math"
	"time"
)

// bbr3 is BBR version 3 (draft-ietf-ccwg-bbr, as its authors had it in 2026, with its
// names in brackets). As version 1 it paces data by the highest rate of delivery and bounds
// it by the shortest round trip. It also remembers how much may be under way before more
// than 2 % are lost, leaves room for others below that, and slows down with losses until
// it next looks for more. A cycle of that goes down, cruises, refills the pipe, and goes
// up. It is not random: what is to be is made of the connection's hash.
//
// Undoing what a needless recovery did is left out, as everywhere here, and so is ECN, for
// which the draft has no answer.
type bbr3 struct {
	steered
	path  bbrPath
	state bbr3State
	hash  uint32

	fullRate  float64 // delivery rate when it last grew (full_bw)
	fullCount int
	fullNow   bool // the pipe is full in this probe (full_bw_now)
	full      bool // it was full once (full_bw_reached)
	drainFrom int64

	cycleAt   time.Duration // when the cycle went down (cycle_stamp)
	wait      time.Duration // for how long to wait for the next probe (bw_probe_wait)
	rounds    int64         // since the last (rounds_since_probe_up)
	upRounds  int           // bw_probe_up_rounds
	upAcked   int64         // bw_probe_up_acked
	upEach    int64         // bytes acknowledged for a segment more (probe_up_acked_per_inc)
	acks      ackPhase
	probing   bool // what arrives was sent while probing (is_bw_probe_sample)
	tooHigh   bool // the last probe lost too much (prev_probe_too_high)
	careful   bool // the last probe ended early (prev_probe_precautionary)
	lossRuns  int  // runs of bytes lost in this round trip, in startup
	lostUntil int64

	probeWindow int64         // probe_rtt_cwnd
	probeDone   time.Duration // probe_rtt_done_stamp
	probeRound  bool
	prior       int64 // prior_cwnd
	repairing   bool
	resumed     bool // idle_restart
	srtt        bool // a round trip has been measured
}

type bbr3State uint8

const (
	bbr3Startup bbr3State = iota
	bbr3Drain
	bbr3Down
	bbr3Cruise
	bbr3Refill
	bbr3Up
	bbr3ProbeRTT
)

// ackPhase says what the packets that are acknowledged now were sent in.
type ackPhase uint8

const (
	acksInit ackPhase = iota
	acksRefilling
	acksStarting
	acksFeedback
	acksStopping
)

// gains are those of the rate and the window in the states (the draft's table).
func (x bbr3State) gains() (rate, window float64) {
	switch x {
	case bbr3Startup:
		return 2.77, 2
	case bbr3Drain:
		return 0.5, 2
	case bbr3Down:
		return 0.9, 2
	case bbr3Up:
		return 1.25, 2.25
	case bbr3ProbeRTT:
		return 1, 0.5
	}
	return 1, 2
}

// cycling tells whether the state is one of ProbeBW.
func (x bbr3State) cycling() bool { return x >= bbr3Down && x <= bbr3Up }

// seeking tells whether the state looks for a higher rate (IsProbingBW).
func (x bbr3State) seeking() bool { return x == bbr3Startup || x == bbr3Refill || x == bbr3Up }

const (
	bbr3LossRuns  = 6 // for which startup ends (BBRStartupFullLossCnt)
	bbr3MaxRounds = 63
)

var _ steering = (*bbr3)(nil)

func newBBR3(struct{}, struct{}) (Family, error) {
	return Family{make: func() control { return &bbr3{} }, metered: true}, nil
}

func (c *bbr3) markedShare() float64 { return -1 }

func (c *bbr3) open() { *c = bbr3{path: newBBRPath(), upEach: math.MaxInt64} }

func (c *bbr3) begin(w *window) {
	c.probeWindow = w.cwnd
	c.paceFirst(w, time.Millisecond)
}

func (c *bbr3) paceFirst(w *window, rtt time.Duration) {
	gain, _ := bbr3Startup.gains()
	w.rate = gain * float64(w.cwnd) / rtt.Seconds()
	c.setBurst(w)
}

func (c *bbr3) steer(w *window, s *sample) {
	c.hash = s.hash
	for _, g := range s.meter.gone {
		c.lose(w, s, g)
	}
	if s.rate.some {
		c.path.update(w, s, c.state.seeking())
		if c.path.roundStart {
			c.rounds++
		}
		c.lookForFull(s)
		c.endStartup(w, s)
		c.endDrain(w, s)
		c.cycle(w, s)
		c.measureRTT(w, s)
		c.path.advance(s)
	}
	c.setRate(w, s)
	c.setWindow(w, s)
	if s.arrived > 0 {
		c.resumed = false
	}
}

// lose takes a lost segment. While probing, when losses of what was under way with it
// exceed the bearable share, that much is too much (HandleLostPacket).
func (c *bbr3) lose(w *window, s *sample, g gone) {
	if c.path.noteLoss(s.rate.total); g.first != c.lostUntil {
		c.lossRuns++
	}
	c.lostUntil = g.end
	if !c.probing || !tooMuchLost(g.lost, g.pipe) {
		return
	}
	size := g.end - g.first
	before := float64(g.pipe - size)
	prefix := (bbrLossShare*before - float64(g.lost-size)) / (1 - bbrLossShare)
	c.reduce(w, s, int64(before+max(prefix, 0)), g.limited)
}

// reduce takes a volume for what the path bears (HandleInflightTooHigh).
func (c *bbr3) reduce(w *window, s *sample, volume int64, limited bool) {
	c.tooHigh, c.probing = true, false
	if !limited {
		c.path.long = max(volume, int64(bbrBeta*float64(c.targetInflight(w))))
	}
	if c.state == bbr3Up {
		c.goDown(s)
	}
}

func (c *bbr3) targetInflight(w *window) int64 { return min(c.path.product(w, 1), w.cwnd) }

// lookForFull is CheckFullBWReached.
func (c *bbr3) lookForFull(s *sample) {
	switch {
	case c.fullNow || !c.path.roundStart || s.rate.limited:
	case s.rate.rate >= bbrGrowth*c.fullRate:
		c.resetFull(s.rate.rate)
	default:
		c.fullCount++
		c.fullNow = c.fullCount >= bbrFullRounds
		c.full = c.full || c.fullNow
	}
}

func (c *bbr3) resetFull(rate float64) { c.fullRate, c.fullCount, c.fullNow = rate, 0, false }

// endStartup goes on when the pipe is full, or when a round trip of a recovery lost too
// much in too many places.
func (c *bbr3) endStartup(w *window, s *sample) {
	if c.state == bbr3Startup && c.path.lossRound {
		if s.recovering && c.lossRuns >= bbr3LossRuns && tooMuchLost(s.rate.lost, s.rate.pipe) {
			c.full = true
			c.path.long = max(c.path.product(w, 1), c.path.volume)
		}
		c.lossRuns = 0
	}
	if c.state == bbr3Startup && c.full {
		c.state, c.drainFrom = bbr3Drain, c.path.round
	}
}

func (c *bbr3) endDrain(w *window, s *sample) {
	if c.state == bbr3Drain && (s.pipe <= c.inflight(w, 1) || c.path.round > c.drainFrom+3) {
		c.goDown(s)
	}
}

// cycle is UpdateProbeBWCyclePhase.
func (c *bbr3) cycle(w *window, s *sample) {
	if !c.full || c.adapt(w, s) {
		return
	}
	switch c.state {
	case bbr3Down:
		if !c.probeTime(w, s) && s.pipe <= c.roomy(w) && s.pipe <= c.inflight(w, 1) {
			c.state = bbr3Cruise
		}
	case bbr3Cruise:
		c.probeTime(w, s)
	case bbr3Refill:
		if c.path.roundStart {
			c.probing = true
			c.goUp(w, s)
		}
	case bbr3Up:
		if c.upEnough(w, s) {
			c.tooHigh = false
			c.goDown(s)
		}
	}
}

// adapt moves what the path bears upwards when little is lost (AdaptLongTermModel). It
// tells whether that changed the state.
func (c *bbr3) adapt(w *window, s *sample) bool {
	p := &c.path
	if c.acks == acksStarting && p.roundStart {
		c.acks = acksFeedback
	}
	if c.acks == acksStopping && p.roundStart {
		c.probing, c.acks = false, acksInit
		if c.state.cycling() && !s.rate.limited {
			p.newCycle()
		}
		if c.state.cycling() && c.careful && !c.tooHigh {
			c.refill(s)
			return true
		}
	}
	if tooMuchLost(s.rate.lost, s.rate.pipe) || p.long == math.MaxInt64 {
		return false
	}
	p.long = max(p.long, s.rate.pipe)
	if c.state == bbr3Up {
		c.raise(w, s)
	}
	return false
}

// raise grows what the path bears by a segment in a round trip, then two, then four, while
// it is what limits the window (ProbeInflightLongtermUpward).
func (c *bbr3) raise(w *window, s *sample) {
	if s.flight+w.mss <= w.cwnd || w.cwnd < c.path.long {
		return
	}
	c.upAcked += s.arrived
	if n := c.upAcked / c.upEach; n > 0 {
		c.upAcked -= n * c.upEach
		c.path.long += n * w.mss
	}
	if c.path.roundStart {
		c.raiseSlope(w)
	}
}

func (c *bbr3) raiseSlope(w *window) {
	c.upEach = max(w.cwnd>>c.upRounds, w.mss)
	c.upRounds = min(c.upRounds+1, 30)
}

// upEnough is IsTimeToGoDown.
func (c *bbr3) upEnough(w *window, s *sample) bool {
	if c.tooHigh && s.pipe >= c.path.long {
		c.careful = true
		return true
	}
	if s.flight+w.mss > w.cwnd && w.cwnd >= c.path.long {
		c.resetFull(s.rate.rate)
		return false
	}
	return c.fullNow
}

// probeTime begins a probe after two to three seconds, or after as many round trips as
// Reno would take to fill the pipe.
func (c *bbr3) probeTime(w *window, s *sample) bool {
	reno := min(c.targetInflight(w)/w.mss, bbr3MaxRounds)
	if s.now <= c.cycleAt+c.wait && c.rounds < reno {
		return false
	}
	c.refill(s)
	return true
}

func (c *bbr3) goDown(s *sample) {
	c.path.forgetLatest()
	c.upEach = math.MaxInt64
	dice := mixed(c.hash, c.path.round)
	c.rounds = int64(dice & 1)
	c.wait = 2*time.Second + time.Duration(dice>>1)%time.Second
	c.cycleAt, c.acks, c.state = s.now, acksStopping, bbr3Down
	c.path.roundEnd = s.rate.total
}

// mixed is a number that looks random, of a connection and a round trip.
func mixed(hash uint32, round int64) uint64 {
	x := (uint64(hash)<<32 | uint64(uint32(round))) * 0x9e3779b97f4a7c15
	return x ^ x>>29
}

func (c *bbr3) refill(s *sample) {
	c.path.resetShort()
	c.upRounds, c.upAcked, c.careful = 0, 0, false
	c.acks, c.state = acksRefilling, bbr3Refill
	c.path.roundEnd = s.rate.total
}

func (c *bbr3) goUp(w *window, s *sample) {
	c.acks, c.state = acksStarting, bbr3Up
	c.path.roundEnd = s.rate.total
	c.resetFull(s.rate.rate)
	c.raiseSlope(w)
}
