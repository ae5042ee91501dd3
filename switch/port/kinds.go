package port

import (
	"fmt"
	"slices"

	"aqmlab/kind"
	"aqmlab/switch/aqm"
	"aqmlab/switch/sched"
)

// Kinds is what ports can be built of: the schemes and schedulers that ship
// with aqmlab, and those that a program adds to them. The zero value adds none.
// It holds constructors, so it crosses no process boundary: a helper process
// has its own, of the same program.
type Kinds struct {
	schemes    []aqm.Kind // added ones
	schedulers []sched.Kind
}

// NewKinds adds schemes and schedulers to those that ship with aqmlab. Two of
// one name are an error, as is a scheme with the name of a gate, which a lab
// names in the same place.
func NewKinds(schemes []aqm.Kind, schedulers []sched.Kind) (Kinds, error) {
	k := Kinds{slices.Clone(schemes), slices.Clone(schedulers)}
	if err := distinct("scheme", slices.Concat(k.Schemes().Names(), Gates().Names())); err != nil {
		return Kinds{}, err
	}
	if err := distinct("scheduler", k.Schedulers().Names()); err != nil {
		return Kinds{}, err
	}
	return k, nil
}

// distinct refuses a row without a name, and a name that is there twice.
func distinct(what string, names []string) error {
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
	return slices.Concat(aqm.Table(), k.schemes)
}

// Schedulers lists every scheduler, those that were added last.
func (k Kinds) Schedulers() kind.Table[sched.Env, sched.Scheduler] {
	return slices.Concat(sched.Table(), k.schedulers)
}
