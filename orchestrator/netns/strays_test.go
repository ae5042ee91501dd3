package netns_test

import (
	"os/exec"
	"testing"

	"github.com/vishvananda/netns"

	"aqmlab/orchestrator/journal"
	lab "aqmlab/orchestrator/netns"
)

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
