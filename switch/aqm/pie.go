package aqm

import (
	"math/rand/v2"
	"time"

	"aqmlab/switch/packet"
	"aqmlab/units"
)

// PIE marks or drops arriving packets by a probability that a
// proportional-integral controller moves until the queueing delay meets target
// (RFC 8033: the basic scheme of section 4 and appendix A, with ECN of section
// 5.1 and the cap of section 5.5). The defaults suit the Internet. A lab of a data
// center sets target and tupdate to some 100us and scales alpha and beta up as it
// scales target down (they are probability for each second of delay). With
// derandomize its decisions are sch_pie's (docs/agreement.md says when not).
//
// A scheme has no timer: the controller runs at the next packet of the queue,
// once for every tupdate that has passed. That gives what a timer would,
// because neither backlog nor sojourn time changes in between.
type PIE struct {
	Target      time.Duration `lab:"target" tune:"0.05rtt..2rtt" range:"1ns..100h" doc:"queueing delay to hold (QDELAY_REF)"`
	TUpdate     time.Duration `lab:"tupdate" tune:"0.1rtt..4rtt" range:"1ns..100h" doc:"time between two runs of the controller"`
	MaxBurst    time.Duration `lab:"max_burst" range:"0s..100h" doc:"how long a burst passes untouched after a time without congestion"`
	Alpha       float64       `lab:"alpha" range:"(0, 1000000]" doc:"probability for each second that the delay is off target"`
	Beta        float64       `lab:"beta" range:"[0, 1000000]" doc:"probability for each second that the delay grew since the last run"`
	ECN         bool          `lab:"ecn" doc:"true marks packets and drops those that are not ECN-capable, false drops all"`
	MarkECNTh   float64       `lab:"mark_ecnth" range:"[0, 1]" doc:"with ecn, probability above which packets are dropped instead of marked"`
	Signal      string        `lab:"signal" oneof:"sojourn,departure-rate" what:"choice" doc:"delay from the sojourn time of the last departure, or departure-rate (backlog over the rate at which the queue drains)"`
	DQThreshold units.Size    `lab:"dq_threshold" range:"1B..1000GB" doc:"bytes that a measurement of the departure rate counts, and that must wait for it to begin"`
	Derandomize bool          `lab:"derandomize" doc:"true spaces marks evenly, as Linux does: none before the probabilities since the last one add up to 0.85, one for sure at 8.5"`
}

const (
	delayBySojourn       = "sojourn"
	delayByDepartureRate = "departure-rate"
)

// maxCatchUp bounds the runs of the controller for one packet. As many with no
// delay bring any probability below 1e-8 (0.98^1024), so that a longer pause
// makes no difference.
const maxCatchUp = 1024

type pie struct {
	PIE
	estimates
	lengths packet.Lengths
	spared  int // a queue of two full packets
	rand    *rand.Rand
	queues  []pieQueue
}

type pieQueue struct {
	departures
	drainTime time.Duration // averaged time in which dq_threshold bytes leave; zero before the first measurement
	sojourn   time.Duration // of the last packet to leave; zero when it left the queue empty
	updated   time.Duration // last run of the controller
	delay     time.Duration // at that run (qdelay_old)
	prob      float64
	sum       float64       // of the probabilities since the last action, for derandomize
	burst     time.Duration // burst allowance left
}

var (
	_ Scheme    = (*pie)(nil)
	_ Estimator = (*pie)(nil)
)

func newPIE(p PIE, env Env) (Scheme, error) {
	s := &pie{PIE: p, lengths: env.Lengths, spared: 2 * env.fullPacket(), rand: env.Rand, queues: make([]pieQueue, env.Queues)}
	for i := range s.queues {
		s.queues[i].burst = p.MaxBurst
		s.queues[i].departures = departures{threshold: int(p.DQThreshold)}
	}
	return s, nil
}

func (s *pie) Arrive(now time.Duration, _ *packet.Packet, v View) Verdict {
	q := &s.queues[v.Queue]
	s.catchUp(q, now, v.Bytes)
	if q.burst == 0 && s.early(q, v.Bytes) {
		if s.ECN && q.prob <= s.MarkECNTh {
			return MarkOrDrop
		}
		return Drop
	}
	if half := s.Target / 2; q.prob == 0 && q.delay < half && s.current(q, v.Bytes) < half {
		q.burst = s.MaxBurst
	}
	return Pass
}

func (s *pie) Depart(now time.Duration, p *packet.Packet, v View) Verdict {
	q := &s.queues[v.Queue]
	length := s.lengths.Of(int(p.Size))
	s.catchUp(q, now, v.Bytes+length)
	q.sojourn = v.Waited
	if v.Bytes == 0 {
		q.sojourn = 0
	}
	if s.Signal == delayByDepartureRate {
		s.measure(now, length, v)
	}
	return Pass
}

// early is the random decision on an arrival (RFC 8033, section 4.1). It spares
// queues that are short, in time or in packets.
func (s *pie) early(q *pieQueue, bytes int) bool {
	if q.delay < s.Target/2 && q.prob < 0.2 || bytes <= s.spared {
		return false
	}
	if !s.Derandomize {
		return s.rand.Float64() < q.prob
	}
	return s.spaced(q)
}

// spaced is the random decision with its extremes cut off (RFC 8033, section
// 5.4).
func (s *pie) spaced(q *pieQueue) bool {
	if q.prob == 0 {
		q.sum = 0
		return false
	}
	q.sum += q.prob
	if q.sum < 0.85 || q.sum < 8.5 && s.rand.Float64() >= q.prob {
		return false
	}
	q.sum = 0
	return true
}

// current is the queueing delay of a backlog (RFC 8033, sections 4.3 and 5.2).
func (s *pie) current(q *pieQueue, bytes int) time.Duration {
	if s.Signal == delayBySojourn {
		return q.sojourn
	}
	return time.Duration(float64(bytes) * float64(q.drainTime) / float64(s.DQThreshold))
}

// measure averages the time in which dq_threshold bytes leave; the weight of a
// new value grows with their number (RFC 8033, section 5.2).
func (s *pie) measure(now time.Duration, size int, v View) {
	q := &s.queues[v.Queue]
	bytes, took, ended := q.leave(now, size, v.Bytes)
	switch {
	case !ended:
		return
	case q.drainTime == 0:
		q.drainTime = took
	default:
		weight := min(float64(s.DQThreshold)/(1<<16), 1)
		q.drainTime += time.Duration(weight * float64(took-q.drainTime))
	}
	if s.estimates != nil {
		s.tell(now, v.Queue, float64(bytes)*8/took.Seconds(), float64(s.DQThreshold)*8/q.drainTime.Seconds())
	}
}

// catchUp runs the controller once for each period that ended by now. bytes is
// the backlog through all of them.
func (s *pie) catchUp(q *pieQueue, now time.Duration, bytes int) {
	periods := (now - q.updated) / s.TUpdate
	q.updated += periods * s.TUpdate
	for range min(periods, maxCatchUp) {
		s.control(q, bytes)
	}
}

// control is one run of the controller (RFC 8033, sections 4.2, 4.4 and 5.5).
func (s *pie) control(q *pieQueue, bytes int) {
	delay := s.current(q, bytes)
	step := s.Alpha*(delay-s.Target).Seconds() + s.Beta*(delay-q.delay).Seconds()
	step /= tuning(q.prob)
	if q.prob >= 0.1 {
		step = min(step, 0.02)
	}
	q.prob += step
	if half := s.Target / 2; delay < half && q.delay < half {
		q.prob *= 0.98
	}
	q.prob = min(max(q.prob, 0), 1)
	q.delay = delay
	q.burst = max(q.burst-s.TUpdate, 0)
}

// tuning is the divisor of a step. It keeps the step small while the probability is
// small (RFC 8033, section 4.2).
func tuning(prob float64) float64 {
	switch {
	case prob < 0.000001:
		return 2048
	case prob < 0.00001:
		return 512
	case prob < 0.0001:
		return 128
	case prob < 0.001:
		return 32
	case prob < 0.01:
		return 8
	case prob < 0.1:
		return 2
	}
	return 1
}
