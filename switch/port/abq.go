package port

import (
	"aqmlab/kind"
	"aqmlab/units"
)

// ABQ holds the ACKs that would clock out more data for a congested port, and
// lets all of them go each time its output queue has fallen to half of where it
// let them go before (ABQ, algorithm 1 and the text around it). Q_out is what
// all output queues of the port hold, in bytes.
//
// Where text and listing of the paper differ, the text holds: ACKs are let go
// at length X, not only below it, and entering congestion sets X, each time. A
// queue that jumps past several release points releases at the first of them.
type ABQ struct {
	K                units.Size `lab:"k" range:"1B..1000GB" doc:"bytes in the port's queues above which it is congested"`
	QMax             units.Size `lab:"q_max" range:"0B..1000GB" doc:"capacity of the port's queues, from which the first release point is computed; without it, the port's buffer"`
	Floor            units.Size `lab:"floor" range:"1B..1000GB" doc:"length below which a halved release point ends the congestion"`
	ECEOnLastRelease bool       `lab:"ece_on_last_release" doc:"set the ECN echo also in the release that ends the congestion"`
}

// abq is the paper's state machine:
//
//	any  Q_out > K                                 -> CS   X = min(Q_max - K, K)
//	CS   Q_out <= X, half of X at least the floor  -> LCS  release, halve X
//	LCS  Q_out <= X, half of X at least the floor  -> LCS  release, halve X
//	CS   Q_out <= X, half of X below the floor     -> US   release
//	LCS  Q_out <= X, half of X below the floor     -> US   release
type abq struct {
	k, floor int
	first    int // X on entering congestion
	ece      bool
	state    congestion
	x        int // length at which ACKs are let go next
}

var _ Gate = (*abq)(nil)

// congestion is the state of a port.
type congestion uint8

const (
	uncongested      congestion = iota // US: ACKs pass
	lightlyCongested                   // LCS: ACKs wait for the next release
	congested                          // CS: ACKs wait
)

func newABQ(p ABQ, env GateEnv) (Gate, error) {
	if p.QMax == 0 {
		p.QMax = env.Buffer
	}
	if p.QMax <= p.K {
		return nil, kind.Invalid("k", "%v is not below the capacity of the port's queues, %v", p.K, p.QMax)
	}
	return &abq{
		k:     int(p.K),
		floor: int(p.Floor),
		first: int(min(p.QMax-p.K, p.K)),
		ece:   p.ECEOnLastRelease,
	}, nil
}

func (a *abq) Holds() bool { return a.state != uncongested }

// Occupied leaves either the uncongested state or a release point below the
// length, so that only a shrinking queue ever lets ACKs go, and an empty one
// has let go all.
func (a *abq) Occupied(bytes int) Release {
	if bytes > a.k {
		a.state, a.x = congested, a.first
		return Keep
	}
	release := Keep
	for a.state != uncongested && bytes <= a.x {
		if r := a.fall(); release == Keep {
			release = r
		}
	}
	return release
}

// fall passes a release point: the next one is half as far, and below the floor
// there is none.
func (a *abq) fall() Release {
	a.x /= 2
	if a.x >= a.floor {
		a.state = lightlyCongested
		return FreeECE
	}
	a.state, a.x = uncongested, 0
	if a.ece {
		return FreeECE
	}
	return Free
}
