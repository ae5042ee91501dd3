package agent_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/journal"
	"aqmlab/orchestrator/netns"
)

func tinyPlan() netns.Plan {
	return netns.Plan{Switches: []string{"sw"}, Hosts: []string{"h1"}, Subnet: netip.MustParsePrefix("10.7.0.0/24"), MTU: 1500, Uplink: 1e9}
}

// owner is a process that starts an agent, tells its entry, and stays until
// its stdin ends or it is killed. Its argument is the folder of a detached
// agent, or "-" for an attached one.
func owner(dir string) int {
	var entries []journal.Entry
	o := agent.Options{Role: "echo", Record: func(e ...journal.Entry) error {
		entries = append(entries, e...)
		return nil
	}}
	if dir != "-" {
		o.Detached = &agent.Detached{Socket: filepath.Join(dir, "socket"), Log: filepath.Join(dir, "log")}
	}
	if _, err := agent.Spawn(context.Background(), o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := json.NewEncoder(os.Stdout).Encode(entries); err != nil {
		return 1
	}
	_, _ = os.Stdin.Read(make([]byte, 1))
	return 0
}

// startOwner starts an owner and returns it with what it has recorded.
func startOwner(t *testing.T, dir string) (*exec.Cmd, []journal.Entry) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "owner", dir)
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var entries []journal.Entry
	if err := json.Unmarshal(line, &entries); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// A test that failed may have left it stopped, and the test's own
		// process waits for all that hold its output.
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if err := agent.Remove(entries[len(entries)-1:]); err != nil {
			t.Error(err)
		}
	})
	return cmd, entries
}

// killOwner ends the owner as nothing can be done about.
func killOwner(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // says that it was killed
}

func TestAgentDiesWithItsOwner(t *testing.T) {
	cmd, entries := startOwner(t, "-")
	e := entries[len(entries)-1]
	if e.Kind != journal.Process || e.PID == 0 || e.Start == 0 {
		t.Fatalf("recorded %+v, want a process with its id and start time", entries)
	}
	fd, err := unix.PidfdOpen(e.PID, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	killOwner(t, cmd)
	if err := host.AwaitDeath(fd, time.Now().Add(10*time.Second)); err != nil { // the agent ends itself at once, or by force after 3 s
		t.Errorf("agent did not end after its owner was killed: %v", err)
	}
}

func TestDetachedAgentOutlivesItsOwner(t *testing.T) {
	dir := t.TempDir()
	cmd, entries := startOwner(t, dir)
	killOwner(t, cmd)
	socket := filepath.Join(dir, "socket")
	c, err := agent.Dial(t.Context(), socket)
	if err != nil {
		t.Fatal(err)
	}
	var a About
	if err := c.Call(t.Context(), "About", agent.Nothing{}, &a); err != nil || a.Session != "true" {
		t.Errorf("call after the owner's death: %+v, %v", a, err)
	}
	if err := c.Quit(t.Context()); err != nil {
		t.Error(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	undoers := journal.Undoers{journal.Process: agent.Remove, journal.File: journal.RemoveFiles}
	for _, e := range entries {
		if err := undoers[e.Kind]([]journal.Entry{e}); err != nil {
			t.Error(err)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if _, err := agent.Dial(t.Context(), socket); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("dial of a removed agent: %v", err)
	}
}

func TestRemoveSparesAReusedID(t *testing.T) {
	p := spawn(t, agent.Options{Role: "echo"})
	other := journal.Entry{Kind: journal.Process, Name: "another", PID: p.PID(), Start: 1}
	if err := agent.Remove([]journal.Entry{other}); err != nil {
		t.Errorf("remove: %v", err)
	}
	if err := p.Call(t.Context(), "About", agent.Nothing{}, &About{}); err != nil {
		t.Errorf("process with the id of a recorded one was killed: %v", err)
	}
}

func TestRemoveTwice(t *testing.T) {
	var e []journal.Entry
	p := spawn(t, agent.Options{Role: "echo", Record: func(made ...journal.Entry) error {
		e = made
		return nil
	}})
	if err := agent.Remove(e); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if err := agent.Remove(e); err != nil {
		t.Errorf("remove of a dead process: %v", err)
	}
}

// TestRuns: an entry names a process that is alive, not a zombie, nor another one that
// has its number.
func TestRuns(t *testing.T) {
	owner, entries := startOwner(t, "-")
	e := entries[0]
	if !agent.Runs(e) {
		t.Error("a process that is alive does not run")
	}
	other := e
	other.Start++
	if agent.Runs(other) {
		t.Error("a process runs that had the number before")
	}
	fd, err := unix.PidfdOpen(e.PID, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	for _, pid := range []int{owner.Process.Pid, e.PID} { // the first cannot reap the other
		if err := unix.Kill(pid, map[bool]unix.Signal{true: unix.SIGSTOP, false: unix.SIGKILL}[pid == owner.Process.Pid]); err != nil {
			t.Fatal(err)
		}
	}
	if err := host.AwaitDeath(fd, time.Now().Add(10*time.Second)); err != nil {
		t.Fatal(err)
	}
	if agent.Runs(e) {
		t.Error("a zombie runs")
	}
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait()
}
