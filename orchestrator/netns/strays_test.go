package netns_test

import (
	"errors"
	"io"
	"os/exec"
	"testing"

	"github.com/vishvananda/netns"

	"aqmlab/orchestrator/journal"
	lab "aqmlab/orchestrator/netns"
)

// TestRemoveKillsWhatForks has a shell in a namespace that starts processes
// all the time: none of them outlives the namespace.
func TestRemoveKillsWhatForks(t *testing.T) {
	needRoot(t)
	const name = "aqm-forks-test"
	entries := []journal.Entry{{Kind: journal.Namespace, Name: name}}
	t.Cleanup(func() { _ = lab.Remove(entries) })
	shell := exec.Command("sh", "-c", "while :; do echo; sleep 1000 & done")
	out, err := shell.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	err = lab.Do("", func() error {
		ns, err := netns.NewNamed(name)
		if err != nil {
			return err
		}
		return errors.Join(shell.Start(), ns.Close())
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 100)); err != nil { // it is at it
		t.Fatal(err)
	}
	if err := lab.Remove(entries); err != nil {
		t.Error(err)
	}
	// The processes hold the pipe's other end: it ends when the last has died.
	if _, err := io.Copy(io.Discard, out); err != nil {
		t.Error(err)
	}
	if err := shell.Wait(); err == nil {
		t.Error("the shell ended by itself")
	}
}

// TestRemoveKillsWhatRunsInside starts a process inside a lab's namespace and
// one outside; removing the namespace ends the former only.
func TestRemoveKillsWhatRunsInside(t *testing.T) {
	needRoot(t)
	const name = "aqm-strays-test"
	start := func() *exec.Cmd {
		c := exec.Command("sleep", "1000")
		if err := c.Start(); err != nil {
			t.Error(err)
		}
		return c
	}
	var inside *exec.Cmd
	err := lab.Do("", func() error {
		ns, err := netns.NewNamed(name)
		if err != nil {
			return err
		}
		inside = start()
		return ns.Close()
	})
	if err != nil {
		t.Fatal(err)
	}
	outside := start()
	defer func() { _, _ = outside.Process.Kill(), outside.Wait() }()

	if err := lab.Remove([]journal.Entry{{Kind: journal.Namespace, Name: name}}); err != nil {
		t.Error(err)
	}
	if err := inside.Wait(); err == nil {
		t.Error("the process inside ended by itself")
	}
	if _, err := netns.GetFromName(name); err == nil {
		t.Error("the namespace is still there")
	}
	if err := lab.Remove([]journal.Entry{{Kind: journal.Namespace, Name: name}}); err != nil {
		t.Errorf("removing it again: %v", err)
	}
}
