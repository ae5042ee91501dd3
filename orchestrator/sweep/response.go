package sweep

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"aqmlab/results/response"
)

// Find opens a sweep by its name, or the latest where the name is empty. The error for
// one that is not there wraps [ErrNoSweep] and lists those that are.
func (s Store) Find(name string) (*Sweep, error) {
	names, err := s.Sweeps()
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%w: there are none in %s", ErrNoSweep, s.Dir)
	}
	if name == "" {
		name = names[len(names)-1]
	}
	w, err := s.Sweep(name)
	if errors.Is(err, ErrNoSweep) {
		return nil, fmt.Errorf("%w: %q: want one of %s, in %s", ErrNoSweep, name, strings.Join(names, ", "), s.Dir)
	}
	return w, err
}

// Response is what is stored of a sweep. A point that several settings share is there
// once for each.
func (s Store) Response(w *Sweep) (response.Set, error) {
	set := response.Set{Axes: w.Axes}
	read := make(map[string]response.Point)
	for _, p := range w.Points {
		found, ok := read[p.Key]
		if !ok {
			var err error
			if found, err = s.measured(w, p.Key); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return set, err
			}
			read[p.Key] = found
		}
		if found.Figures != nil {
			found.Values, found.Coord = p.Values, p.Coord
			set.Points = append(set.Points, found)
		}
	}
	return set, nil
}

// measured is what is stored of a point. The fidelity of modelled hosts is never low, and
// is not looked up.
func (s Store) measured(w *Sweep, key string) (found response.Point, err error) {
	figures, err := s.Figures(key)
	found.Figures, found.Programs = figures.Values, figures.Programs
	if err != nil || w.Runtime.Facts().Modelled {
		return found, err
	}
	run, err := s.Open(key)
	if err != nil {
		return response.Point{}, err
	}
	for _, p := range run.Manifest.Points {
		if p.Fidelity.Low() {
			found.Low = append(found.Low, cmp.Or(strings.Join(p.Fidelity.Reasons, "; "), p.Fidelity.Label))
		}
	}
	return found, nil
}
