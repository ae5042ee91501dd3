//go:build linux

package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// killsVar is how often a test kills a sweep, in place of what fits into a test run.
const killsVar = "AQMLAB_E2E_KILLS"

func kills(fits int) int { return number(killsVar, fits) }

// number is that of an environment variable, or what fits into a test run.
func number(variable string, fits int) int {
	if n, err := strconv.Atoi(os.Getenv(variable)); err == nil {
		return n
	}
	return fits
}

// sweepArgs are a sweep of short points into a store.
func sweepArgs(store, seeds string, more ...string) []string {
	return append([]string{"sweep", "smoke", "--over", "workload.load=0.2..0.8/0.2", "--flows", "20", "--seeds", seeds, "--store", store}, more...)
}

// storedPoints are the files of a store's points, but for manifests, which have times.
func storedPoints(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	root := filepath.Join(dir, "points")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "manifest.json" {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		files[name] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// sameStores fails the test unless two stores have the same points.
func sameStores(t *testing.T, a, b string) {
	t.Helper()
	one, two := storedPoints(t, a), storedPoints(t, b)
	if len(one) != len(two) {
		t.Errorf("%d and %d files", len(one), len(two))
	}
	for name, content := range one {
		if two[name] != content {
			t.Errorf("%s differs", name)
		}
	}
}

// killed runs a sweep again and again, kills it at random moments, and then lets it
// finish. Whole is how long it takes undisturbed: all runs that are killed together take
// less.
func killed(t *testing.T, times int, whole time.Duration, sweep func() *exec.Cmd) {
	t.Helper()
	hit, within := 0, 3*whole/time.Duration(2*times)
	for range times {
		c := sweep()
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- c.Wait() }()
		select {
		case <-time.After(rand.N(within)):
			hit++
			if err := c.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			<-ended
		case <-ended:
		}
	}
	if hit < times/2 {
		t.Errorf("only %d of %d runs were killed before they were done", hit, times)
	}
	finish(t, sweep(), 0)
}

// TestSweepKilled: a sweep that was killed time and again has the points of one that was
// not.
func TestSweepKilled(t *testing.T) {
	t.Parallel()
	times := kills(20)
	seeds := fmt.Sprintf("1..%d", max(12, times*3/2)) // so that no run but the last gets to the end
	whole, store := t.TempDir(), t.TempDir()
	begun := time.Now()
	aqmlab(t, plainVar, 0, sweepArgs(whole, seeds)...)
	killed(t, times, time.Since(begun), func() *exec.Cmd { return command(t, plainVar, sweepArgs(store, seeds)...) })
	sameStores(t, whole, store)
	show := func(dir string) string { return aqmlab(t, plainVar, 0, "sweep", "show", "--store", dir, "--json").out }
	if show(whole) != show(store) {
		t.Error("what is shown of them differs")
	}
}

// TestSweepOfGuestsKilled: the same with guests.
func TestSweepOfGuestsKilled(t *testing.T) {
	g := needGuest(t)
	times := kills(3)
	seeds := fmt.Sprintf("1..%d", max(3, times/2)) // so that no run but the last gets to the end
	whole, store := t.TempDir(), t.TempDir()
	args := func(dir string) []string {
		return sweepArgs(dir, seeds, "--schemes", "droptail", "--runtime", "uml")
	}
	begun := time.Now()
	finish(t, g.command(t, args(whole)...), 0)
	killed(t, times, time.Since(begun), func() *exec.Cmd { return g.command(t, args(store)...) })
	sameStores(t, whole, store)
}

// TestSweepTwiceAtOnce: two processes share the points of a sweep.
func TestSweepTwiceAtOnce(t *testing.T) {
	t.Parallel()
	const seeds = "1..4"
	whole, store := t.TempDir(), t.TempDir()
	aqmlab(t, plainVar, 0, sweepArgs(whole, seeds)...)
	var both sync.WaitGroup
	var said [2]bytes.Buffer
	for i := range said {
		c := command(t, plainVar, sweepArgs(store, seeds, "--jobs", "1")...)
		c.Stderr = &said[i]
		both.Go(func() {
			if err := c.Run(); err != nil {
				t.Errorf("%v: %s", err, said[i].String())
			}
		})
	}
	both.Wait()
	sameStores(t, whole, store)
	measured := 0
	for i := range said {
		measured += strings.Count(said[i].String(), ": done in ")
	}
	if points := 4 * 2 * 4; measured != points { // loads, schemes, seeds
		t.Errorf("they measured %d points, want each of %d once", measured, points)
	}
}

// TestSweepOnFullDisk: what fits is stored, the error says why the rest is not, and with
// room the sweep goes on.
func TestSweepOnFullDisk(t *testing.T) {
	needRoot(t)
	const seeds = "1..4"
	whole, disk := t.TempDir(), t.TempDir()
	aqmlab(t, plainVar, 0, sweepArgs(whole, seeds)...)
	mount := func(flags uintptr, size string) {
		if err := unix.Mount("tmpfs", disk, "tmpfs", flags, "size="+size); err != nil {
			t.Skipf("no file system can be mounted here: %v", err)
		}
	}
	mount(0, "600k")
	defer func() {
		if err := unix.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	}()
	o := aqmlab(t, plainVar, 1, sweepArgs(disk, seeds)...)
	if !strings.Contains(o.err, "no space left on device") {
		t.Errorf("it says\n%s", o.err)
	}
	some := len(storedPoints(t, disk))
	mount(unix.MS_REMOUNT, "64m")
	aqmlab(t, plainVar, 0, sweepArgs(disk, seeds)...)
	sameStores(t, whole, disk)
	if all := len(storedPoints(t, whole)); some == 0 || some >= all {
		t.Errorf("%d of %d files were stored on the full disk", some, all)
	}
}

// TestInterruptedGoesOn: Ctrl-C of a search and of a sweep says what is spent, and the
// same command measures the rest alone.
func TestInterruptedGoesOn(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args []string
		says string // before the number of points that are stored
		all  string // of how many
	}{
		{[]string{"sweep", "smoke", "--over", "workload.load=0.2..0.8/0.2", "--seeds", "1..5"}, "interrupted: ", " of 40 points of sweep smoke-"},
		{[]string{"tune", "quickstart", "--scheme", "tcn", "--budget", "30"}, "interrupted: ", " of 30 points are spent, and stored in "},
	} {
		t.Run(tt.args[0], func(t *testing.T) {
			dir := t.TempDir()
			args := append(tt.args, "--flows", "60", "--jobs", "1", "--store", dir)
			c := command(t, plainVar, args...)
			errs, err := c.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			start(t, c)
			var last string
			for lines := bufio.NewScanner(errs); lines.Scan(); {
				if last = lines.Text(); strings.Contains(last, "[3/") {
					if err := c.Process.Signal(unix.SIGINT); err != nil {
						t.Fatal(err)
					}
				}
			}
			if _ = c.Wait(); c.ProcessState.ExitCode() != 128+int(unix.SIGINT) {
				t.Errorf("%v", c.ProcessState)
			}
			_, said, _ := strings.Cut(last, tt.says)
			number, rest, _ := strings.Cut(said, " ")
			before := manifests(t, dir)
			if n, err := strconv.Atoi(number); err != nil || n != len(before) || n < 3 || !strings.HasPrefix(" "+rest, tt.all) || !strings.Contains(rest, "the same command goes on") {
				t.Errorf("%d points are stored, and it said: %s", len(before), last)
			}
			finish(t, command(t, plainVar, args...), 0)
			after := manifests(t, dir)
			for name, content := range before {
				if after[name] != content {
					t.Errorf("%s was measured again", name)
				}
			}
			if len(after) <= len(before) {
				t.Errorf("%d points, and then %d", len(before), len(after))
			}
		})
	}
}

// manifests are those of a store's points, which say when each was measured.
func manifests(t *testing.T, dir string) map[string]string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "points", "*", "*", "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string]string)
	for _, path := range found {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(path, ".partial-") {
			files[path] = string(text)
		}
	}
	return files
}
