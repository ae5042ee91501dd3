package uml

import (
	"fmt"
	"time"

	"aqmlab/orchestrator/host"
)

// idleness is how long a guest has done nothing. In virtual time it never waits: its
// kernel works, or waits for a program that works and soon asks it for something.
type idleness struct {
	pid    int           // of its kernel
	still  time.Duration // that is too long
	looks  int           // without a sign of life
	before host.Activity
}

// reset is called at a sign of life.
func (i *idleness) reset() { i.looks = 0 }

// look is called every [lookEvery], and says what is wrong with the guest; empty: nothing.
func (i *idleness) look() string {
	const everyNth = int(time.Second / lookEvery) // a look at all processes takes a while
	if i.looks++; i.looks%everyNth != 0 {
		return ""
	}
	now := host.ActivityOf(i.pid)
	before := i.before
	if i.looks == everyNth || now.Turns != before.Turns {
		i.looks, i.before = everyNth, now
		return ""
	}
	switch used := now.Used - before.Used; {
	case used > 0 && used >= i.still:
		return fmt.Sprintf("it computes without end: in %v of processor time its kernel (process %d) and its programs have not taken turns", used, i.pid)
	case used > 0 || now.Ready:
		return ""
	}
	if time.Duration(i.looks-everyNth)*lookEvery >= i.still {
		return fmt.Sprintf("process %d: %s", i.pid, now.StillFor(i.still))
	}
	return ""
}
