// Package crew runs the event loops of the parts of one network side by side.
//
// It is conservative parallel simulation by windows (Chandy and Misra, CACM 1981; the
// barriers of Nicol, JACM 1993): what one part sends another is due no sooner than a
// window later, so all may run the events of a window at once. Then they meet, and take
// what was sent. Windows are cells of a grid of lab time that the network defines and
// its partition does not. So are the end of a run, see [Crew.Run], and the order of events
// in each part, see [event.Lane]: the number of parts changes nothing but the time it
// takes.
package crew

import (
	"math"
	"time"

	"aqmlab/switch/event"
)

// Parts are what is sent between the loops.
type Parts interface {
	// Sent is when the earliest of what a part has sent in this window is due.
	Sent(part int) time.Duration
	// Turn begins the part's next window.
	Turn(part int)
	// Take takes what the other parts have sent this one in the window before, whose
	// turn was that.
	Take(part, turn int)
}

// Crew runs loops: side by side, or, where that takes longer, all on the goroutine of the
// caller. It is not safe for concurrent use.
type Crew struct {
	loops  []*event.Loop
	parts  Parts
	window time.Duration // of the grid; zero with one loop means none
	meet   *barrier
	hired  bool // there is a goroutine for each loop but the first
	quit   bool // they are to end
	job    job
	told   [2][]word // by turn, and then by part: what each has told the others
	own    []own     // by part
	gait   gait
	clock  func() time.Duration // wall time, for the gait alone
}

// job is what one call of Run wants.
type job struct {
	until time.Duration
	most  int
}

// word is what a part tells the others at the end of a window. Each has a cache line.
type word struct {
	next time.Duration // its next event, or the earliest of what it has sent
	halt bool          // of the first part: the run ends with this window
	_    [48]byte
}

// own is what a part keeps for itself.
type own struct {
	turn   int
	events int // that ran
	_      [48]byte
}

// New makes a crew of loops. Without a window there must be one loop.
func New(loops []*event.Loop, parts Parts, window time.Duration) *Crew {
	begun := time.Now()
	c := &Crew{
		loops: loops, parts: parts, window: window, meet: newBarrier(len(loops)), own: make([]own, len(loops)),
		gait: newGait(), clock: func() time.Duration { return time.Since(begun) },
	}
	for turn := range c.told {
		c.told[turn] = make([]word, len(loops))
	}
	return c
}

// forever is the last lab time that there is.
const forever time.Duration = 1<<63 - 1

// Next is the lab time of the earliest event of all loops.
func (c *Crew) Next() (at time.Duration, pending bool) {
	for _, l := range c.loops {
		if next, ok := l.Next(); ok && (!pending || next < at) {
			at, pending = next, true
		}
	}
	return at, pending
}

// Now is the lab time of the last event.
func (c *Crew) Now() (now time.Duration) {
	for _, l := range c.loops {
		now = max(now, l.Now())
	}
	return now
}

// Advance moves all loops on to a lab time before which none has an event.
func (c *Crew) Advance(to time.Duration) {
	for _, l := range c.loops {
		l.Advance(to)
	}
}

// Run runs events that are due at or before a lab time, and returns how many ran. It ends
// when there is none, with the window in which an event of the first loop calls
// [event.Loop.Stop], or, for the caller to look around, when that loop has run so many.
func (c *Crew) Run(until time.Duration, most int) (ran int64) {
	if len(c.loops) == 1 {
		return c.alone(until, most)
	}
	c.job = job{until, most}
	begun := c.clock()
	if c.gait.alone {
		c.inTurn()
	} else {
		c.sideBySide()
	}
	for _, o := range c.own {
		ran += int64(o.events)
	}
	c.gait.tell(ran, c.clock()-begun)
	return ran
}

// sideBySide does the job on as many goroutines as there are loops.
func (c *Crew) sideBySide() {
	if !c.hired {
		c.hire()
	}
	c.meet.meet()
	c.work(0)
	c.meet.meet()
}

// inTurn does the job on one goroutine: in each window one loop after another.
func (c *Crew) inTurn() {
	for i := range c.loops {
		c.begin(i)
	}
	for more := true; more; {
		for i := range c.loops {
			more = c.pass(i)
		}
	}
}

// alone runs the only loop.
func (c *Crew) alone(until time.Duration, most int) int64 {
	l := c.loops[0]
	ran := l.Run(until, most)
	if l.Stopped() {
		more, _ := exhaust(l, min(until, c.End(l.Now())))
		ran += more
	}
	return int64(ran)
}

// exhaust runs all events until a lab time, and tells whether one of them called Stop.
func exhaust(l *event.Loop, until time.Duration) (ran int, stopped bool) {
	for {
		ran += l.Run(until, math.MaxInt)
		if !l.Stopped() {
			return ran, stopped
		}
		stopped = true
	}
}

// End is the last lab time of the window that has now in it.
func (c *Crew) End(now time.Duration) time.Duration {
	if c.window == 0 {
		return now
	}
	return now - now%c.window + c.window - 1
}

// hire starts a goroutine for each loop but the first.
func (c *Crew) hire() {
	c.hired = true
	for i := 1; i < len(c.loops); i++ {
		go func() {
			for {
				c.meet.meet()
				if c.quit {
					c.meet.meet()
					return
				}
				c.work(i)
				c.meet.meet()
			}
		}()
	}
}

// Dismiss ends the goroutines of the crew.
func (c *Crew) Dismiss() {
	if c.hired {
		c.quit = true
		c.meet.meet()
		c.meet.meet()
		c.hired, c.quit = false, false
	}
}

// work runs the windows of one loop.
func (c *Crew) work(i int) {
	c.begin(i)
	for more := true; more; {
		c.meet.meet()
		more = c.pass(i)
	}
}

// begin has a part tell the others what it has at the start of a job.
func (c *Crew) begin(i int) {
	own := &c.own[i]
	own.events = 0
	c.told[own.turn][i] = word{next: c.next(i)}
}

// pass runs one window of a loop when all parts have ended the one before, and tells
// whether there was another one. All loops decide that alike, by what all have told.
func (c *Crew) pass(i int) bool {
	l, own := c.loops[i], &c.own[i]
	told := c.told[own.turn]
	c.parts.Turn(i)
	c.parts.Take(i, own.turn)
	own.turn ^= 1
	start := forever
	for at := range told {
		start = min(start, told[at].next)
	}
	if told[0].halt || start > c.job.until || start == forever {
		return false
	}
	ran, stopped := exhaust(l, min(c.job.until, c.End(start)))
	own.events += ran
	c.told[own.turn][i] = word{next: c.next(i), halt: stopped || own.events >= c.job.most}
	return true
}

// next is when a part, or what it has sent, has its next event.
func (c *Crew) next(i int) time.Duration {
	at, pending := c.loops[i].Next()
	if !pending {
		at = forever
	}
	return min(at, c.parts.Sent(i))
}
