//go:build linux

package e2e

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aqmlab/results"
	"aqmlab/results/store"
)

// started is a run that has been started and watched until its output holds a
// text.
type started struct {
	*exec.Cmd
	out string // folder of its results
}

// startUntil starts a run and returns when its progress shows the text.
func startUntil(t *testing.T, text string) started {
	t.Helper()
	out := t.TempDir()
	s := startCommand(t, command(t, raceVar, "run", labFile(t, small), "--out", out), text)
	s.out = out
	return s
}

// startCommand starts a command and returns when its stderr shows the text.
func startCommand(t *testing.T, c *exec.Cmd, text string) started {
	t.Helper()
	s := started{Cmd: c}
	pipe, err := s.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	seen, buffer := []byte{}, make([]byte, 4096)
	for !bytes.Contains(seen, []byte(text)) {
		n, err := pipe.Read(buffer)
		seen = append(seen, buffer[:n]...)
		if err != nil {
			t.Fatalf("the run ended before it said %q: %v\n%s", text, err, seen)
		}
	}
	go func() { _, _ = io.Copy(io.Discard, pipe) }() // ends with the process
	return s
}

// startUntilUp starts a run and returns as soon as it has made a namespace.
func startUntilUp(t *testing.T) started {
	t.Helper()
	s := started{out: t.TempDir()}
	s.Cmd = command(t, raceVar, "run", labFile(t, small), "--out", s.out)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool {
		for _, id := range labsIn(os.Getenv(stateVar)) {
			if made, _ := filepath.Glob("/run/netns/aqm-" + id + "-*"); len(made) > 0 {
				return true
			}
		}
		return false
	})
	return s
}

// TestEndWhileComingUp ends a run in the middle of its bring-up, by Ctrl-C and
// by kill -9.
func TestEndWhileComingUp(t *testing.T) {
	needRoot(t)
	for name, signal := range map[string]os.Signal{"interrupt": os.Interrupt, "kill": os.Kill} {
		t.Run(name, func(t *testing.T) {
			s := startUntilUp(t)
			if err := s.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			_ = s.Wait()
			if signal == os.Kill {
				aqmlab(t, plainVar, 0, "lab", "list")
			} else if code := s.ProcessState.ExitCode(); code != 130 {
				t.Errorf("exit code %d, want 130", code)
			}
			nothingLeft(t)
		})
	}
}

// moments are texts that a run prints as it goes on.
var moments = map[string]string{
	"calibrated":      "base RTT",
	"first point":     "[1/3]",
	"in second point": "[2/3]",
}

// TestInterrupt: Ctrl-C ends a run with 130, cleans up, and keeps the points
// that are whole.
func TestInterrupt(t *testing.T) {
	needRoot(t)
	for name, text := range moments {
		t.Run(name, func(t *testing.T) {
			s := startUntil(t, text)
			if err := s.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			_ = s.Wait()
			if code := s.ProcessState.ExitCode(); code != 130 {
				t.Errorf("exit code %d, want 130", code)
			}
			nothingLeft(t)
			kept, err := filepath.Glob(filepath.Join(s.out, "*-e2e-*", "manifest.json"))
			if err != nil {
				t.Fatal(err)
			}
			if want := name == "in second point"; (len(kept) == 1) != want {
				t.Errorf("runs kept: %v", kept)
			}
			if unfinished, _ := filepath.Glob(filepath.Join(s.out, ".partial-*")); len(unfinished) > 0 {
				t.Errorf("half-written results: %v", unfinished)
			}
		})
	}
}

// TestTwoRunsAtOnce: two runs of one lab into one folder do not get in each other's way.
func TestTwoRunsAtOnce(t *testing.T) {
	needRoot(t)
	first := startUntil(t, "[1/3]")
	second := startCommand(t, command(t, raceVar, "run", labFile(t, small), "--out", first.out), "[1/3]")
	for _, s := range []started{first, second} {
		if err := s.Wait(); err != nil {
			t.Errorf("a run failed beside another: %v", err)
		}
	}
	nothingLeft(t)
	all, err := store.List(first.out)
	if err != nil || len(all) != 2 {
		t.Fatalf("stored %+v, %v", all, err)
	}
	for _, r := range all {
		if r.State != results.Complete || r.Points != 3 {
			t.Errorf("stored %+v", r)
		}
	}
}

// TestLabUp: a lab stays up, its hosts reach each other and run commands, two
// labs stand side by side, and lab down removes each.
func TestLabUp(t *testing.T) {
	needRoot(t)
	if _, err := os.Stat("/etc/hosts"); err != nil {
		t.Skipf("needs an /etc/hosts to mount over: %v", err)
	}
	lab, app := labFile(t, small), buildApp(t)
	up := func() string {
		o := aqmlab(t, plainVar, 0, "lab", "up", lab, "--scheme", "tcn")
		id, _, _ := strings.Cut(strings.SplitN(o.out, " is up as ", 2)[1], ":")
		return id
	}
	// serve has a user leave a server running on a lab's first host.
	serve := func(id string) *exec.Cmd {
		server := command(t, plainVar, "lab", "exec", "--lab", id, "h1", "--", app)
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		waitFor(t, func() bool {
			return command(t, plainVar, "lab", "exec", "--lab", id, "h2", "--", app, "h1").Run() == nil
		})
		return server
	}
	a := up()
	t.Cleanup(func() { aqmlab(t, plainVar, 0, "lab", "down", "--all") })
	server := serve(a)
	aqmlab(t, plainVar, 0, "lab", "exec", "h2", "--", app, "h1")
	aqmlab(t, plainVar, 7, "lab", "exec", "h2", "--", "sh", "-c", "exit 7")
	aqmlab(t, plainVar, 2, "lab", "exec", "h99", "--", "true")
	if congctl := aqmlab(t, plainVar, 0, "lab", "exec", "h1", "--", "ip", "route").out; !containsAll(congctl, "congctl dctcp", "initcwnd 10", "rto_min lock") {
		t.Errorf("routes of h1:\n%s", congctl)
	}
	b := up()
	aqmlab(t, plainVar, 2, "lab", "exec", "h2", "--", "true") // which lab?
	other := serve(b)
	if o := aqmlab(t, plainVar, 0, "lab", "status"); !containsAll(o.out, a, b, "detached") {
		t.Errorf("status:\n%s", o.out)
	}
	aqmlab(t, plainVar, 0, "lab", "down", a)
	if err := server.Wait(); err == nil {
		t.Error("a process on a host outlived its lab")
	}
	aqmlab(t, plainVar, 0, "lab", "exec", "h2", "--", app, "h1")
	aqmlab(t, plainVar, 0, "lab", "down", "--all")
	if err := other.Wait(); err == nil {
		t.Error("a process on a host outlived the last lab")
	}
	nothingLeft(t)
	aqmlab(t, plainVar, 2, "lab", "down")
}

// waitFor polls until a condition holds that other processes bring about.
func waitFor(t *testing.T, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(10 * time.Second)
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("waited too long")
		}
	}
}
