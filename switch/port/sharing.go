package port

import (
	"time"

	"aqmlab/kind"
	"aqmlab/switch/aqm"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// Sharing is how ports and their queues share packet memory. In all kinds a packet that
// does not fit is dropped on arrival, unless the scheduler pushes out others
// ([sched.Evictor]).
type Sharing struct {
	Pooled   bool       // all ports of a switch draw from one pool; else each has memory of its own
	PerQueue units.Size // a port's own memory is that for each of its queues; zero: the switch says how much
	Modelled bool       // it reads what only packets of modelled hosts tell
	Limit    Limit      // of each queue; nil: there is none but the memory
}

// Limit bounds the queues of one port.
type Limit interface {
	// Admits tells whether a packet may join its queue at now. The memory has room for it.
	Admits(now time.Duration, a Arrival) bool
}

// Arrival is a packet that is to join a queue.
type Arrival struct {
	Queue  int // that it is to join
	Bytes  int // in that queue
	Size   int // length of the packet
	Packet *packet.Packet
}

// SharingEnv is what a sharing is built for: one port.
type SharingEnv struct {
	Queues     int
	Weights    []int           // relative share of each queue under its scheduler; zero for one that is served strictly
	FullPacket units.Size      // length of one
	RTTs       aqm.RTTs        // base RTTs, for what is computed from them
	Pool       *Pool           // of the switch
	Holds      func(q int) int // bytes in a queue
}

// sharedByPort is the kind where none is named.
const sharedByPort = "port"

// Sharings lists the kinds of sharing.
func Sharings() kind.Table[SharingEnv, Sharing] {
	return kind.Table[SharingEnv, Sharing]{
		kind.Row(sharedByPort, "all queues of a port, first come, first served", struct{}{}, newOwn),
		kind.Row("static", "every queue has a limit of its own", StaticSharing{}, newStatic),
		kind.Row("pool", "all ports of the switch, first come, first served", struct{}{}, newPooled),
		kind.Row("dynamic", "as pool, but only queues below alpha x the free bytes grow", DynamicSharing{Alpha: 1}, newDynamic),
		kind.Row("abm", "as dynamic, but a queue's limit also falls with its share of its link, and with how many queues of its number are congested", ABM{Alpha: 0.5, Congested: 0.9, UnscheduledAlpha: 64}, newABM),
	}
}

// newOwn is that of TCN, section 6.1.
func newOwn(struct{}, SharingEnv) (Sharing, error) { return Sharing{}, nil }

// newPooled is a service pool (MQ-ECN, section 2.2).
func newPooled(struct{}, SharingEnv) (Sharing, error) { return Sharing{Pooled: true}, nil }

// StaticSharing cuts the memory of a port into equal parts.
type StaticSharing struct {
	PerQueue units.Size `lab:"per_queue" range:"1B..1GB" doc:"limit of each queue, at least a full packet"`
}

type staticLimit int

func newStatic(p StaticSharing, env SharingEnv) (Sharing, error) {
	switch {
	case p.PerQueue == 0:
		return Sharing{}, kind.Invalid("per_queue", "missing: want a size such as 96KB")
	case p.PerQueue < env.FullPacket:
		return Sharing{}, kind.Invalid("per_queue", "%v does not hold one packet: want at least %dB", p.PerQueue, env.FullPacket)
	}
	return Sharing{PerQueue: p.PerQueue, Limit: staticLimit(p.PerQueue)}, nil
}

func (l staticLimit) Admits(_ time.Duration, a Arrival) bool { return a.Bytes+a.Size <= int(l) }

// DynamicSharing lets a queue grow while it is below a share of what is free (Choudhury and
// Hahne, Dynamic Queue Length Thresholds, 1998). A lone queue takes alpha / (1 + alpha) of
// the pool.
type DynamicSharing struct {
	Alpha float64 `lab:"alpha" range:"(0, 1000]" doc:"a queue's limit over the free bytes of the pool; 1 lets a lone queue take half of the pool"`
}

type dynamicLimit struct {
	pool  *Pool
	alpha float64
}

func newDynamic(p DynamicSharing, env SharingEnv) (Sharing, error) {
	return Sharing{Pooled: true, Limit: dynamicLimit{env.Pool, p.Alpha}}, nil
}

func (l dynamicLimit) Admits(_ time.Duration, a Arrival) bool {
	return float64(a.Bytes) < l.alpha*float64(l.pool.size-l.pool.bytes)
}
