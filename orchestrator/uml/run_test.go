package uml

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// scripted is a session whose kernel is a shell script, which shows what becomes
// of kernels that end in every way. Real ones run in the end-to-end tests.
func scripted(t *testing.T, script string) *Session {
	t.Helper()
	f, err := newFolder(t.Context(), t.TempDir(), "guests")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		left, err := filepath.Glob(filepath.Join(f.path, "[0-9]*"))
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
		if err := f.remove(context.Background()); err != nil {
			t.Error(err)
		}
	})
	s := &Session{kernel: Kernel{Path: filepath.Join(f.path, "kernel")}, folder: f, files: []string{programName}, cpus: "@" + f.path}
	touch(t, filepath.Join(f.path, programName))
	if err := os.WriteFile(s.kernel.Path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRun(t *testing.T) {
	for name, c := range map[string]struct{ script, reply, err string }{
		"reply":          {script: "cat exchange/order > exchange/reply", reply: "do it"},
		"files":          {script: "cat .$FILE > exchange/reply", reply: "content"},
		"its own error":  {script: "printf 'no lab' > exchange/error", err: "in the guest: no lab"},
		"panic":          {script: "echo Kernel panic; exit 1", err: "without a reply: exit status 1\nthe guest's console ends with:\nKernel panic"},
		"out of memory":  {script: "echo 'Kernel panic - not syncing: Out of memory'; printf 'Stack:\\n 00000000 60b77990\\nCall Trace:\\n [<60375a81>] ? f+0x1/0x2\\n'; kill -6 $$", err: ErrMemory.Error() + ", of at most 300 MiB; its console ends with:\nKernel panic - not syncing: Out of memory"},
		"no room":        {script: "echo 'Bus error - the host /dev/shm or /tmp mount likely just ran out of space'; kill -6 $$", err: "/dev/shm, which holds the memory of guests, is full: make room there, or run fewer guests at once (--jobs); the guest's console ends with:\nBus error - the host /dev/shm or /tmp mount likely just ran out of space"},
		"silent end":     {script: "exit 0", err: "without a reply: it powered off\nthe guest wrote nothing on its console"},
		"cut off":        {script: "echo x > exchange/reply.new; kill -9 $$", err: "without a reply: signal: killed\nthe guest wrote nothing on its console"},
		"fixed layout":   {script: "cat /proc/self/personality > exchange/reply", reply: "00040000\n"},
		"no environment": {script: "echo $HOME$TMPDIR > exchange/reply", reply: "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "sizes.csv")
			if err := os.WriteFile(file, []byte("content"), 0o600); err != nil {
				t.Fatal(err)
			}
			s := scripted(t, "FILE="+file+"\n"+c.script)
			reply, err := s.Run(t.Context(), Guest{Order: []byte("do it"), Files: []string{file}, Memory: 300})
			if string(reply) != c.reply {
				t.Errorf("reply %q, want %q", reply, c.reply)
			}
			if (err != nil) != (c.err != "") || err != nil && !strings.HasSuffix(err.Error(), c.err) {
				t.Errorf("error %v, want %q", err, c.err)
			}
		})
	}
}

// TestRunStuck: a guest that tells no progress is given up, one that does is
// not, and its watcher hears of it.
func TestRunStuck(t *testing.T) {
	s := scripted(t, "echo working; printf 1 > exchange/progress; sleep 1000")
	var heard string
	_, err := s.Run(t.Context(), Guest{Patience: time.Second, Watch: func(p []byte) { heard = string(p) }})
	if !errors.Is(err, ErrStuck) || !strings.Contains(err.Error(), "working") {
		t.Errorf("got %v, want that it is stuck, and its console", err)
	}
	if heard != "1" {
		t.Errorf("the watcher heard %q", heard)
	}
}

// TestRunStill: a guest whose processes do nothing is given up long before its patience
// ends, whatever they wait for, and one whose kernel is never asked for anything. Busy
// guests are not.
func TestRunStill(t *testing.T) {
	const works = "n=0; while [ $n -lt 3000 ]; do n=$((n+1)); /bin/true; done; echo x > exchange/reply"
	for name, c := range map[string]struct{ script, err string }{
		"stopped":              {"kill -STOP $$", "(its state is T (stopped))"},
		"waits for nothing":    {"sleep 1000", "kill -STOP"},
		"a program is stopped": {"sleep 1000 & kill -STOP $!; wait", "(its state is T (stopped))"},
		"spins":                {"(while :; do :; done) & wait", "computes without end"},
		"works":                {works, ""},
		"works in a program":   {"(" + works + ") & while kill -0 $! 2>/dev/null; do /bin/sleep 0.01; done", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scripted(t, c.script)
			s.still = time.Second
			_, err := s.Run(t.Context(), Guest{})
			if c.err == "" && err != nil || c.err != "" && (!errors.Is(err, ErrStuck) || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("got %v, want %q", err, c.err)
			}
		})
	}
}

// held is a pipe for the processes of a guest to hold open, and what says when the
// last of them has ended.
func held(t *testing.T) (pipe string, ended func()) {
	t.Helper()
	pipe = filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	closed := make(chan error, 1)
	go func() {
		_, err := os.ReadFile(pipe) // until nobody has it open for writing
		closed <- err
	}()
	return pipe, func() {
		t.Helper()
		select {
		case err := <-closed:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(10 * time.Second):
			t.Error("a process of the guest is left")
		}
	}
}

// TestRunInterrupted: the end of the context ends the guest and all its processes.
func TestRunInterrupted(t *testing.T) {
	pipe, ended := held(t)
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	s := scripted(t, "exec 9>"+pipe+"; printf 1 > exchange/progress; (sleep 1000)")
	_, err := s.Run(ctx, Guest{Watch: func([]byte) { cancel(why) }})
	if !errors.Is(err, why) || strings.Contains(err.Error(), "console") {
		t.Errorf("got %v, want only %v", err, why)
	}
	ended()
}

// TestRunDies: the processes of a guest that ends by itself end with it.
func TestRunDies(t *testing.T) {
	pipe, ended := held(t)
	s := scripted(t, "exec 9>"+pipe+"; sleep 20 & kill -KILL $$")
	_, err := s.Run(t.Context(), Guest{})
	if err == nil || !strings.Contains(err.Error(), "signal: killed") {
		t.Errorf("got %v, want how it ended", err)
	}
	ended()
}

// TestRunNoFile: a file of the lab that is gone is named, and nothing is left.
func TestRunNoFile(t *testing.T) {
	s := scripted(t, "")
	if _, err := s.Run(t.Context(), Guest{Files: []string{"/no/such/file"}}); err == nil || !strings.Contains(err.Error(), "/no/such/file") {
		t.Errorf("got %v", err)
	}
}

// TestParameters: nothing on the kernel's command line depends on the host or
// the order, and the program's arguments come last.
func TestParameters(t *testing.T) {
	a := strings.Join(parameters(Guest{Memory: 300, Args: []string{"agent", "guest"}, Order: []byte("a"), Seed: 1}), " ")
	b := strings.Join(parameters(Guest{Memory: 300, Args: []string{"agent", "guest"}, Order: []byte("b"), Seed: 2}), " ")
	if a != b || !strings.Contains(a, "mem=300M ") || !strings.HasSuffix(a, " -- agent guest") {
		t.Errorf("%s\n%s", a, b)
	}
}

// TestSeeds: guests of one seed get the same randomness, others other.
func TestSeeds(t *testing.T) {
	one, again, two := Guest{Seed: 1}.seed(), Guest{Seed: 1, Order: []byte("x")}.seed(), Guest{Seed: 2}.seed()
	if string(one) != string(again) || string(one) == string(two) || len(one) != 32 {
		t.Errorf("%x, %x, %x", one, again, two)
	}
}
