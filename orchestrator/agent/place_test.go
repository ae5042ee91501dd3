package agent_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/journal"
)

// join is the main function of the first process of a container.
func join(socket string, args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGTERM)
	defer stop()
	status, err := agent.Join(ctx, socket, args)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 99
	}
	return status
}

// elsewhere is a place whose processes are not told their descriptors by who
// starts them, as those of a container are not.
type elsewhere struct {
	socket string
	lost   bool // what is started never comes to the meeting
}

type body struct{ *exec.Cmd }

func (b body) PID() int    { return b.Process.Pid }
func (b body) Kill() error { return b.Process.Kill() }

func (e elsewhere) Launch(ctx context.Context, c agent.Command) (agent.Body, error) {
	meeting, err := agent.Meet(e.socket)
	if err != nil {
		return nil, err
	}
	defer meeting.Close()
	cmd := exec.Command(os.Args[0], append([]string{"join", e.socket}, c.Args...)...)
	if e.lost {
		cmd = exec.Command("sleep", "1000")
	}
	cmd.SysProcAttr = &unix.SysProcAttr{Pdeathsig: unix.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	pid, err := meeting.Hand(ctx, c)
	if err == nil && pid != cmd.Process.Pid {
		err = fmt.Errorf("process %d came, not %d", pid, cmd.Process.Pid)
	}
	if err != nil {
		return nil, errors.Join(err, cmd.Process.Kill(), ignoreExit(cmd.Wait()))
	}
	return body{cmd}, nil
}

func ignoreExit(err error) error {
	if errors.As(err, new(*exec.ExitError)) {
		return nil
	}
	return err
}

// TestPlace: an agent elsewhere is an agent as any other: it answers, has the
// files and a session of its own, and its last words are kept.
func TestPlace(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer write.Close()
	var recorded []journal.Entry
	socket := filepath.Join(t.TempDir(), "socket")
	p, err := agent.Spawn(t.Context(), agent.Options{
		Role:  "echo",
		Args:  []string{"a", "b"},
		Place: elsewhere{socket: socket},
		Files: []*os.File{write},
		Record: func(e ...journal.Entry) error {
			recorded = append(recorded, e...)
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is still there after the meeting: %v", err)
	}
	if len(recorded) != 1 || recorded[0].PID != p.PID() {
		t.Errorf("recorded %+v, want process %d", recorded, p.PID())
	}
	var about About
	if err := p.Call(t.Context(), "About", agent.Nothing{}, &about); err != nil {
		t.Fatal(err)
	}
	if about.Args != "a b" || about.Session != "true" {
		t.Errorf("the agent says %+v", about)
	}
	if err := p.Call(t.Context(), "Write", "hello", &agent.Nothing{}); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len("hello"))
	if _, err := read.Read(got); err != nil || string(got) != "hello" {
		t.Errorf("the file got %q, %v", got, err)
	}
	err = p.Call(t.Context(), "Die", "last words", &agent.Nothing{})
	if !errors.Is(err, agent.ErrDied) || !strings.Contains(err.Error(), "last words") || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("error %v; want ErrDied, its last words and exit status", err)
	}
	if err := p.Stop(t.Context()); err != nil {
		t.Errorf("stop: %v", err)
	}
}

// TestPlaceStop: an agent elsewhere ends when it is asked to.
func TestPlaceStop(t *testing.T) {
	p, err := agent.Spawn(t.Context(), agent.Options{Role: "echo", Place: elsewhere{socket: filepath.Join(t.TempDir(), "socket")}})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	<-p.Done()
}

// TestPlaceLost: a process that never comes for its files is not waited for
// longer than the caller wants.
func TestPlaceLost(t *testing.T) {
	why := errors.New("had enough")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, why)
	defer cancel()
	_, err := agent.Spawn(ctx, agent.Options{Role: "echo", Place: elsewhere{filepath.Join(t.TempDir(), "socket"), true}})
	if !errors.Is(err, why) || !strings.Contains(err.Error(), "start agent echo") {
		t.Errorf("error %v; want %v", err, why)
	}
}

// TestJoinReaps: the first process is a parent to orphans, and ends with its
// own program, whose status it has, or when it is told to.
func TestJoinReaps(t *testing.T) {
	tests := []struct {
		name   string
		script string
		signal unix.Signal
		want   int
	}{
		{"status", "exit 7", 0, 7},
		{"orphan", "(sleep 0.01 &) ; exec sleep 0.1", 0, 0},
		{"killed", "kill -9 $$", 0, 128 + int(unix.SIGKILL)},
		{"told to", "echo ready >&2; exec sleep 1000", unix.SIGTERM, 128 + int(unix.SIGTERM)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			socket := filepath.Join(t.TempDir(), "socket")
			meeting, err := agent.Meet(socket)
			if err != nil {
				t.Fatal(err)
			}
			defer meeting.Close()
			read, write, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer read.Close()
			cmd := exec.Command(os.Args[0], "join", socket, "shell", tt.script)
			cmd.Stderr = os.Stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := meeting.Hand(t.Context(), agent.Command{Stderr: write}); err != nil {
				t.Fatal(err)
			}
			write.Close()
			if tt.signal != 0 {
				if _, err := read.Read(make([]byte, 1)); err != nil {
					t.Fatal(err)
				}
				if err := cmd.Process.Signal(tt.signal); err != nil {
					t.Fatal(err)
				}
			}
			if err := ignoreExit(cmd.Wait()); err != nil {
				t.Fatal(err)
			}
			if got := cmd.ProcessState.ExitCode(); got != tt.want {
				t.Errorf("exit status %d, want %d", got, tt.want)
			}
		})
	}
}

// TestJoinWithoutOwner: a container whose owner has gone ends by itself.
func TestJoinWithoutOwner(t *testing.T) {
	if _, err := agent.Join(t.Context(), filepath.Join(t.TempDir(), "socket"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v; want that there is no socket", err)
	}
}
