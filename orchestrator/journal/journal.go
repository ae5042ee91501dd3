// Package journal remembers on disk what a lab has made, so that any later
// command can remove exactly that, however the lab's owner ended.
//
// A lab has a folder, named by its id, below a root (usually DefaultRoot):
//
//	journal   one JSON object a line, written and synced before the thing it
//	          names is made
//	lab.json  what `lab status` shows; replaced whole
//	lock      locked by the owner while it runs
//
// The lock is an flock, which the kernel drops with the owner's last
// descriptor: a dead owner is recognised without process ids, which are
// reused.
package journal

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// DefaultRoot is the folder of all labs of this machine. It lies in /run
// because nothing that a lab makes outlives a reboot.
const DefaultRoot = "/run/aqmlab"

// Root is the folder of this user's labs: that of the environment, else [DefaultRoot] for
// root and for others one that goes when they log out, if they have such, or a temporary
// one.
func Root() string {
	if dir := os.Getenv(RootVar); dir != "" {
		return dir
	}
	if os.Geteuid() == 0 {
		return DefaultRoot
	}
	own := os.Getenv("XDG_RUNTIME_DIR")
	if info, err := os.Stat(own); err == nil && owned(own, info) == nil {
		return filepath.Join(own, "aqmlab")
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("aqmlab-%d", os.Geteuid()))
}

// Create makes the folder of a new lab below root, with info as its
// description, and locks it for the calling process. It waits for other processes
// that look at the labs until ctx ends.
func Create(ctx context.Context, root string, info any) (*Journal, error) {
	raw, err := json.Marshal(info)
	if err != nil {
		return nil, fmt.Errorf("create lab: description: %w", err)
	}
	if err := os.MkdirAll(root, folderMode); err != nil {
		return nil, fmt.Errorf("create lab: %w", err)
	}
	var j *Journal
	err = withRoot(ctx, root, func() error {
		id, err := claimID(root)
		if err != nil {
			return err
		}
		if j, err = claim(root, id); err != nil {
			return errors.Join(err, os.RemoveAll(filepath.Join(root, id))) // nobody knows of it yet
		}
		j.about = about{Created: time.Now().UTC().Truncate(time.Millisecond), Info: raw}
		return errors.Join(j.open(), j.writeAbout())
	})
	if err != nil {
		if j != nil {
			err = errors.Join(err, j.Undo(nil))
		}
		return nil, fmt.Errorf("create lab below %s: %w", root, err)
	}
	return j, nil
}

// claimID makes the folder of an id that is free.
func claimID(root string) (string, error) {
	for range idTries {
		var b [idBytes]byte
		rand.Read(b[:]) // never fails: see crypto/rand
		id := hex.EncodeToString(b[:])
		err := os.Mkdir(filepath.Join(root, id), folderMode)
		if err == nil || !errors.Is(err, fs.ErrExist) {
			return id, err
		}
	}
	return "", fmt.Errorf("no free lab id in %d tries", idTries)
}

// Open takes over the lab id, whose owner has ended or has detached it, to
// change or undo it. The error wraps ErrRunning while an owner is alive and
// fs.ErrNotExist when there is no such lab.
func Open(root, id string) (*Journal, error) {
	if !isID(id) {
		return nil, fmt.Errorf("open lab %q: %w", id, fs.ErrNotExist)
	}
	var j *Journal
	err := withRoot(context.Background(), root, func() (err error) {
		if j, err = claim(root, id); err != nil {
			return err
		}
		if err := j.load(); err != nil {
			return errors.Join(err, j.Close())
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("open lab %s: %w", id, err)
	}
	return j, nil
}

// ID returns the lab's id: four hexadecimal digits.
func (j *Journal) ID() string { return j.id }

// Entries are what was recorded, the oldest first.
func (j *Journal) Entries() []Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.entries)
}

// Record writes entries to disk. Call it before the things they name are
// made: what is recorded and was never made costs nothing to undo.
func (j *Journal) Record(entries ...Entry) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.append(entries); err != nil {
		return fmt.Errorf("record in lab %s: %w", j.id, err)
	}
	j.entries = append(j.entries, entries...)
	return nil
}

// Describe replaces the lab's description.
func (j *Journal) Describe(info any) error {
	raw, err := json.Marshal(info)
	if err != nil {
		return fmt.Errorf("describe lab %s: %w", j.id, err)
	}
	return j.rewrite(func(a *about) { a.Info = raw })
}

// Detach makes the lab stay after its owner's end and closes the journal.
func (j *Journal) Detach() error {
	if err := j.rewrite(func(a *about) { a.Detached = true }); err != nil {
		return err
	}
	return j.Close()
}

// Abandon closes the journal of a lab of which only a part is left. Sweep removes it from then
// on, even if it was detached.
func (j *Journal) Abandon() error {
	if err := j.rewrite(func(a *about) { a.Detached = false }); err != nil {
		return err
	}
	return j.Close()
}

// Close gives up the lab without removing anything. A lab that was not
// detached counts as abandoned from then on.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.close()
}

// Undoer removes things of one kind, given newest first. What is gone
// already, or was never made, is no error. It gets many at a time because the
// kernel removes a hundred namespaces together about as fast as one.
type Undoer func(entries []Entry) error

// Undoers says how each kind of thing is removed.
type Undoers map[Kind]Undoer

// Undo removes everything that was recorded, newest first, and at last the
// lab's folder. It goes on after a failure; then the folder stays, and a later
// Undo, Open or Sweep tries again. Undoing twice is no error.
func (j *Journal) Undo(undoers Undoers) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.lock == nil {
		return nil
	}
	var errs []error
	for _, run := range runs(j.entries) {
		undo, ok := undoers[run[0].Kind]
		if !ok {
			errs = append(errs, fmt.Errorf("no way to remove a %s (%s): a later version of aqmlab made it, so have that one remove it", run[0].Kind, run[0].Name))
			continue
		}
		if err := undo(run); err != nil && !slices.ContainsFunc(errs, func(e error) bool { return e.Error() == err.Error() }) {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("undo lab %s: %w", j.id, err)
	}
	// Under the root's lock, so that nobody opens a folder that is half gone.
	err := withRoot(context.Background(), j.root, func() error { return os.RemoveAll(j.Dir()) })
	if err != nil {
		return fmt.Errorf("undo lab %s: %w", j.id, err)
	}
	return j.close()
}

// runs splits entries, newest first, into stretches of one kind.
func runs(entries []Entry) [][]Entry {
	entries = slices.Clone(entries)
	slices.Reverse(entries)
	var out [][]Entry
	for len(entries) > 0 {
		n := slices.IndexFunc(entries, func(e Entry) bool { return e.Kind != entries[0].Kind })
		if n < 0 {
			n = len(entries)
		}
		out = append(out, entries[:n:n])
		entries = entries[n:]
	}
	return out
}

// RemoveFiles is the Undoer of File.
func RemoveFiles(entries []Entry) error {
	var errs []error
	for _, e := range entries {
		if err := os.Remove(e.Name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
