package testbed

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"

	"golang.org/x/sync/errgroup"

	"aqmlab/orchestrator/docker"
	"aqmlab/orchestrator/journal"
)

// ErrNotForgotten is the error for a lab that has nothing on other machines.
var ErrNotForgotten = errors.New("the lab is on this machine alone, so there is nothing to forget: aqmlab lab down removes it")

// Forgotten is what a lab still has on another machine that nobody will remove.
type Forgotten struct {
	foothold
	Err error // why it could not be removed
}

// String says what that is, and how to remove it by hand.
func (f Forgotten) String() string {
	filter := "--quiet --filter " + docker.OwnerFilter(f.Owner)
	return fmt.Sprintf(`Forgot what it has on machine %s: %v
To remove that by hand, run there:
  docker ps --all %[3]s | xargs --no-run-if-empty docker rm --force --volumes
  docker volume ls %[3]s | xargs --no-run-if-empty docker volume rm`, f.Machine.Name, f.Err, filter)
}

// Forget removes a lab that lies on several machines, which was left up or which a killed run
// has left, from those that answer. It returns what stays on the others, of which this machine
// knows nothing any more. Its errors are those of [TakeDown], and [ErrNotForgotten].
func Forget(id string, o Options) (all []Forgotten, err error) {
	j, err := journal.Open(o.root(), id)
	if err != nil {
		return nil, err
	}
	onMachine := func(e journal.Entry) bool { return e.Kind == journal.Machine }
	if !slices.ContainsFunc(j.Entries(), onMachine) {
		return nil, errors.Join(ErrNotForgotten, j.Close())
	}
	undo := undoers()
	undo[journal.Machine] = func(entries []journal.Entry) error {
		var errs []error
		for _, f := range cleanEach(entries) {
			if errors.As(f.Err, new(*docker.UnavailableError)) { // it is this program that does not fit
				errs = append(errs, f.Err)
			}
			all = append(all, f)
		}
		return errors.Join(errs...)
	}
	if err := j.Undo(undo); err != nil {
		return nil, errors.Join(err, j.Abandon())
	}
	return all, nil
}

// FindLeft picks as [Find] does, also among the labs that killed runs have left.
func FindLeft(ref string, o Options) (Standing, error) {
	all, err := Labs(o)
	if err != nil {
		return Standing{}, err
	}
	return pick(ref, slices.DeleteFunc(all, func(s Standing) bool { return s.State == journal.Running }))
}

// cleanMachines removes what other machines have of a lab.
func cleanMachines(entries []journal.Entry) error {
	var errs []error
	for _, f := range cleanEach(entries) {
		// Whatever it was, it is nothing that the user could have named better.
		errs = append(errs, fmt.Errorf("what the lab has on machine %s stays until it answers, and the next aqmlab command then removes it; if it never comes back, run aqmlab lab down %s --forget (%v)",
			f.Machine.Name, path.Base(f.Owner), f.Err))
	}
	return errors.Join(errs...)
}

// cleanEach removes what other machines have of a lab, from all at once, and returns those
// from which it could not.
func cleanEach(entries []journal.Entry) (failed []Forgotten) {
	all := make([]Forgotten, len(entries))
	var cleaning errgroup.Group
	for i, e := range entries {
		f := &all[i]
		f.Machine.Name = e.Name
		cleaning.Go(func() error {
			if f.Err = json.Unmarshal([]byte(e.Detail), &f.foothold); f.Err == nil {
				f.Err = f.clean()
			}
			return nil
		})
	}
	_ = cleaning.Wait() // the errors are in the list
	return slices.DeleteFunc(all, func(f Forgotten) bool { return f.Err == nil })
}
