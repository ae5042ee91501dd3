package sweep

import (
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
	read := make(map[string]map[string]float64)
	for _, p := range w.Points {
		figures, ok := read[p.Key]
		if !ok {
			var err error
			if figures, err = s.Figures(p.Key); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return set, err
			}
			read[p.Key] = figures
		}
		if figures != nil {
			set.Points = append(set.Points, response.Point{Values: p.Values, Coord: p.Coord, Figures: figures})
		}
	}
	return set, nil
}
