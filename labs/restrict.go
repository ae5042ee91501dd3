package labs

import (
	"fmt"
	"slices"

	"aqmlab/kind"
	"aqmlab/labs/inventory"
)

// Only leaves the lab with the schemes of those names, in the lab's order; no
// names leave it as it is. A baseline that is not among them is replaced by the
// first that is. The error for a name that the lab does not have wraps
// [kind.ErrUnknown].
func (l *Lab) Only(names []string) error {
	if len(names) == 0 {
		return nil
	}
	all := l.schemeNames()
	for _, name := range names {
		if !slices.Contains(all, name) {
			return fmt.Errorf("lab %s: %w", l.Name, kind.Unknown("scheme", name, all))
		}
	}
	l.Schemes = slices.DeleteFunc(l.Schemes, func(s Scheme) bool { return !slices.Contains(names, s.Name) })
	if !slices.Contains(names, l.Baseline) {
		l.Baseline = l.Schemes[0].Name
	}
	return nil
}

func (l *Lab) schemeNames() []string {
	names := make([]string, len(l.Schemes))
	for i, s := range l.Schemes {
		names[i] = s.Name
	}
	return names
}

// Restricted is the lab with some of its schemes at one load and seed, as if it
// said no more. The error for a scheme that the lab does not have wraps
// [kind.ErrUnknown].
func (l *Lab) Restricted(schemes []string, load float64, seed uint64) (*Lab, error) {
	one := *l
	one.Schemes = slices.Clone(l.Schemes)
	one.Workload.Load = []float64{load}
	one.Seeds = []uint64{seed}
	one.Sweep = Sweep{}
	return &one, one.Only(schemes)
}

// OnOneMachine is the lab as if it said nothing of machines.
func (l *Lab) OnOneMachine() *Lab {
	one := *l
	one.Rack, one.Placement = inventory.Inventory{}, nil
	return &one
}

// PointText is all that a lab says of how the points of a scheme are measured, but for
// their load and seed: the lab as YAML, without the other schemes and what is there for
// readers. Equal texts stand for points that are measured in the same way.
func (l *Lab) PointText(scheme string) (string, error) {
	one, err := l.Restricted([]string{scheme}, 1, 1)
	if err != nil {
		return "", err
	}
	one.Title, one.Source = "", Source{}
	text, err := one.YAML()
	return string(text), err
}
