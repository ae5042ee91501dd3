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
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// DefaultRoot is the folder of all labs of this machine. It lies in /run
// because nothing that a lab makes outlives a reboot.
const DefaultRoot = "/run/aqmlab"

// RootVar is the environment variable that names another folder, for labs that
// commands with the default one shall neither list nor remove.
const RootVar = "AQMLAB_STATE"

// ErrRunning is wrapped by the error of Open for a lab whose owner is alive.
var ErrRunning = errors.New("owner is running")

// ErrRemoved is wrapped by the errors of a journal that was undone or closed.
var ErrRemoved = errors.New("journal is closed")

// Kind says what sort of thing an entry names, and so how it is removed.
type Kind string

// The kinds of things that a lab makes.
const (
	Namespace Kind = "namespace" // a network namespace, by its name in /run/netns
	Process   Kind = "process"   // a process, by PID and Start
	File      Kind = "file"      // a file or socket, by its path
	Congctl   Kind = "congctl"   // a TCP congestion control, by its name in the kernel
	Container Kind = "container" // a Docker container, by its name
)

// Entry names one thing that is about to be made, with all that removing it
// takes.
type Entry struct {
	Kind  Kind   `json:"kind"`
	Name  string `json:"name"`
	PID   int    `json:"pid,omitempty"`   // processes only
	Start uint64 `json:"start,omitempty"` // processes only: start time in clock ticks since boot, field 22 of /proc/PID/stat
}

// Journal is the state folder of one lab, held by its owner. It is safe for
// use by several goroutines.
type Journal struct {
	id   string
	root string

	mu      sync.Mutex
	lock    *os.File // nil once closed
	log     *os.File
	entries []Entry
	about   about
}

const (
	idBytes  = 2
	idTries  = 256
	lockName = "lock" // in the root and in every lab's folder
	logName  = "journal"
	infoName = "lab.json"
)

// Create makes the folder of a new lab below root, with info as its
// description, and locks it for the calling process.
func Create(root string, info any) (*Journal, error) {
	raw, err := json.Marshal(info)
	if err != nil {
		return nil, fmt.Errorf("create lab: description: %w", err)
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, fmt.Errorf("create lab: %w", err)
	}
	var j *Journal
	err = withRoot(root, func() error {
		id, err := claimID(root)
		if err != nil {
			return err
		}
		if j, err = claim(root, id); err != nil {
			return err
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
		err := os.Mkdir(filepath.Join(root, id), 0o755)
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
	err := withRoot(root, func() (err error) {
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

// Dir returns the lab's folder, where its sockets and logs go.
func (j *Journal) Dir() string { return filepath.Join(j.root, j.id) }

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

func (j *Journal) append(entries []Entry) error {
	if j.log == nil {
		return ErrRemoved
	}
	var lines bytes.Buffer
	for _, e := range entries {
		if err := json.NewEncoder(&lines).Encode(e); err != nil {
			return err
		}
	}
	if _, err := j.log.Write(lines.Bytes()); err != nil {
		return err
	}
	return j.log.Sync()
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

// Close gives up the lab without removing anything. A lab that was not
// detached counts as abandoned from then on.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.close()
}

func (j *Journal) close() error {
	if j.lock == nil {
		return nil
	}
	var err error
	if j.log != nil {
		err = j.log.Close()
	}
	err = errors.Join(err, j.lock.Close())
	j.lock, j.log = nil, nil
	return err
}
