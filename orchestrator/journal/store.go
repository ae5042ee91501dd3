package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"aqmlab/bounded"
)

// ErrRunning is wrapped by the error of Open for a lab whose owner is alive.
var ErrRunning = errors.New("owner is running")

// ErrRemoved is wrapped by the errors of a journal that was undone or closed.
var ErrRemoved = errors.New("journal is closed")

// maxFile is more than the journal of the largest lab has.
const maxFile = 64 << 20

// Kind says what sort of thing an entry names, and so how it is removed.
type Kind string

// The kinds of things that a lab makes.
const (
	Namespace Kind = "namespace" // a network namespace, by its name in /run/netns
	Process   Kind = "process"   // a process, by PID and Start
	File      Kind = "file"      // a file or socket, by its path
	Congctl   Kind = "congctl"   // a TCP congestion control, by its name in the kernel
	Container Kind = "container" // a Docker container, by its name
	Volume    Kind = "volume"    // a Docker volume, by its name
	Machine   Kind = "machine"   // what another machine has of the lab, by the machine's name and Detail
)

// Entry names one thing that is about to be made, with all that removing it
// takes.
type Entry struct {
	Kind  Kind   `json:"kind"`
	Name  string `json:"name"`
	PID   int    `json:"pid,omitempty"`   // processes only
	Start uint64 `json:"start,omitempty"` // processes only: start time in clock ticks since boot, field 22 of /proc/PID/stat
	// Detail is what removing takes beside the name; of machines only.
	Detail string `json:"detail,omitempty"`
}

// check refuses a name that leads out of where things of its kind are.
func (e Entry) check() error {
	parts := strings.Split(e.Name, "/")
	if slices.Contains(parts, "..") || e.Kind != File && len(parts) > 1 {
		return fmt.Errorf("%s %q: its name leads elsewhere", e.Kind, e.Name)
	}
	return nil
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

// Dir returns the lab's folder, where its sockets and logs go.
func (j *Journal) Dir() string { return filepath.Join(j.root, j.id) }

const (
	idBytes  = 2
	idTries  = 256
	lockName = "lock" // in the root and in every lab's folder
	logName  = "journal"
	infoName = "lab.json"
)

// about is the content of lab.json.
type about struct {
	Created  time.Time       `json:"created"`
	Detached bool            `json:"detached"`
	Info     json.RawMessage `json:"info"`
}

// isID tells whether a folder's name is one that Create gives.
func isID(name string) bool {
	return len(name) == 2*idBytes && strings.Trim(name, "0123456789abcdef") == ""
}

// withRoot runs f while no other process creates, takes over, lists or
// removes a lab below root. It is what makes "make the folder, then lock it"
// one step for everybody else.
func withRoot(ctx context.Context, root string, f func() error) (err error) {
	if err := ownFolder(root); err != nil {
		return err
	}
	lock, err := openOwn(filepath.Join(root, lockName), os.O_CREATE)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := await(ctx, lock); err != nil {
		return err
	}
	return f()
}

// pollEvery is how often a lock is tried that another process has.
const pollEvery = 20 * time.Millisecond

// await locks f as soon as no other process has it locked, unless ctx ends before.
func await(ctx context.Context, f *os.File) error {
	if ctx.Done() == nil {
		return flock(f, unix.LOCK_EX)
	}
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		err := flock(f, unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("waiting for another aqmlab, which has %s locked: %w", f.Name(), context.Cause(ctx))
		}
	}
}

// flock locks f in the given way; the lock ends with the descriptor.
func flock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			return os.NewSyscallError("flock "+f.Name(), err)
		}
	}
}

// claim locks the folder of lab id. The caller holds the root's lock.
func claim(root, id string) (*Journal, error) {
	// No folder is made here, but a lock file is: an owner may have been
	// killed between the two.
	if err := ownFolder(filepath.Join(root, id)); err != nil {
		return nil, err
	}
	lock, err := openOwn(filepath.Join(root, id, lockName), os.O_CREATE)
	if err != nil {
		return nil, err
	}
	if err := flock(lock, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = ErrRunning
		}
		return nil, errors.Join(err, lock.Close())
	}
	return &Journal{id: id, root: root, lock: lock}, nil
}

// load reads what an earlier owner left. To remove a lab takes no description.
func (j *Journal) load() (err error) {
	j.about, _ = readAbout(j.Dir())
	if err := j.open(); err != nil {
		return err
	}
	raw, err := bounded.ReadFile(j.log.Name(), maxFile)
	if err != nil {
		return err
	}
	// A line without its end was cut off by the owner's death, so what it
	// names was never made; cut it away, lest the next entry be glued to it.
	whole := bytes.LastIndexByte(raw, '\n') + 1
	if err := j.log.Truncate(int64(whole)); err != nil {
		return err
	}
	if j.entries, err = decode(raw[:whole]); err != nil {
		err = fmt.Errorf("%s: %w", j.log.Name(), err)
	}
	return err
}

// decode reads journal lines.
func decode(raw []byte) ([]Entry, error) {
	var entries []Entry
	number := 0
	for line := range bytes.Lines(raw) {
		number++
		var e Entry
		err := json.Unmarshal(line, &e)
		if err == nil {
			err = e.check()
		}
		if err != nil {
			return nil, fmt.Errorf("journal line %d: %w", number, err)
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// open opens the journal proper for appending.
func (j *Journal) open() (err error) {
	j.log, err = openOwn(filepath.Join(j.Dir(), logName), os.O_CREATE|os.O_APPEND)
	return err
}

// readAbout reads a lab's description; one that was never written is empty.
func readAbout(dir string) (about, error) {
	var a about
	raw, err := bounded.ReadFile(filepath.Join(dir, infoName), maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil
	}
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		return a, fmt.Errorf("%s of lab %s: %w", infoName, filepath.Base(dir), err)
	}
	return a, nil
}

// rewrite changes lab.json.
func (j *Journal) rewrite(change func(*about)) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.lock == nil {
		return fmt.Errorf("describe lab %s: %w", j.id, ErrRemoved)
	}
	change(&j.about)
	if err := j.writeAbout(); err != nil {
		return fmt.Errorf("describe lab %s: %w", j.id, err)
	}
	return nil
}

// writeAbout replaces lab.json whole, so that no reader sees half of it.
func (j *Journal) writeAbout() error {
	raw, err := json.MarshalIndent(j.about, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(j.Dir(), infoName)
	f, err := openOwn(path+".new", os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	_, err = f.Write(append(raw, '\n'))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func (j *Journal) append(entries []Entry) error {
	if j.log == nil {
		return ErrRemoved
	}
	var lines bytes.Buffer
	for _, e := range entries {
		if err := e.check(); err != nil {
			return err
		}
		if err := json.NewEncoder(&lines).Encode(e); err != nil {
			return err
		}
	}
	if _, err := j.log.Write(lines.Bytes()); err != nil {
		return err
	}
	return j.log.Sync()
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
