package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// test is one test of a package, measured without a mutant.
type test struct {
	pkg, dir, binary, name string
	cost                   time.Duration // CPU time
	reaches                []byte        // by number of mutant, not 0 where the test comes by it
}

// The limits of a trial: CPU time that is this many times what the tests took without the
// mutant and a little more, and far more wall time, for machines that are busy.
const (
	slower   = 4
	moreTime = 2 * time.Second
	patience = 10 * time.Minute
	memoryKB = 6 << 20
)

// result is what became of tests in one process.
type result struct {
	passed bool
	took   time.Duration // CPU time
	out    []byte
}

// run runs tests of one program.
func (t test) run(names []string, limit time.Duration, env ...string) (r result, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	seconds := strconv.Itoa(int(limit/time.Second) + 1)
	c := exec.CommandContext(ctx, "sh", "-c", `ulimit -t "$1" && ulimit -v "$2" && shift 2 && exec "$@"`, "sh", seconds, strconv.Itoa(memoryKB),
		t.binary, "-test.failfast", "-test.run", "^("+strings.Join(names, "|")+")$")
	c.Dir, c.Env = t.dir, append(os.Environ(), env...)
	c.WaitDelay = time.Second
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err != nil && c.ProcessState == nil:
		return r, fmt.Errorf("running tests of %s: %w", t.pkg, err)
	case err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) && ctx.Err() == nil:
		return r, fmt.Errorf("running tests of %s: %w", t.pkg, err)
	}
	return result{
		passed: err == nil && !bytes.Contains(out, []byte("no tests to run")),
		took:   c.ProcessState.UserTime() + c.ProcessState.SystemTime(),
		out:    out,
	}, nil
}

// measure runs every test of a group alone, and notes which mutants it comes by.
func (g *group) measure(dir string) (tests []test, err error) {
	for _, p := range g.packages {
		binary, ok := g.binaries[p.ImportPath]
		if !ok {
			continue
		}
		c := exec.Command(binary, "-test.list", "^(Test|Fuzz|Example)")
		c.Dir = p.Dir
		out, err := c.Output()
		if err != nil {
			return nil, fmt.Errorf("listing tests of %s: %w", p.ImportPath, err)
		}
		for _, name := range strings.Fields(string(out)) {
			t := test{pkg: p.ImportPath, dir: p.Dir, binary: binary, name: regexp.QuoteMeta(name)}
			trace := filepath.Join(dir, "trace")
			if err := os.WriteFile(trace, make([]byte, len(g.mutants)+1), 0o600); err != nil {
				return nil, err
			}
			r, err := t.run([]string{t.name}, patience, "AQMLAB_MUTANT_TRACE="+trace)
			if err != nil {
				return nil, err
			}
			if !r.passed {
				return nil, fmt.Errorf("%s of %s fails without a mutant:\n%s", name, p.ImportPath, r.out)
			}
			t.cost = r.took
			if t.reaches, err = os.ReadFile(trace); err != nil {
				return nil, err
			}
			tests = append(tests, t)
		}
	}
	// Batches of short tests come first.
	slices.SortStableFunc(tests, func(a, b test) int { return cmp.Compare(a.cost, b.cost) })
	return tests, nil
}

// batchCost is the CPU time up to which tests are run in one process, and otherCost that
// up to which a test of another package is run at all.
const (
	batchCost = time.Second
	otherCost = 3 * time.Second
)

// outcome is what became of a mutant.
type outcome struct {
	killed  bool
	by      string // the tests of one process, one of which failed
	reached bool
}

// try runs the tests that come by a mutant until one fails: first those of its own
// package, short ones before long ones.
func try(m mutant, tests []test) (o outcome, err error) {
	for _, own := range []bool{true, false} {
		var left []test
		for _, t := range tests {
			if t.reaches[m.id] != 0 && (t.pkg == m.pkg) == own && (own || t.cost <= otherCost) {
				left = append(left, t)
			}
		}
		for len(left) > 0 {
			var names []string
			var cost time.Duration
			first := left[0]
			left = slices.DeleteFunc(left, func(t test) bool {
				if t.binary != first.binary || len(names) > 0 && cost+t.cost > batchCost {
					return false
				}
				names, cost = append(names, t.name), cost+t.cost
				return true
			})
			o.reached = true
			r, err := first.run(names, slower*cost+moreTime, "AQMLAB_MUTANT="+strconv.Itoa(m.id))
			if err != nil {
				return o, err
			}
			if !r.passed {
				o.killed, o.by = true, first.pkg+" "+strings.Join(names, " ")
				return o, nil
			}
		}
	}
	return o, nil
}

// tryAll tries mutants, some at once, and tells each outcome as it comes.
func tryAll(mutants []mutant, tests []test, workers int, tell func(mutant, outcome)) error {
	work := make(chan mutant)
	var wait sync.WaitGroup
	var lock sync.Mutex
	var failed error
	for range workers {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for m := range work {
				o, err := try(m, tests)
				lock.Lock()
				failed = errors.Join(failed, err)
				tell(m, o)
				lock.Unlock()
			}
		}()
	}
	for _, m := range mutants {
		work <- m
	}
	close(work)
	wait.Wait()
	return failed
}
