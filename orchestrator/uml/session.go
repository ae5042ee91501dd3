package uml

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/uml/guest"
)

// Guest is one order for a kernel of its own.
type Guest struct {
	Args   []string // of the program, so that it calls [guest.Main]
	Order  []byte
	Files  []string     // that it may read, by absolute path; they have the same path in the guest
	Image  string       // folder on the host that is the file system of [guest.Image]; empty: there is none
	Memory int          // MiB that the guest may use; the host gives what it does use
	Seed   uint64       // of all randomness in the guest
	Watch  func([]byte) // is told the order's progress; may be nil
	// Patience is the wall time without any progress after which a guest is
	// given up, though it works. Zero: two minutes.
	Patience time.Duration
}

// seed is what the guest's kernel gets for randomness.
func (g Guest) seed() []byte {
	sum := sha256.Sum256([]byte("aqmlab guest " + strconv.FormatUint(g.Seed, 10)))
	return sum[:]
}

// Session runs guests of one kernel whose process 1 is this program. Its folder
// in $TMPDIR holds a copy of the program, and a root folder for each guest.
type Session struct {
	kernel Kernel
	folder *folder
	files  []string      // that the program consists of: the paths of copies below the folder, and in guests
	guests atomic.Int64  // that have been started
	still  time.Duration // after which a guest is given up that does not even work; zero: seven seconds
	cpus   string        // sockets that say which CPUs guests have
}

// cpuSockets begins the names of the abstract sockets by which guests of all
// programs tell each other which processors are theirs. The kernel removes them
// with the program, however that ends.
const cpuSockets = "@aqmlab-uml-cpu"

// Open readies guests of a kernel. It also removes what killed processes of
// this user have left. The session must be closed.
func Open(k Kernel) (*Session, error) {
	files, err := ownFiles()
	if err != nil {
		return nil, fmt.Errorf("readying guests: %w", err)
	}
	f, err := newFolder(context.Background(), os.TempDir(), "aqmlab-uml-"+strconv.Itoa(os.Getuid()))
	if err != nil {
		return nil, fmt.Errorf("readying guests: %w", err)
	}
	if err := copyFiles(f.path, files); err != nil {
		return nil, errors.Join(fmt.Errorf("readying guests: %w", err), f.remove(context.Background()))
	}
	return &Session{kernel: k, folder: f, files: slices.Sorted(maps.Keys(files)), cpus: cpuSockets}, nil
}

// Close removes the session's folder. No guest may be running.
func (s *Session) Close() error {
	if err := s.folder.remove(context.Background()); err != nil {
		return fmt.Errorf("removing the guests' folder: %w", err)
	}
	return nil
}

// nextRoot is the root folder of the next guest.
func (s *Session) nextRoot() string {
	return filepath.Join(s.folder.path, strconv.FormatInt(s.guests.Add(1), 10))
}

// fill makes a guest's root folder: the program, the files, the folders to mount
// on, and what the guest is to do.
func (s *Session) fill(root string, g Guest) error {
	for _, dir := range guest.Mounts() {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			return err
		}
	}
	for _, file := range s.files {
		inside := filepath.Join(root, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(inside), 0o755), os.Link(filepath.Join(s.folder.path, file), inside)); err != nil {
			return err
		}
	}
	if g.Image != "" {
		if err := os.Symlink(g.Image, filepath.Join(root, guest.ImageLink)); err != nil {
			return err
		}
	}
	exchange := filepath.Join(root, guest.Dir)
	for name, text := range map[string][]byte{guest.OrderFile: g.Order, guest.SeedFile: g.seed()} {
		if err := os.WriteFile(filepath.Join(exchange, name), text, 0o644); err != nil {
			return err
		}
	}
	for _, file := range g.Files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		inside := filepath.Join(root, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(inside), 0o755), os.WriteFile(inside, text, 0o644)); err != nil {
			return err
		}
	}
	return nil
}

// begin is when every guest's calendar begins.
var begin = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// seat is a processor that a guest shares with no other guest; without a socket it
// is none, and the guest runs wherever there is room.
//
// A guest's kernel and its programs are processes that wait for each other at every
// system call: only one of them ever works. On one processor they change places in
// half the time that it takes to wake another processor.
type seat struct {
	cpu  int
	held net.Listener
}

// sit takes the first processor that no guest has, or none when all are taken or
// cannot be asked for: a guest runs without one, too, if slower.
func (s *Session) sit() seat {
	all, err := host.CPUs()
	if err != nil {
		return seat{}
	}
	for _, cpu := range all {
		if held, err := net.Listen("unix", fmt.Sprintf("%s-%d", s.cpus, cpu)); err == nil {
			return seat{cpu, held}
		}
	}
	return seat{}
}

// take puts the calling thread there, and what it starts.
func (s seat) take() error {
	if s.held == nil {
		return nil
	}
	return host.UseCPU(s.cpu)
}

func (s seat) leave() error {
	if s.held == nil {
		return nil
	}
	return s.held.Close()
}
