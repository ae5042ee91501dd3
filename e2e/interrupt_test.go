//go:build linux

package e2e

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"aqmlab/results"
	"aqmlab/results/store"
)

// interruptible is a command in a state in which it waits or works for long.
type interruptible struct {
	name string
	args []string
	// begin starts the command and returns when it is in that state.
	begin func(t *testing.T, c *exec.Cmd)
	code  int // its exit code after an interrupt, if that is not the shells' one
}

// TestInterruptible: the first signal ends every command, with the exit code that
// shells expect.
func TestInterruptible(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := largeRun(t, dir)
	fifo := func(t *testing.T, name string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	lab, quick := labFile(t, endless), []string{"--loads", "0.9", "--flows", "1000000"}
	odd := fifo(t, "lab.yaml")
	broken := filepath.Join(dir, "20260101T000000Z-broken-0123abcd")
	if err := errors.Join(os.Mkdir(broken, 0o755), syscall.Mkfifo(filepath.Join(broken, "manifest.json"), 0o600)); err != nil {
		t.Fatal(err)
	}
	archive := fifo(t, "linux.tar")
	for _, tt := range []interruptible{
		{"lab from a FIFO", []string{"lab", "check", odd}, onceRead(odd), 0},
		{"run of a FIFO", []string{"run", odd}, onceRead(odd), 0},
		{"manifest from a FIFO", []string{"results", "show", broken}, onceRead(filepath.Join(broken, "manifest.json")), 0},
		{"question", []string{"results", "rm", run}, onceAsked, 0},
		{"compare", []string{"compare", run}, onceBusy, 0},
		{"report", []string{"report", run, "--out", filepath.Join(dir, "report.html")}, onceBusy, 0},
		{"export into a full pipe", []string{"results", "export", run, "--table", "flows"}, onceFull, 0},
		{"serve", []string{"serve", dir, "--port", "0"}, onceSaid("Serving"), 0},
		{"simulation", append([]string{"run", lab, "--runtime", "sim", "--out", t.TempDir()}, quick...), onceBusy, 0},
		{"sweep", []string{"sweep", lab, "--over", "workload.load=0.5,0.9", "--store", t.TempDir()}, onceSaid("to measure"), 0},
		{"tune", []string{"tune", lab, "--scheme", "tcn", "--store", t.TempDir()}, onceBusy, 0},
		{"reproduce", []string{"reproduce", "tcn-fig6", "--full", "--out", t.TempDir()}, onceSaid("to run"), 0},
		{"kernel build", []string{"kernel", "build", "--source", archive}, onceRead(archive), 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
				c := command(t, plainVar, tt.args...)
				c.Env = append(c.Env, "XDG_CACHE_HOME="+filepath.Join(dir, "cache"))
				tt.begin(t, c)
				want := 128 + int(s)
				if tt.name == "serve" {
					want = 0 // its only end
				}
				if got := signalled(t, c, s); got != want {
					t.Errorf("%v: exit code %d, want %d", s, got, want)
				}
			}
		})
	}
	if _, err := store.Open(run); err != nil {
		t.Errorf("the run after all: %v", err)
	}
}

// endless is a lab that nobody waits for.
const endless = `
name: endless
topology: {hosts: 9, rate: 10Gbps}
rtt: 100us
schemes: [{name: tcn, aqm: tcn}]
workload: {sizes: {kind: fixed, size: 1MB}, load: 0.9, flows: 300000}
`

// signalled sends a command a signal, waits for its end, and returns its exit code; -1
// when the signal itself ended it. That takes a moment: the test ends what has not ended
// by itself when a command of long duration is not yet done.
func signalled(t *testing.T, c *exec.Cmd, s syscall.Signal) int {
	t.Helper()
	if err := c.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
	hung := time.AfterFunc(20*time.Second, func() { _ = c.Process.Kill() })
	defer hung.Stop()
	_ = c.Wait()
	return c.ProcessState.ExitCode()
}

func start(t *testing.T, c *exec.Cmd) {
	t.Helper()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
}

// onceRead starts commands that read a FIFO, into which nobody writes.
func onceRead(path string) func(*testing.T, *exec.Cmd) {
	return func(t *testing.T, c *exec.Cmd) {
		start(t, c)
		var writer *os.File
		waitFor(t, func() (ok bool) {
			fd, err := unix.Open(path, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
			if err == nil {
				writer = os.NewFile(uintptr(fd), path)
			}
			return err == nil
		})
		t.Cleanup(func() { writer.Close() })
	}
}

// onceAsked starts commands on a terminal that ask there.
func onceAsked(t *testing.T, c *exec.Cmd) {
	terminal, err := pty.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { terminal.Close() })
	if text, err := bufio.NewReader(terminal).ReadString(']'); err != nil || !strings.Contains(text, "[y/N]") {
		t.Fatalf("asked %q, %v", text, err)
	}
}

// onceSaid starts commands that say a text when they are under way.
func onceSaid(text string) func(*testing.T, *exec.Cmd) {
	return func(t *testing.T, c *exec.Cmd) { startCommand(t, c, text) }
}

// onceFull starts commands that write more than anybody reads.
func onceFull(t *testing.T, c *exec.Cmd) {
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() })
	c.Stdout = in
	start(t, c)
	in.Close()
	size, err := unix.FcntlInt(out.Fd(), unix.F_GETPIPE_SZ, 0)
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool {
		n, err := unix.IoctlGetInt(int(out.Fd()), unix.TIOCINQ)
		return err == nil && n > size-4096
	})
}

// onceBusy starts commands that have much to compute.
func onceBusy(t *testing.T, c *exec.Cmd) {
	c.Stdout, c.Stderr = io.Discard, io.Discard
	start(t, c)
	waitFor(t, func() bool { return processorTime(c.Process.Pid) > 300*time.Millisecond })
}

// processorTime is what a process has used.
func processorTime(pid int) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest) // from the third on, the state
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// largeRun stores a run that takes long to compare, and returns its folder.
func largeRun(t *testing.T, root string) string {
	t.Helper()
	w, err := store.Create(root, results.Manifest{
		Version: "v1.2.3", Start: time.Now(), Runtime: "sim", Dilation: 1, Transport: results.Transport{Name: "dctcp", Provider: "model"},
		Lab: "large", Schemes: []string{"droptail", "tcn"}, Loads: []float64{0.9}, Seeds: []uint64{1}, Baseline: "droptail",
	}, []byte("name: large\nschemes: [{name: droptail, aqm: droptail}, {name: tcn, aqm: tcn}]\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, scheme := range []string{"droptail", "tcn"} {
		p := results.Point{Coord: results.Coord{Scheme: scheme, Load: 0.9, Seed: 1}, Fidelity: results.Fidelity{Label: results.FidelityExact}}
		for k := range int64(400_000) {
			size := int64(20_000) << (k % 12)
			at := time.Duration(k) * time.Millisecond
			fct := time.Duration(size * (9 + (k*k)%(7+int64(i))))
			p.Flows = append(p.Flows, results.Flow{ID: k, Start: at, Sent: at, FCT: fct, Bytes: size, Received: size, Server: 1})
		}
		if err := w.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := w.Finish(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestInterruptLocked: commands that wait for another aqmlab, which has the labs of the
// machine locked, end, and so do runs.
func TestInterruptLocked(t *testing.T) {
	t.Parallel()
	needRoot(t)
	locked := lockState(t)
	defer locked.Close()
	run := command(t, plainVar, "run", labFile(t, small), "--runtime", "netns", "--out", t.TempDir())
	start(t, run)
	waitFor(t, func() bool { return hasOpen(run.Process.Pid, locked.Name()) })
	if got := signalled(t, run, syscall.SIGINT); got != 130 {
		t.Errorf("run: exit code %d, want 130", got)
	}
	lab := filepath.Join(filepath.Dir(locked.Name()), "00ff")
	if err := os.Mkdir(lab, 0o700); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(lab)
	for _, args := range [][]string{{"lab", "status"}, {"lab", "list"}, {"lab", "down", "--all"}} {
		c := command(t, plainVar, args...)
		start(t, c)
		waitFor(t, func() bool { return hasOpen(c.Process.Pid, locked.Name()) })
		if got := signalled(t, c, syscall.SIGTERM); got != 143 {
			t.Errorf("%v: exit code %d, want 143", args, got)
		}
	}
}

// TestSecondSignal: a run whose clean-up waits ends by the second signal, and the next
// command removes what it left.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	needRoot(t)
	for _, second := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		s := startUntil(t, "[2/3]")
		locked := lockState(t)
		if err := s.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		waitFor(t, func() bool { return hasOpen(s.Process.Pid, locked.Name()) })
		if code := signalled(t, s.Cmd, second); code != -1 {
			t.Errorf("exit code %d, want an end by the signal", code)
		}
		if got := s.ProcessState.Sys().(syscall.WaitStatus).Signal(); got != second {
			t.Errorf("ended by %v, want %v", got, second)
		}
		locked.Close()
		aqmlab(t, plainVar, 0, "lab", "list")
		nothingLeft(t)
	}
}

// lockState locks the state folder, as an aqmlab does that looks at the labs.
func lockState(t *testing.T) *os.File {
	t.Helper()
	state := stateOf(t)
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(state, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// hasOpen tells whether a process has a file open.
func hasOpen(pid int, path string) bool {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, file := range files {
		if to, err := os.Readlink(file); err == nil && to == path {
			return true
		}
	}
	return false
}
