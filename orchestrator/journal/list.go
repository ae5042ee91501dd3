package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// State says who looks after a lab.
type State string

// The states of a lab.
const (
	Running   State = "running"   // its owner is alive
	Detached  State = "detached"  // it stays until it is taken down
	Abandoned State = "abandoned" // its owner died; Sweep removes it
	Broken    State = "broken"    // it lacks something; it stays until it is taken down
)

// Lab is one lab as List sees it.
type Lab struct {
	ID      string          `json:"id"`
	State   State           `json:"state"`
	Created time.Time       `json:"created"` // UTC; zero when the owner died before it wrote it
	Info    json.RawMessage `json:"info"`    // as given to Create or Describe
	Problem string          `json:"problem"` // of a broken one
	Entries []Entry         `json:"-"`       // what was recorded of a detached one
}

// List lists the labs below root, ordered by id. A root that does not exist
// has none.
func List(root string) ([]Lab, error) {
	ids, err := labIDs(root)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	var labs []Lab
	err = withRoot(context.Background(), root, func() error {
		for _, id := range ids {
			lab, err := look(root, id)
			if errors.Is(err, fs.ErrNotExist) {
				continue // taken down meanwhile
			}
			if err != nil {
				lab = Lab{ID: id, State: Broken, Problem: err.Error()}
			}
			labs = append(labs, lab)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list labs below %s: %w", root, err)
	}
	return labs, nil
}

// labIDs reads the folder names below root.
func labIDs(root string) ([]string, error) {
	dirs, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list labs: %w", err)
	}
	var ids []string
	for _, d := range dirs {
		if d.IsDir() && isID(d.Name()) {
			ids = append(ids, d.Name())
		}
	}
	return ids, nil
}

// look describes one lab. The caller holds the root's lock, so trying the
// lab's lock cannot get in anybody's way.
func look(root, id string) (Lab, error) {
	about, aboutErr := readAbout(filepath.Join(root, id))
	lab := Lab{ID: id, State: Abandoned, Created: about.Created, Info: about.Info}
	j, err := claim(root, id)
	if errors.Is(err, ErrRunning) {
		lab.State = Running
		return lab, nil
	}
	if err != nil {
		return Lab{}, err
	}
	if about.Detached {
		lab.State, aboutErr = Detached, j.load()
		lab.Entries = j.entries
	}
	return lab, errors.Join(aboutErr, j.Close())
}

// Sweep removes every lab below root whose owner is dead and that is not
// detached, and returns the ids of those removed. It goes on after a failure.
func Sweep(root string, undoers Undoers) ([]string, error) {
	labs, err := List(root)
	if err != nil {
		return nil, err
	}
	var swept []string
	var errs []error
	for _, lab := range labs {
		if lab.State == Broken {
			errs = append(errs, fmt.Errorf("lab %s stays (aqmlab lab down %[1]s removes it): %s", lab.ID, lab.Problem))
		}
		if lab.State != Abandoned {
			continue
		}
		j, err := Open(root, lab.ID)
		if errors.Is(err, ErrRunning) || errors.Is(err, fs.ErrNotExist) {
			continue // another process sweeps, or has swept, it
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if err := j.Undo(undoers); err != nil {
			errs = append(errs, err, j.Close())
			continue
		}
		swept = append(swept, lab.ID)
	}
	return swept, errors.Join(errs...)
}
