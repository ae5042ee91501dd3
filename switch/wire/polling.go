//go:build linux

package wire

import "time"

const (
	// A turn without work takes a microsecond. When the next one begins so much later,
	// another program may have had the CPU: the kernel gives it for milliseconds.
	takenFor = time.Millisecond
	// givenLeast is how long the loop then sleeps while it has nothing to do: a thread of the
	// kernel wants some milliseconds and is done. Whoever wants the CPU again soon gets twice
	// as long each time, up to givenMost. After givenMost without that it begins anew.
	givenLeast = 100 * time.Millisecond
	givenMost  = 10 * time.Second
	// politeAfter is the idle time after which a loop that polls lets all other
	// programs have the CPU.
	politeAfter = 10 * time.Millisecond
)

// polling is whether the loop looks at its rings again and again while it has nothing to
// do, rather than sleeps until a frame arrives: to wake up takes tens of microseconds,
// in a virtual machine more. It does so where nobody else wants its CPU. Times are on the
// wall, since the start.
type polling struct {
	most  time.Duration // how long after the last frame; zero: never
	until time.Duration // when it may poll again
	give  time.Duration // for how long it slept then; zero: it has not
	begun time.Duration // of the turn before, if that one polled; else zero
	given bool          // it slept because somebody wanted the CPU
	// waited tells how long the thread has waited for its CPU in all, which it does not
	// while a hypervisor takes the CPU from the machine; zero where that is unknown.
	waited func() time.Duration
	before time.Duration // what it told last
}

// turn is told when each turn of the loop begins.
func (p *polling) turn(now time.Duration) {
	if p.begun > 0 && now-p.begun > takenFor && p.taken() {
		if now-p.until >= givenMost {
			p.give = 0
		}
		p.give = min(max(2*p.give, givenLeast), givenMost)
		p.until, p.given = now+p.give, true
	}
	p.begun = 0
}

// taken tells whether the thread has waited for as long as that.
func (p *polling) taken() bool {
	waited := p.waited()
	more := waited - p.before
	p.before = waited
	return waited == 0 || more > takenFor/2
}

// polls tells whether to poll on in a turn that began now and found nothing to do.
// The last frame came in at that time.
func (p *polling) polls(now, frame time.Duration) bool {
	if now < p.until || now-frame >= p.most {
		return false
	}
	p.begun = now
	return true
}
