package port

// abqProgram is the state machine of the authors' program. It looks at the length of
// the queue when a packet enters by the port, and when one leaves by it, but not when
// the queue grows. The first case that holds is it:
//
//	enters  Q_out >= K                     -> CS   X = min(max(X, Q_out - K), K); an ACK waits
//	enters  LCS                            -> LCS  an ACK waits
//	enters  CS, Q_out <= X                 -> LCS  release
//	enters  Q_out empty                    -> US   release, X = 0
//	leaves  CS, Q_out <= X                 -> LCS  release
//	leaves  Q_out empty                    -> US   release, X = 0
//	leaves  LCS, Q_out <= X/2              -> LCS  release, halve X; zero if at most the floor
//
// In CS with Q_out between X and K an ACK goes on. What enters at a release goes
// first.
type abqProgram struct {
	held
	floor int
	state congestion
	x     int
	bytes int
}

var _ Gate = (*abqProgram)(nil)

func (a *abqProgram) Enter(pure bool) (wait bool, then Release) {
	switch {
	case a.bytes >= a.k:
		a.state, a.x = congested, min(max(a.x, a.bytes-a.k), a.k)
		return pure, Keep
	case a.state == lightlyCongested:
		return pure, Keep
	}
	return false, a.fall()
}

func (a *abqProgram) Occupied(bytes int) Release {
	left := bytes < a.bytes
	a.bytes = bytes
	if !left {
		return Keep
	}
	if r := a.fall(); r != Keep || a.state != lightlyCongested || bytes > a.x/2 {
		return r
	}
	a.x /= 2
	if a.x <= a.floor {
		a.x = 0
	}
	return a.first
}

// fall is what both occasions have in common: a congested queue that has fallen to
// X, or one that is empty.
func (a *abqProgram) fall() Release {
	switch {
	case a.state == congested && a.bytes <= a.x:
		a.state = lightlyCongested
		return a.first
	case a.bytes == 0:
		a.state, a.x = uncongested, 0
		return a.last
	}
	return Keep
}
