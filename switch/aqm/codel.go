package aqm

import (
	"math"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// CoDel marks or drops departing packets once the sojourn time has stayed at or
// above target for an interval, and then ever more often until it falls below
// (RFC 8289, section 5; Linux net/sched). TCN sets 51.2us and 1024us on its
// testbed, ECN# 85us and 200us on its testbed, 10us and 240us in simulation;
// 5ms and 100ms suit the Internet. An interval is on the order of a worst-case
// RTT (Nichols and Jacobson, Controlling Queue Delay, 2012): by default the longest
// base RTT, as the 240us of ECN#'s simulations are.
//
// The papers' CoDel marks at most one packet a departure and lets packets that
// are not ECN-capable pass, which still advances its state. Dropping, it may
// take several packets before one leaves; should the scheduler turn to another
// queue in between, it goes on when the queue is served again. Where the RFC
// says "at or after" the end of the first interval, this follows Linux and the
// papers: strictly after.
//
// ECN# runs CoDel on a Tofino, too, and says nothing of how: that program is not here.
//
// With arithmetic linux, time and square roots are as coarse as sch_codel's, and
// every decision is sch_codel's (docs/agreement.md). Its roots lag behind count,
// so that the second mark comes after half an interval instead of 0.7.
type CoDel struct {
	Target   time.Duration `lab:"target" tune:"0.01rtt..1rtt" range:"0s..100h" doc:"sojourn time that may persist; interval / 20 when absent"`
	Interval time.Duration `lab:"interval" tune:"0.5rtt..8rtt" range:"0s..100h" doc:"how long the sojourn time must stay at target or above before the first mark; a base RTT when absent, see rtt"`
	RTT      Statistic     `lab:"rtt" what:"statistic" doc:"which of the lab's base RTTs interval is when absent"`
	Action   string        `lab:"action" oneof:"mark,drop,either" what:"choice" doc:"mark (packets that are not ECN-capable pass), drop, or either (mark, and drop packets that are not ECN-capable, as Linux does with ecn)"`
	MTU      units.Size    `lab:"mtu" range:"0B..1000GB" doc:"network-layer bytes of the packet whose length is the backlog that is left alone, see spares; 0B leaves none alone"`
	Spares   string        `lab:"spares" oneof:"mtu,less,port" what:"choice" doc:"which backlog is left alone: mtu (at most that, as Linux and the kernel module of TCN), less (less than that, as the article on CoDel and ECN#'s simulator) or port (at most that in all queues of the port together, as Linux's fq_codel)"`

	// Arithmetic is the kernel's where results are to be compared with it.
	Arithmetic string `lab:"arithmetic" oneof:"exact,linux" what:"choice" doc:"exact, or linux: time in ticks of 1.024us and 16-bit square roots, as sch_codel"`
}

// arithmeticLinux is the value of CoDel's arithmetic beside arithmeticExact.
const arithmeticLinux = "linux"

// The values of CoDel's action.
const (
	actionMark   = "mark"
	actionDrop   = "drop"
	actionEither = "either"
)

// The values of CoDel's spares.
const (
	sparesMTU  = "mtu"
	sparesLess = "less"
	sparesPort = "port"
)

// memory is how many intervals after the last mark CoDel still recalls how
// often it had to mark (RFC 8289, section 5).
const memory = 16

type codel struct {
	target, interval time.Duration
	spared           int // longest backlog that is left alone
	act              Verdict
	ofPort           bool // that is of the port, not of a queue
	linux            bool // arithmetic
	queues           []codelQueue
}

type codelQueue struct {
	firstAbove time.Duration // when the sojourn time will have been above for an interval
	above      bool          // firstAbove counts
	acting     bool          // in the RFC's drop state
	next       time.Duration // when to act next
	count      int           // actions since the state was entered
	root       inverseRoot   // of count, with arithmetic linux
	lastCount  int           // count when it was entered
	dropped    bool          // a drop in the state came last: next is moved on only if this departure may be dropped too
}

var _ Scheme = (*codel)(nil)

func newCoDel(p CoDel, env Env) (Scheme, error) {
	if p.Interval == 0 {
		p.Interval = env.Time("interval", 1, p.RTT)
	}
	if p.Target == 0 {
		p.Target = p.Interval / 20
		env.tell("target", units.FormatTime(p.Target), "interval / 20")
	}
	if p.Interval == 0 {
		return nil, kind.Invalid("interval", "missing, and the lab gives no base RTT (rtt) to take: want a time such as 1ms")
	}
	s := &codel{
		target: p.Target, interval: p.Interval,
		act:    Mark,
		ofPort: p.Spares == sparesPort,
		linux:  p.Arithmetic == arithmeticLinux,
		queues: make([]codelQueue, env.Queues),
	}
	if p.MTU > 0 {
		s.spared = env.Lengths.Of(int(p.MTU))
	}
	switch p.Action {
	case actionDrop:
		s.act = Drop
	case actionEither:
		s.act = MarkOrDrop
	}
	if p.Spares == sparesLess {
		s.spared--
	}
	if s.linux {
		s.target, s.interval = ticks(s.target), ticks(s.interval)
	}
	if s.interval == 0 {
		return nil, kind.Invalid("interval", "%v is less than a tick of arithmetic linux, 1.024us", p.Interval)
	}
	return s, nil
}

func (s *codel) Arrive(time.Duration, *packet.Packet, View) Verdict { return Pass }

// Depart is one turn of the RFC's dequeue loop: after a drop the port asks about
// the next packet, which leaves if the drop entered the state, next then being
// ahead.
func (s *codel) Depart(now time.Duration, k *packet.Packet, v View) Verdict {
	q := &s.queues[v.Queue]
	if s.linux {
		now, v.Waited = linuxClock(now, v.Waited)
	}
	ok := s.okToAct(q, now, v)
	dropped := q.dropped
	q.dropped = false
	switch {
	case !ok:
		q.acting = false
		return Pass
	case !q.acting:
		s.enter(q, now)
		return s.act
	case dropped:
		q.next = s.after(q.next, q)
	}
	if now < q.next {
		return Pass
	}
	s.recount(q, q.count+1)
	if s.act == Drop || s.act == MarkOrDrop && !k.ECN.Capable() {
		q.dropped = true
	} else {
		q.next = s.after(q.next, q)
	}
	return s.act
}

// okToAct tells whether the sojourn time has been at target or above for longer
// than an interval.
func (s *codel) okToAct(q *codelQueue, now time.Duration, v View) bool {
	backlog := v.Bytes
	if s.ofPort {
		backlog = v.PortBytes
	}
	if v.Waited < s.target || backlog <= s.spared {
		q.above = false
		return false
	}
	if !q.above {
		q.above, q.firstAbove = true, now+s.interval
		return false
	}
	return now > q.firstAbove
}

// enter starts to act. If it had to act more than once shortly before, it goes
// on at about that pace.
func (s *codel) enter(q *codelQueue, now time.Duration) {
	q.acting = true
	if d := q.count - q.lastCount; d > 1 && now-q.next < memory*s.interval {
		s.recount(q, d)
	} else {
		q.count, q.root = 1, firstRoot
	}
	q.lastCount = q.count
	q.next = s.after(now, q)
}

// recount sets count to n, and lets the approximated root follow.
func (s *codel) recount(q *codelQueue, n int) {
	q.count = n
	if s.linux {
		q.root = q.root.step(n)
	}
}

// after is the control law: the pace grows with the square root of count.
func (s *codel) after(t time.Duration, q *codelQueue) time.Duration {
	if s.linux {
		return t + q.root.times(s.interval)
	}
	return t + time.Duration(float64(s.interval)/math.Sqrt(float64(q.count)))
}

// linuxTick is the unit in which sch_codel keeps time: 1024 ns, so that a shift
// makes it.
const linuxTick = 1 << 10

// ticks rounds down to a whole number of ticks.
func ticks(t time.Duration) time.Duration { return t &^ (linuxTick - 1) }

// linuxClock is when a packet leaves and how long it waited, as sch_codel sees
// it: it reads its clock when a packet comes and when it goes.
func linuxClock(now, waited time.Duration) (time.Duration, time.Duration) {
	left := ticks(now)
	return left, left - ticks(now-waited)
}

// inverseRoot is sch_codel's 1/sqrt(count), in 2^-16. It is not computed anew for
// each count but follows it by one Newton step a change, which lags: at count 2
// it is 0.5 where the root is 0.707, at 4 it is 2.4 % below, at 8 0.6 %.
type inverseRoot uint16

// firstRoot is the root of 1, as near as it gets.
const firstRoot inverseRoot = 1<<16 - 1

// step takes one Newton step, x (3 - count x^2) / 2, towards the root of count.
// All of it is in 32-bit fractions, rounded down where the kernel does. It wraps
// as the kernel's does when count is far from the root's own.
func (r inverseRoot) step(count int) inverseRoot {
	x := uint64(r) << 16
	square := x * x >> 32
	rest := 3<<32 - uint64(count)*square
	return inverseRoot(rest >> 2 * x >> 31 >> 16) // the factor 4 makes room for the product
}

// times is that part of an interval of whole ticks.
func (r inverseRoot) times(interval time.Duration) time.Duration {
	return interval / linuxTick * time.Duration(r) >> 16 * linuxTick
}
