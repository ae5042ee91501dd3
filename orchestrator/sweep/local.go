package sweep

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"aqmlab/labs"
)

// Units are points as a [Pool] measures them.
func (w *Sweep) Units(points []Point) (units []Unit) {
	for _, p := range points {
		units = append(units, Unit{
			Coord: p.Coord, Key: p.Key, Set: strconv.Itoa(p.Lab), Cost: 1,
			Lab: func() (*labs.Lab, error) { return w.lab(p.Lab) },
		})
	}
	return units
}

// label names a point by its settings.
func (w *Sweep) label(p Point) string {
	text := []string{p.Coord.String()}
	for i, a := range w.Axes {
		if a.Key != loadKey {
			text = append(text, a.Key+" "+p.Values[i])
		}
	}
	return strings.Join(text, ", ")
}

// meter is one for the points of a job, which are units of it.
func (j Job) meter(units []Unit) *Meter {
	labels := make(map[string]string)
	for _, p := range j.Points {
		labels[p.Key] = j.Sweep.label(p)
	}
	m := &Meter{Label: func(u Unit) string { return labels[u.Key] }, Watch: j.Watch}
	m.Begin(units)
	return m
}

// pool measures units of the job on this machine.
func (j Job) pool() Pool {
	return Pool{Store: j.Store, Runtime: j.Sweep.runtime(), Jobs: j.Jobs, Root: j.Root, Log: j.Log}
}

// runLocal measures on this machine.
func runLocal(ctx context.Context, j Job) error {
	units := j.Sweep.Units(j.Points)
	m := j.meter(units)
	m.Quiet = j.Sweep.runtime().Facts().Virtual
	var broken error
	err := j.pool().Run(ctx, units, func(e Event) {
		m.Take(e)
		if e.Err != nil && broken == nil {
			broken = j.Sweep.noteFailure(e.Unit, e.Err, thisHost())
		}
	})
	return errors.Join(err, broken)
}
