package labs

import (
	"fmt"
	"slices"

	"aqmlab/kind"
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
