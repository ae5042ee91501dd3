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
	// Enter tells whether a packet that enters now has to wait, which a pure ACK may.
	// One that goes on may be the occasion for those that wait.
	Enter(pure bool) (wait bool, then Release)
	// Share tells how many of n ACKs that wait a release lets go. The windows of all
	// of them are cut before to that many bytes; zero leaves them alone.
	Share(n int) (free, window int)
	// Waiting says how ACKs wait, always the same.
	Waiting() Waiting
}

// Waiting is how a gate has ACKs wait.
type Waiting struct {
	Latest bool // an ACK takes the place of the one of its flow
	Shift  uint // of the windows in frames (RFC 7323, section 2)
}

// Release is what becomes of the ACKs that wait.
type Release uint8

// What a gate may want.
const (
	Keep    Release = iota // they go on waiting
	Free                   // they go on as they are
	FreeECE                // they go on with the ECN echo set
)

// GateEnv is what a gate is built for: one port.
type GateEnv struct {
	Buffer     units.Size // of the port
	FullPacket int        // length of one
	FacesHost  bool       // what enters comes from a host, not from a switch
}

// Gates lists every kind of gate. A kind makes none for a port that it leaves alone.
func Gates() kind.Table[GateEnv, Gate] {
	return kind.Table[GateEnv, Gate]{
		kind.Row("abq", "hold the ACKs that enter by a port while its output queue is congested",
			ABQ{
				ECEOnLastRelease: true, Ports: hostPorts,
				States: "paper", Release: "all", Corrector: "ece", Queue: "all", LeastWindow: packet.FullPacket - packet.TCPHeaders, WindowShift: 7,
			}, newABQ).
			Noting("It marks and drops no data: it sets the ECN echo of the ACKs that it held, whatever their own ECN field, or cuts their windows."),
	}
}
