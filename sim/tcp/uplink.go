package tcp

import "time"

// uplink is what an endpoint knows of the link that its host sends by.
type uplink struct {
	leaves  time.Duration // when the last data that was sent will have left
	drained alarm         // for when more may be sent
}

// crowded tells whether so much of what was sent waits for the uplink that
// nothing more should, and has the rest sent when that is over. As long as the
// uplink is the limit, the window is not.
func (e *Endpoint) crowded(now time.Duration) bool {
	bound := e.stack.config.SmallQueue
	if bound == 0 || e.uplink.leaves-now <= bound {
		return false
	}
	e.uplink.drained.start(e.uplink.leaves - bound)
	return true
}
