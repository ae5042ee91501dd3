//go:build linux

package e2e

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"aqmlab/results"
	"aqmlab/results/store"
)

// killedAnywhere runs a command that stores a run below a folder, kills it at a random
// moment of the time that it takes, and has the remains removed, so many times. What is
// listed of the runs is whole, and the last one, which is let be, is complete.
func killedAnywhere(t *testing.T, times int, run func(out string) *exec.Cmd, clean func()) {
	t.Helper()
	out := t.TempDir()
	begun := time.Now()
	finish(t, run(out), 0)
	whole := time.Since(begun)
	clean()
	hit, tries := 0, 0
	for hit < times && tries < 2*times+2 {
		tries++
		c := run(out)
		start(t, c)
		killing := time.AfterFunc(rand.N(whole), func() { _ = c.Process.Kill() }) // it may have ended
		_ = c.Wait()
		if !killing.Stop() && c.ProcessState.ExitCode() < 0 {
			hit++
		}
		clean()
		if t.Failed() {
			return
		}
	}
	t.Logf("%d of %d runs were killed before they were done", hit, tries)
	if hit < times {
		t.Errorf("only %d of %d runs were killed before they were done", hit, tries)
	}
	finish(t, run(out), 0)
	clean()
	all, err := store.List(out)
	if err != nil || len(all) == 0 || all[len(all)-1].State != results.Complete {
		t.Fatalf("listed %+v, %v", all, err)
	}
	if left, err := filepath.Glob(filepath.Join(out, ".*")); err != nil || len(left) > interrupted(all) {
		t.Errorf("folders left of %+v: %v, %v", all, left, err)
	}
	for _, r := range all {
		if h := store.Verify(r.Dir); h.Points != r.Points || len(h.Flaws) > 0 {
			t.Errorf("%+v is %+v", r, h)
		}
	}
}

// interrupted counts runs whose processes were killed.
func interrupted(all []store.Entry) (n int) {
	for _, r := range all {
		if r.State == results.Interrupted {
			n++
		}
	}
	return n
}

// sweptAway has a command remove the labs below a state folder, and fails the test unless
// they are gone. It looks at no others: somebody else may have some meanwhile.
func sweptAway(t *testing.T, state string, next *exec.Cmd) {
	t.Helper()
	labs := labsIn(state)
	finish(t, next, 0)
	left := append(agents(stateVar+"="+state+"\x00"), labsIn(state)...)
	for _, id := range labs {
		spaces, _ := filepath.Glob("/run/netns/aqm-" + id + "-*") // its pattern is good
		left = append(left, spaces...)
	}
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestKill: after kill -9 of a run at any moment, the helper processes end by themselves,
// and the next command removes the rest.
func TestKill(t *testing.T) {
	t.Parallel()
	needRoot(t)
	lab := labFile(t, small)
	killedAnywhere(t, kills(3), func(out string) *exec.Cmd {
		return command(t, plainVar, "run", lab, "--runtime", "netns", "--flows", "40", "--out", out)
	}, func() { sweptAway(t, stateOf(t), command(t, plainVar, "lab", "list")) })
}

// TestDockerKill: the same with containers.
func TestDockerKill(t *testing.T) {
	t.Parallel()
	d := ownDaemon(t)
	lab, state := labFile(t, small), newState(t)
	killedAnywhere(t, kills(2), func(out string) *exec.Cmd {
		return d.command(t, state, "run", lab, "--runtime", "docker", "--dilation", "4", "--flows", "40", "--out", out)
	}, func() {
		sweptAway(t, state, d.command(t, state, "lab", "list"))
		if left := d.output(t, "ps", "--all", "--quiet"); left != "" {
			t.Errorf("containers left behind: %s", left)
		}
	})
}

// TestGuestKilled: neither guests nor their processes outlive a run that is killed at any
// moment, and the next removes its folder.
func TestGuestKilled(t *testing.T) {
	g := needGuest(t)
	lab := labFile(t, fewFlows)
	killedAnywhere(t, kills(2), func(out string) *exec.Cmd {
		return g.command(t, "run", lab, "--runtime", "uml", "--out", out)
	}, func() {
		waitFor(t, func() bool { return len(g.kernels()) == 0 })
		finish(t, g.command(t, "kernel", "test"), 0)
		if left, err := os.ReadDir(g.tmp); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
}
