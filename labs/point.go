package labs

import (
	"fmt"
	"slices"
)

// Restricted is the lab with some of its schemes at one load and seed, as if it
// said no more. The error for a scheme that the lab does not have wraps
// [kind.ErrUnknown].
func (l *Lab) Restricted(schemes []string, load float64, seed uint64) (*Lab, error) {
	one := *l
	one.Schemes = slices.Clone(l.Schemes)
	one.Workload.Load = []float64{load}
	one.Seeds = []uint64{seed}
	return &one, one.Only(schemes)
}

// PointKey is what a point is known by, whatever else its lab says: equal keys
// stand for points that are measured in the same way.
func (l *Lab) PointKey(scheme string, load float64, seed uint64) (string, error) {
	one, err := l.Restricted([]string{scheme}, load, seed)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %s %v %d %s", l.Name, scheme, load, seed, one.Hash()), nil
}
