package sweep

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"aqmlab/labs"
	"aqmlab/orchestrator"
	"aqmlab/results"
)

// errStoring is wrapped by errors that are the store's: every other point would meet
// them, too.
var errStoring = errors.New("storing points")

// keeper puts each measured point of a lab into a store, under its key.
type keeper struct {
	store    Store
	lab      *labs.Lab
	keys     map[results.Coord]string
	manifest results.Manifest
	storing  func()              // is told before a point is stored
	stored   func(results.Point) // and after
}

var _ orchestrator.Keeper = (*keeper)(nil)

// Add stores a point as a run of its own, whose lab and manifest say no more than that.
func (k *keeper) Add(p results.Point) error {
	k.storing()
	if err := k.add(p); err != nil {
		return fmt.Errorf("%w: %w", errStoring, err)
	}
	k.stored(p)
	return nil
}

func (k *keeper) add(p results.Point) error {
	one, err := k.lab.Restricted([]string{p.Scheme}, p.Load, p.Seed)
	if err != nil {
		return err
	}
	yaml, err := one.YAML()
	if err != nil {
		return err
	}
	m := k.manifest
	m.Schemes, m.Loads, m.Seeds, m.Baseline = []string{p.Scheme}, []float64{p.Load}, []uint64{p.Seed}, p.Scheme
	m.Derived = slices.DeleteFunc(slices.Clone(m.Derived), func(d results.Derived) bool { return d.Scheme != p.Scheme })
	return k.store.Put(k.keys[p.Coord], m, yaml, p)
}

// Publish has nobody to show it to: points are seen when they are there.
func (k *keeper) Publish(results.Live) error { return nil }

// Finish has nothing left to do.
func (k *keeper) Finish(time.Time) (string, error) { return "", nil }

// Abort neither: what is stored stays.
func (k *keeper) Abort(time.Time, string) (string, error) { return "", nil }
