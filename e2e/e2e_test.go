//go:build linux

// Package e2e runs the aqmlab command as a user would, on real hosts in
// network namespaces, and checks what it promises. It needs root.
package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/results"
	"aqmlab/results/report"
	"aqmlab/results/store"
)

// programs are the commands under test: as users get it, a static binary, and
// with the race detector in all its processes.
type programs struct{ plain, race string }

// build builds both once, into a folder that goes with the test process.
func build(dir string) (programs, error) {
	p := programs{filepath.Join(dir, "aqmlab"), filepath.Join(dir, "aqmlab-race")}
	plain := exec.Command("go", "build", "-o", p.plain, "aqmlab")
	plain.Env = append(os.Environ(), "CGO_ENABLED=0")
	for _, c := range []*exec.Cmd{plain, exec.Command("go", "build", "-race", "-o", p.race, "aqmlab")} {
		if out, err := c.CombinedOutput(); err != nil {
			return p, fmt.Errorf("%v: %w\n%s", c.Args, err, out)
		}
	}
	return p, nil
}

// TestMain runs everything in one function because the programs are built
// once, and fails the run when a test left something behind.
func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "aqmlab-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // for users other than root
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	p, err := build(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	// Labs of the tests are not in one list with those that a user keeps.
	for name, value := range map[string]string{
		plainVar: p.plain, raceVar: p.race, statesVar: filepath.Join(dir, "state"), stateVar: "",
		othersVar: strings.Join(namespaces(), "\n"),
	} {
		if err := os.Setenv(name, value); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	if err := prepareClients(filepath.Join(dir, "clients")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if left := append(strays(), agents("")...); len(left) > 0 && os.Geteuid() == 0 {
		fmt.Fprintln(os.Stderr, "left behind:", strings.Join(left, ", "))
		return 1
	}
	return code
}

// The programs' paths travel in the environment, as for any child.
const (
	plainVar  = "AQMLAB_E2E_PLAIN"
	raceVar   = "AQMLAB_E2E_RACE"
	stateVar  = "AQMLAB_STATE"      // the program's own, see journal.RootVar; a test may set it
	statesVar = "AQMLAB_E2E_STATES" // the folder of those of all other tests
	othersVar = "AQMLAB_E2E_OTHERS" // the namespaces that were there before the tests
)

func needRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("real hosts need root")
	}
}

// outcome is what a finished command left.
type outcome struct {
	out, err string
	code     int
}

// aqmlab runs the program and fails the test unless it exits with the code.
func aqmlab(t testing.TB, program string, code int, args ...string) outcome {
	t.Helper()
	return finish(t, command(t, program, args...), code)
}

func command(t testing.TB, program string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute) // also for clean-ups
	t.Cleanup(cancel)
	c := exec.CommandContext(ctx, os.Getenv(program), args...)
	c.Env = append(os.Environ(), "GORACE=halt_on_error=1 exitcode=66", stateVar+"="+stateOf(t))
	return c
}

// stateOf is where the labs of a test are, and of no other that runs beside it.
func stateOf(t testing.TB) string {
	if own := os.Getenv(stateVar); own != "" {
		return own
	}
	test, _, _ := strings.Cut(t.Name(), "/")
	return filepath.Join(os.Getenv(statesVar), test)
}

func finish(t testing.TB, c *exec.Cmd, code int) outcome {
	t.Helper()
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatalf("%v: %v", c.Args, err)
	}
	o := outcome{out.String(), errs.String(), c.ProcessState.ExitCode()}
	if strings.Contains(o.err, "DATA RACE") {
		t.Errorf("%v: a data race:\n%s", c.Args[1:], o.err)
	}
	if o.code != code {
		t.Fatalf("%v: exit code %d, want %d\nstdout:\n%s\nstderr:\n%s", c.Args[1:], o.code, code, o.out, o.err)
	}
	return o
}

// runLab runs a lab and returns what it stored and printed.
func runLab(t *testing.T, program, lab string, args ...string) (*store.Run, report.RunJSON) {
	t.Helper()
	return finishLab(t, command(t, program, labArgs(t, lab, args)...))
}

// labArgs are the arguments with which a lab stores its results where no other
// does, and prints them.
func labArgs(t *testing.T, lab string, args []string) []string {
	return append([]string{"run", lab, "--out", t.TempDir(), "--json"}, args...)
}

// finishLab is runLab for a command of [labArgs].
func finishLab(t *testing.T, c *exec.Cmd) (*store.Run, report.RunJSON) {
	t.Helper()
	o := finish(t, c, 0)
	return opened(t, o)
}

// opened is the run that a command of [labArgs] has stored and printed.
func opened(t *testing.T, o outcome) (*store.Run, report.RunJSON) {
	t.Helper()
	var j report.RunJSON
	if err := json.Unmarshal([]byte(o.out), &j); err != nil {
		t.Fatalf("run --json printed no JSON: %v\n%s", err, o.out)
	}
	r, err := store.Open(j.Dir)
	if err != nil {
		t.Fatal(err)
	}
	return r, j
}

// points reads a run's points by scheme.
func points(t *testing.T, r *store.Run) map[string]results.Point {
	t.Helper()
	all := map[string]results.Point{}
	for _, s := range r.Points() {
		p, err := s.Read()
		if err != nil {
			t.Fatal(err)
		}
		all[p.Scheme] = p
	}
	return all
}

// newState is a state folder more, for a test that needs several.
func newState(t *testing.T) string {
	t.Helper()
	states := os.Getenv(statesVar)
	if err := os.MkdirAll(states, 0o700); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(states, "more-")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// strays lists namespaces that are of no lab, neither the machine's nor a test's, and were
// not there before, such as by tests that were killed.
func strays() []string {
	labs := func() []string {
		all := labsIn("/run/aqmlab")
		states, _ := filepath.Glob(filepath.Join(os.Getenv(statesVar), "*"))
		for _, state := range append(states, os.Getenv(stateVar)) {
			all = append(all, labsIn(state)...)
		}
		return all
	}
	before := labs()
	left := namespaces()
	known := slices.Concat(before, labs()) // also those that come or go meanwhile
	others := strings.Split(os.Getenv(othersVar), "\n")
	return slices.DeleteFunc(left, func(path string) bool {
		return slices.Contains(others, path) ||
			slices.ContainsFunc(known, func(id string) bool { return strings.HasPrefix(path, "/run/netns/aqm-"+id+"-") })
	})
}

// namespaces lists the namespaces of labs, whosever they are.
func namespaces() []string {
	all, _ := filepath.Glob("/run/netns/aqm-*")
	return all
}

// labsIn lists the ids of the labs in a state folder.
func labsIn(state string) []string {
	folders, _ := filepath.Glob(filepath.Join(state, "[0-9a-f][0-9a-f][0-9a-f][0-9a-f]"))
	for i, folder := range folders {
		folders[i] = filepath.Base(folder)
	}
	return folders
}

// agents lists the helper processes of the programs under test that are alive and have
// these words in their environment, such as a state folder.
func agents(words string) []string {
	var found []string
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range lines {
		b, err := os.ReadFile(path)
		if err != nil || !bytes.HasPrefix(b, []byte(filepath.Dir(os.Getenv(plainVar)))) || !bytes.Contains(b, []byte("\x00agent\x00")) {
			continue
		}
		env, err := os.ReadFile(filepath.Join(filepath.Dir(path), "environ"))
		if err == nil && bytes.Contains(env, []byte(words)) {
			found = append(found, strings.ReplaceAll(string(bytes.TrimRight(b, "\x00")), "\x00", " "))
		}
	}
	return found
}

// leftovers lists what a test may not leave: labs, their helper processes, and namespaces
// of no lab.
func leftovers(t testing.TB) []string {
	t.Helper()
	return slices.Concat(strays(), labsIn(stateOf(t)), agents(stateVar+"="+stateOf(t)+"\x00"))
}

// nothingLeft fails the test unless everything of its own is gone.
func nothingLeft(t testing.TB) {
	t.Helper()
	if left := leftovers(t); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
