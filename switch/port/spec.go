package port

import (
	"cmp"
	"fmt"
	"slices"

	"aqmlab/kind"
	"aqmlab/switch/aqm"
	"aqmlab/switch/packet"
	"aqmlab/switch/sched"
	"aqmlab/units"
)

// Spec says how a port is built. It is plain data: a lab makes it, and it
// crosses process boundaries as JSON.
type Spec struct {
	Rate       units.Rate     // line rate C
	FacesHost  bool           // its link leads to a host, not to a switch
	RTTs       aqm.RTTs       // base RTTs, for the thresholds that are computed from them
	Queues     int            // number of queues
	Buffer     units.Size     // bytes of packet memory: the port's, or the pool's that all ports of a switch draw from
	Sharing    kind.Choice    // of the buffer; the zero choice is that of a port's own
	Lengths    packet.Lengths // what the length of a packet counts
	MTU        int            // network-layer bytes of a full packet; [packet.FullPacket] when zero
	Limiter    Limiter
	Classifier kind.Choice // which queue a DSCP has; the zero choice is that of its number
	Scheduler  kind.Choice
	Scheme     kind.Choice
	Ingress    kind.Choice // gate of the ingress side; without a kind there is none
	Seed       uint64      // of the scheme's randomness
}

// FullPacket is the length of a full packet.
func (s Spec) FullPacket() int { return s.Lengths.Of(cmp.Or(s.MTU, packet.FullPacket)) }

// Kinds is what ports can be built of: the schemes and schedulers that ship
// with aqmlab, and those that a program adds to them. The zero value adds none.
// It holds constructors, so it crosses no process boundary: a helper process
// has its own, of the same program.
type Kinds struct {
	schemes    []aqm.Kind // added ones
	schedulers []sched.Kind
	made       *tables // nil: to be made each time
}

// tables are those of all schemes and schedulers.
type tables struct {
	schemes    kind.Table[aqm.Env, aqm.Scheme]
	schedulers kind.Table[sched.Env, sched.Scheduler]
}

// Made is the same kinds, in tables that are made once: for whoever builds many ports. To
// make them takes longer than to build a port.
func (k Kinds) Made() Kinds {
	k.made = &tables{k.Schemes(), k.Schedulers()}
	return k
}

// NewKinds adds schemes and schedulers to those that ship with aqmlab. Two of
// one name are an error, as is a scheme with the name of a gate, which a lab
// names in the same place.
func NewKinds(schemes []aqm.Kind, schedulers []sched.Kind) (Kinds, error) {
	k := Kinds{schemes: slices.Clone(schemes), schedulers: slices.Clone(schedulers)}
	if err := checkNames("scheme", slices.Concat(k.Schemes().Names(), Gates().Names())); err != nil {
		return Kinds{}, err
	}
	if err := checkNames("scheduler", k.Schedulers().Names()); err != nil {
		return Kinds{}, err
	}
	return k, nil
}

// checkNames refuses a row without a name, and a name that is there twice.
func checkNames(what string, names []string) error {
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		if name == "" {
			return fmt.Errorf("adding a %s: it has no name", what)
		}
		if seen[name] {
			return fmt.Errorf("adding %s %q: there is one of that name already", what, name)
		}
		seen[name] = true
	}
	return nil
}

// Schemes lists every scheme, those that were added last.
func (k Kinds) Schemes() kind.Table[aqm.Env, aqm.Scheme] {
	if k.made != nil {
		return k.made.schemes
	}
	return slices.Concat(aqm.Table(), k.schemes)
}

// Schedulers lists every scheduler, those that were added last.
func (k Kinds) Schedulers() kind.Table[sched.Env, sched.Scheduler] {
	if k.made != nil {
		return k.made.schedulers
	}
	return slices.Concat(sched.Table(), k.schedulers)
}
