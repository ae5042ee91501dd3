package uml

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"aqmlab/orchestrator/uml/guest"
)

const (
	defaultPatience = 2 * time.Minute
	defaultStill    = 7 * time.Second
	lookEvery       = 200 * time.Millisecond // wall time between two looks at the progress
)

// Run boots a guest, waits for its end and returns its reply. It may be called
// by several goroutines. Errors are the order's own, or say how the guest ended,
// with its last words; then and when ctx ends nothing of it is left.
func (s *Session) Run(ctx context.Context, g Guest) ([]byte, error) {
	root := s.nextRoot()
	if err := s.fill(root, g); err != nil {
		return nil, errors.Join(fmt.Errorf("readying a guest: %w", err), os.RemoveAll(root))
	}
	place := s.sit()
	reply, err := s.boot(ctx, root, g, place)
	return reply, errors.Join(err, place.leave(), os.RemoveAll(root))
}

func (s *Session) boot(ctx context.Context, root string, g Guest, place seat) ([]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	console, err := os.Create(filepath.Join(root, "console"))
	if err != nil {
		return nil, err
	}
	defer console.Close()
	c := exec.CommandContext(ctx, s.kernel.Path, parameters(g)...)
	c.Dir, c.Stdout, c.Stderr = root, console, console
	// Its memory is a file, for which the environment could name another place
	// than the host's memory (/dev/shm). A C library in the kernel must not have the host
	// write into its processes (rseq): those of the guest have other memory there.
	c.Env = []string{"GLIBC_TUNABLES=glibc.pthread.rseq=0"}
	exchange := filepath.Join(root, guest.Dir)
	var watched sync.WaitGroup
	ended := runAttached(c, program{
		prepare: func() error { return errors.Join(fixedAddresses(), place.take()) },
		started: func(pid int) {
			watched.Go(func() { cancel(s.watch(ctx, filepath.Join(exchange, guest.ProgressFile), g, pid)) })
		},
	})
	why := context.Cause(ctx)
	cancel(nil)
	watched.Wait()
	if why != nil {
		if errors.Is(why, ErrStuck) { // of one that was interrupted nobody asks
			why = errors.Join(why, consoleTail(console, g.Memory))
		}
		return nil, why
	}
	return g.answer(exchange, ended, console)
}

// parameters are the kernel's, and after "--" those of the program. No path of
// the host is among them: the command line is part of what the kernel's random
// numbers are made of.
func parameters(g Guest) []string {
	return append([]string{
		"mem=" + strconv.Itoa(g.Memory) + "M",
		"time-travel=inf-cpu", "time-travel-start=" + strconv.FormatInt(begin.UnixNano(), 10),
		"norandmaps", "quiet",
		"con=null", "con0=null,fd:1", "console=tty0", // what is printed goes to our console file
		"uml_dir=.", "umid=guest",
		"hostfs=.", "rootfstype=hostfs", "rootflags=/", "root=98:0", "ro",
		collector, libraries,
		"init=/" + programName, "--",
	}, g.Args...)
}

// collector has the programs of a guest, which inherit it, collect garbage while
// they do nothing else. A thread that sweeps beside others may wait for one of
// them by looking again and again; in time that stands still meanwhile, no tick
// ever gives the only CPU to the other.
const collector = "GODEBUG=gcstoptheworld=2"

// libraries has the loader of a program that is not static find what it needs.
const libraries = "LD_LIBRARY_PATH=/" + libraryDir

// watch passes the progress on until ctx ends, or returns why the guest is to be given
// up: there was no progress for too long. It counts the time in which this process runs,
// too: both may have been stopped together.
func (s *Session) watch(ctx context.Context, file string, g Guest, pid int) error {
	patience := cmp.Or(g.Patience, defaultPatience)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	before, idle := "", idleness{pid: pid, still: cmp.Or(s.still, defaultStill)}
	for waited := time.Duration(0); ; waited += lookEvery {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		text, err := os.ReadFile(file)
		if err == nil && string(text) != before {
			waited, before = 0, string(text)
			idle.reset()
			if g.Watch != nil {
				g.Watch(text)
			}
			continue
		}
		if why := idle.look(); why != "" {
			return fmt.Errorf("%w: %s", ErrStuck, why)
		}
		if waited > patience {
			return fmt.Errorf("%w for %v of wall time", ErrStuck, patience)
		}
	}
}

// answer is what a guest that has ended left.
func (g Guest) answer(exchange string, ended error, console *os.File) ([]byte, error) {
	reply, err := os.ReadFile(filepath.Join(exchange, guest.ReplyFile))
	if err == nil {
		return reply, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(exchange, guest.ErrorFile))
	if err == nil {
		return nil, fmt.Errorf("in the guest: %s", text)
	}
	if ended == nil {
		ended = errors.New("it powered off")
	}
	return nil, errors.Join(fmt.Errorf("the guest ended without a reply: %w", ended), consoleTail(console, g.Memory))
}
