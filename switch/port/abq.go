package port

import (
	"cmp"

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
//
// ACKs that come in by a port acknowledge data that left by it where paths are
// symmetric. Between switches with several paths they need not be, so that ACKs of
// other ports' data would wait. The paper names this limit, and would have ECMP keep
// both directions of a flow on one path. The authors' program has the gate at the
// ports that face hosts only, as is the default here.
//
// That program differs from the paper in what it does with ACKs, and when. States,
// Release, Corrector and Queue choose its ways. A release then lets go as many as
// have windows that add up to K, the one that exceeds it included. What stays waits
// for the next release, which each packet that passes the port is when its queue is
// empty. The program's order, the newest flow first, is left out: the oldest ones
// would wait for as long as others come. So is its limit of 120 KB, which flows with
// an ACK each do not reach.
type ABQ struct {
	K                units.Size `lab:"k" tune:"0.1bdp..4bdp" range:"1B..1000GB" doc:"bytes in the port's queues above which it is congested; 20 full packets when absent"`
	QMax             units.Size `lab:"q_max" range:"0B..1000GB" doc:"capacity of the port's queues, from which the first release point is computed; without it, the port's buffer"`
	Floor            units.Size `lab:"floor" range:"1B..1000GB" doc:"length below which a halved release point ends the congestion; 4 full packets when absent"`
	ECEOnLastRelease bool       `lab:"ece_on_last_release" doc:"set the ECN echo also in the release that ends the congestion"`
	Ports            string     `lab:"ports" oneof:"hosts,all" what:"choice" doc:"hosts: at ports that face hosts, where no ACK can come in by a wrong path (the authors' program); all: between switches, too"`
	States           string     `lab:"states" oneof:"paper,program" what:"choice" doc:"when ACKs wait and go: as the paper has it, or as the authors' program, where they pass between release points and k, the first of which is the largest excess over k, and go for the last time when the queue is empty"`
	Release          string     `lab:"release" oneof:"all,share" what:"choice" doc:"all ACKs that wait go in a release (the paper), or share: as many as fill k with a window of k / their number, at least least_window (the authors' program)"`
	Corrector        string     `lab:"corrector" oneof:"ece,window" what:"choice" doc:"what tells senders: ece, the ECN echo of ACKs that are let go (the paper), or window: that window in all that wait, if theirs is larger (the authors' program)"`
	Queue            string     `lab:"queue" oneof:"all,latest" what:"choice" doc:"all ACKs wait (the paper), or latest: one takes the place of that of its flow, which is gone (the authors' program)"`
	LeastWindow      units.Size `lab:"least_window" range:"1B..1000GB" doc:"smallest window: the payload of a full segment, below which hosts stop to send"`
	WindowShift      int        `lab:"window_shift" range:"0..14" doc:"window scale of real hosts (RFC 7323), which the switch does not read: 7 in Linux with its default buffers of 6 MB"`
}

// abq is the paper's state machine:
//
//	any  Q_out > K                                 -> CS   X = min(Q_max - K, K)
//	CS   Q_out <= X, half of X at least the floor  -> LCS  release, halve X
//	LCS  Q_out <= X, half of X at least the floor  -> LCS  release, halve X
//	CS   Q_out <= X, half of X below the floor     -> US   release
//	LCS  Q_out <= X, half of X below the floor     -> US   release
type abq struct {
	held
	floor int
	enter int // X on entering congestion
	state congestion
	x     int // length at which ACKs are let go next
	empty bool
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
	p.K = cmp.Or(p.K, units.Size(20*env.FullPacket))
	p.Floor = cmp.Or(p.Floor, units.Size(4*env.FullPacket))
	p.QMax = cmp.Or(p.QMax, env.Buffer)
	if p.Floor == 0 {
		return nil, kind.Invalid("floor", "missing: want a size such as 6KB")
	}
	if p.QMax <= p.K {
		return nil, kind.Invalid("k", "%v is not below the capacity of the port's queues, %v", p.K, p.QMax)
	}
	if p.Ports == hostPorts && !env.FacesHost {
		return nil, nil
	}
	held := held{
		k:       int(p.K),
		waiting: Waiting{Latest: p.Queue == "latest", Shift: uint(p.WindowShift)},
		share:   p.Release == "share",
		window:  p.Corrector == "window",
		least:   int(p.LeastWindow),
		first:   FreeECE,
		last:    Free,
	}
	switch {
	case held.window:
		held.first = Free
	case p.ECEOnLastRelease:
		held.last = FreeECE
	}
	if p.States == "program" {
		return &abqProgram{held: held, floor: int(p.Floor)}, nil
	}
	return &abq{held: held, floor: int(p.Floor), enter: int(min(p.QMax-p.K, p.K))}, nil
}

// held is what becomes of the ACKs that wait.
type held struct {
	k           int
	waiting     Waiting
	share       bool    // a release lets a share of the ACKs go
	window      bool    // they get a smaller window in place of the ECN echo
	least       int     // window
	first, last Release // the releases of a congestion, and the one that ends it
}

func (a *held) Waiting() Waiting { return a.waiting }

// Share is the release of the authors' program, if that is chosen: while the
// windows that were let go do not exceed K, one more goes.
func (a *held) Share(n int) (free, window int) {
	if !a.share && !a.window {
		return n, 0
	}
	share := max(a.k/max(n, 1), a.least)
	free = n
	if a.share {
		free = min(n, a.k/share+1)
	}
	if a.window {
		window = share
	}
	return free, window
}

// Occupied leaves either the uncongested state or a release point below the
// length, so that only a shrinking queue ever lets ACKs go, and an empty one
// has let go all.
func (a *abq) Occupied(bytes int) Release {
	a.empty = bytes == 0
	if bytes > a.k {
		a.state, a.x = congested, a.enter
		return Keep
	}
	release := Keep
	for a.state != uncongested && bytes <= a.x {
		if r := a.fall(); release == Keep {
			release = r
		}
	}
	if release == Keep {
		return a.rest()
	}
	return release
}

// rest lets go what releases have left, when the queue is empty.
func (a *abq) rest() Release {
	if a.share && a.empty {
		return a.last
	}
	return Keep
}

// Enter has pure ACKs wait.
func (a *abq) Enter(pure bool) (wait bool, then Release) {
	if pure && a.Holds() {
		return true, Keep
	}
	return false, a.rest()
}

// Holds tells whether ACKs wait.
func (a *abq) Holds() bool { return a.state != uncongested }

// fall passes a release point: the next one is half as far, and below the floor
// there is none.
func (a *abq) fall() Release {
	a.x /= 2
	if a.x < a.floor {
		a.state, a.x = uncongested, 0
		return a.last
	}
	a.state = lightlyCongested
	return a.first
}
