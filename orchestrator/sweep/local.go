package sweep

import (
	"context"
	"errors"
	"fmt"
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

// Label names a point by its settings.
func (w *Sweep) Label(p Point) string {
	text := []string{p.Coord.String()}
	for i, a := range w.Axes {
		if a.Key != LoadKey {
			text = append(text, a.Key+" "+p.Values[i])
		}
	}
	return strings.Join(text, ", ")
}

// Meter is one for the points of a job, which are units of it.
func (j Job) Meter(units []Unit) *Meter {
	labels := make(map[string]string)
	for _, p := range j.Points {
		labels[p.Key] = j.Sweep.Label(p)
	}
	m := &Meter{Label: func(u Unit) string { return labels[u.Key] }, Watch: j.Watch}
	m.Begin(units)
	return m
}

// Pool measures units of the job on this machine.
func (j Job) Pool() Pool {
	return Pool{Store: j.Store, Runtime: j.Sweep.Runtime, Jobs: j.Jobs, Root: j.Root, Log: j.Log}
}

// Local is the engine of this machine.
func Local() Engine { return Engine{Run: runLocal} }

func runLocal(ctx context.Context, j Job) error {
	units := j.Sweep.Units(j.Points)
	m := j.Meter(units)
	m.Quiet = j.Sweep.Runtime.Facts().Virtual
	var broken error
	err := j.Pool().Run(ctx, units, func(e Event) {
		m.Take(e)
		if e.Err != nil && broken == nil {
			broken = j.Sweep.NoteFailure(e.Unit, e.Err, "")
		}
	})
	if err = errors.Join(err, broken); err == nil || ctx.Err() == nil {
		return err
	}
	status, unknown := j.Store.Status(j.Sweep)
	if unknown != nil {
		return errors.Join(err, unknown)
	}
	return fmt.Errorf("%w: %d of %d points of sweep %s are stored: the same command goes on from there", err, status.Stored, status.Points, j.Sweep.Name)
}
