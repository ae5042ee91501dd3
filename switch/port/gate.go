package port

import (
	"aqmlab/kind"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// Gate decides when the pure ACKs that enter the switch by a port wait.
type Gate interface {
	// Occupied tells how many bytes all output queues of the port hold, the
	// packet on the wire not counted. The gate says what becomes of the ACKs
	// that wait.
	Occupied(bytes int) Release
	// Holds tells whether an ACK that enters now has to wait.
	Holds() bool
}

// Release is what becomes of the ACKs that wait.
type Release uint8

// What a gate may want.
const (
	Keep    Release = iota // they go on waiting
	Free                   // all go on, as they are
	FreeECE                // all go on, with the ECN echo set
)

// GateEnv is what a gate is built for: one port.
type GateEnv struct {
	Buffer    units.Size // of the port
	FacesHost bool       // what enters comes from a host, not from a switch
}

// Gates lists every kind of gate. A kind makes none for a port that it leaves alone.
func Gates() kind.Table[GateEnv, Gate] {
	return kind.Table[GateEnv, Gate]{
		kind.Row("abq", "hold the ACKs that enter by a port while its output queue is congested",
			ABQ{K: 20 * packet.FullPacket, Floor: 4 * packet.FullPacket, ECEOnLastRelease: true, Ports: hostPorts}, newABQ).
			Noting("It marks and drops nothing: it sets the ECN echo of the ACKs that it held, whatever their own ECN field."),
	}
}

// ABQ holds the ACKs that would clock out more data for a congested port, and
// lets all of them go each time its output queue has fallen to half of where it
// let them go before (ABQ, algorithm 1 and the text around it). Q_out is what
// all output queues of the port hold, in bytes.
//
// Where text and listing of the paper differ, the text holds: ACKs are let go
// at length X, not only below it, and entering congestion sets X, each time. A
// queue that jumps past several release points releases at the first of them.
//
// ACKs that come in by a port acknowledge data that left by it where paths are
// symmetric. Between switches with several paths they need not be, so that ACKs of
// other ports' data would wait. The authors' program therefore has the gate at the
// ports that face hosts only, as is the default here; the paper says nothing of it.
type ABQ struct {
	K                units.Size `lab:"k" range:"1B..1000GB" doc:"bytes in the port's queues above which it is congested"`
	QMax             units.Size `lab:"q_max" range:"0B..1000GB" doc:"capacity of the port's queues, from which the first release point is computed; without it, the port's buffer"`
	Floor            units.Size `lab:"floor" range:"1B..1000GB" doc:"length below which a halved release point ends the congestion"`
	ECEOnLastRelease bool       `lab:"ece_on_last_release" doc:"set the ECN echo also in the release that ends the congestion"`
	Ports            string     `lab:"ports" oneof:"hosts,all" what:"choice" doc:"hosts: at ports that face hosts, where no ACK can come in by a wrong path (the authors' program); all: between switches, too"`
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

// hostPorts is the choice of ports that face hosts.
const hostPorts = "hosts"

func newABQ(p ABQ, env GateEnv) (Gate, error) {
	if p.QMax == 0 {
		p.QMax = env.Buffer
	}
	if p.QMax <= p.K {
		return nil, kind.Invalid("k", "%v is not below the capacity of the port's queues, %v", p.K, p.QMax)
	}
	if p.Ports == hostPorts && !env.FacesHost {
		return nil, nil
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
