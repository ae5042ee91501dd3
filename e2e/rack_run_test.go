//go:build linux

package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"aqmlab/labs/inventory"
	"aqmlab/results"
	"aqmlab/results/store"
)

// byAllWays is an inventory of the rack's machines, one by its socket, one by ssh, and one
// by TLS.
func (r *rack) byAllWays() string {
	path := filepath.Join(r.dir, "ways.yaml")
	r.write(path, func(m inventory.Machine) inventory.Machine {
		switch m.Name {
		case "m2":
			m.Docker = "ssh://root@" + m.Address.String()
		case "m3":
			m.Docker, m.TLS = "tcp://"+m.Address.String()+":2376", r.path("tls")
		}
		return m
	})
	return path
}

// nothingLeft fails the test unless no machine has a container, and no lab is left here.
func (r *rack) nothingLeft(machines ...*rackMachine) {
	r.t.Helper()
	for _, m := range machines {
		if left := m.output(r.t, "ps", "--all", "--format", "{{.Names}}"); left != "" {
			r.t.Errorf("left on %s: %s", m.Name, left)
		}
		if left := m.output(r.t, "volume", "ls", "--quiet"); left != "" {
			r.t.Errorf("volumes left on %s: %s", m.Name, left)
		}
	}
	if left := labsIn(stateOf(r.t)); len(left) > 0 {
		r.t.Errorf("labs left: %v", left)
	}
}

// TestRackRun: a lab over three machines is the lab that one machine has: the same flows,
// for which the schemes compare alike. Clocks that differ by a thousand seconds and more do
// no harm, and nothing is left.
func TestRackRun(t *testing.T) {
	r := newRack(t, 3)
	// Three machines share the CPUs here: at less dilation the switch falls behind.
	args := []string{"--schemes", "droptail,tcn", "--seeds", "1", "--flows", "40", "--dilation", "6"}
	apart, j := runLab(t, plainVar, "quickstart", append(args, "--machines", r.byAllWays())...)
	if j.Runtime != "docker" || len(apart.Manifest.Machines) != 3 {
		t.Errorf("runtime %s on machines %+v", j.Runtime, apart.Manifest.Machines)
	}
	r.nothingLeft(r.machines...)
	whole, _ := runLab(t, plainVar, "quickstart", append(args, "--runtime", "netns")...)
	those, these := points(t, whole), points(t, apart)
	for _, scheme := range []string{"droptail", "tcn"} {
		if n := len(these[scheme].Flows); n != 40 || n != len(those[scheme].Flows) {
			t.Fatalf("%s: %d flows on three machines, %d on one", scheme, n, len(those[scheme].Flows))
		}
		for i, f := range these[scheme].Flows {
			if g := those[scheme].Flows[i]; !f.Completed() || f.ID != g.ID || f.Start != g.Start || f.Client != g.Client || f.Server != g.Server || f.Bytes != g.Bytes {
				t.Errorf("%s: flow %+v on three machines, %+v on one", scheme, f, g)
			}
		}
		r.checkClocks(these[scheme].Fidelity)
	}
	if faithful(t, whole) && faithful(t, apart) {
		a, b := interval(t, apart.Dir), interval(t, whole.Dir)
		if a[0] > b[1] || b[0] > a[1] {
			t.Errorf("tcn against droptail: %v %% on three machines, %v %% on one", a, b)
		}
	}
}

// checkClocks wants the clocks of the second and third machine to have been found where
// they are.
func (r *rack) checkClocks(f results.Fidelity) {
	r.t.Helper()
	if len(f.Clocks) != 2 {
		r.t.Fatalf("clocks %+v, want two", f.Clocks)
	}
	for i, c := range f.Clocks {
		m := r.machines[i+1]
		want := m.ahead() - r.machines[0].ahead()
		if off := c.Ahead - want; c.Machine != m.Name || max(off, -off) > time.Duration(c.Bound) {
			r.t.Errorf("clock %+v, want %s to be %v ahead", c, m.Name, want)
		}
	}
}

// faithful tells whether all points of a run say something.
func faithful(t *testing.T, run *store.Run) bool {
	t.Helper()
	for scheme, p := range points(t, run) {
		if p.Fidelity.Low() {
			t.Logf("%s: fidelity %+v, which says nothing", scheme, p.Fidelity)
			return false
		}
	}
	return true
}

// TestRackLab: a lab that is left up on three machines is watched, changed and removed as
// one on a single machine. Its hosts are of somebody's own image, which each machine must
// have.
func TestRackLab(t *testing.T) {
	t.Parallel()
	r := newRack(t, 3)
	const image = "aqmlab-e2e-app:1"
	r.importTo(image, r.machines[0], r.machines[2])
	args := []string{"lab", "up", "quickstart", "--machines", r.byAllWays(), "--scheme", "droptail", "--set", "host.image=" + image}
	pull := "docker --host ssh://root@" + r.machines[1].Address.String() + " pull " + image
	if o := aqmlab(t, plainVar, 2, args...); !containsAll(o.err, "host.image", "is not on machine m2", pull) || containsAll(o.err, "machine m3") {
		t.Errorf("without the image: %q", o.err)
	}
	r.nothingLeft(r.machines...)
	r.importTo(image, r.machines[1])
	up := aqmlab(t, plainVar, 0, args...)
	if !strings.Contains(up.out, "9 hosts") {
		t.Errorf("lab up printed %q", up.out)
	}
	for _, m := range r.machines {
		waitFor(t, func() bool { return !strings.Contains(m.output(t, "ps", "--format", "{{.Names}}"), "site") })
		if m.output(t, "ps", "--quiet") == "" {
			t.Errorf("%s has nothing of the lab", m.Name)
		}
	}
	if o := aqmlab(t, plainVar, 0, "lab", "use", "tcn"); !strings.Contains(o.out, "tcn") {
		t.Errorf("lab use printed %q", o.out)
	}
	aqmlab(t, plainVar, 0, "lab", "event", "link=s1:h9", "rate=100Mbps")
	if o := aqmlab(t, plainVar, 0, "lab", "stats"); !strings.Contains(o.out, "lab time") {
		t.Errorf("lab stats printed %q", o.out)
	}
	server := command(t, plainVar, "lab", "exec", "h1", "--", "app") // on the first machine
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool {
		out, err := command(t, plainVar, "lab", "exec", "h9", "--", "app", "h1").Output() // on the last
		return err == nil && string(out) == "this is h1\n"
	})
	if o := aqmlab(t, plainVar, 0, "lab", "status"); !containsAll(o.out, "tcn", "rate=100Mbps") {
		t.Errorf("lab status printed %q", o.out)
	}
	aqmlab(t, plainVar, 0, "lab", "down")
	_ = server.Wait() // went with the lab
	r.nothingLeft(r.machines...)

	// A run has such hosts, too.
	run, _ := runLab(t, plainVar, "quickstart", "--schemes", "droptail", "--seeds", "1", "--flows", "40", "--dilation", "6",
		"--machines", r.byAllWays(), "--set", "host.image="+image)
	if flows := points(t, run)["droptail"].Flows; len(flows) != 40 || slices.ContainsFunc(flows, func(f results.Flow) bool { return !f.Completed() }) {
		t.Errorf("flows of a run with an image: %+v", flows)
	}
	r.nothingLeft(r.machines...)
}

// importTo gives machines the image of the application.
func (r *rack) importTo(image string, machines ...*rackMachine) {
	r.t.Helper()
	files := fileSystem(r.t).Bytes()
	for _, m := range machines {
		load := m.docker("import", "-", image)
		load.Stdin = bytes.NewReader(files)
		if out, err := load.CombinedOutput(); err != nil {
			r.t.Fatalf("%v: %v\n%s", load.Args, err, out)
		}
	}
}

// TestRackFaults: what a killed run has on its machines goes with the next command, and
// what an interrupted one has with itself, even while its machines are still at it. When a
// daemon goes away the run says so, keeps its points, and leaves nothing where somebody
// answers; the rest is forgotten on request, or goes once the daemon is back.
func TestRackFaults(t *testing.T) {
	t.Parallel()
	r := newRack(t, 3)
	away := r.machines[2]
	out := t.TempDir()
	run := func() *exec.Cmd {
		return command(t, plainVar, "run", labFile(t, small), "--machines", r.inventory, "--out", out)
	}
	untilHosts := func(n int) *exec.Cmd {
		c := run()
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		waitUpTo(t, time.Minute, func() bool { return strings.Count(away.output(t, "ps", "--format", "{{.Names}}"), "-h") >= n })
		return c
	}
	far := run()
	far.Args = append(far.Args, "--set", "rtt=1us", "--dilation", "1")
	if o := finish(t, far, 2); !containsAll(o.err, "longer than the lab's links", "on machine m", "want --dilation ") {
		t.Errorf("machines that are too far apart: %q", o.err)
	}
	r.nothingLeft(r.machines...)

	c := untilHosts(1)
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	aqmlab(t, plainVar, 0, "lab", "status")
	r.nothingLeft(r.machines...)

	c = untilHosts(1) // when others have yet to come
	send(t, started{Cmd: c}, unix.SIGINT)
	_ = c.Wait() // the exit code says it
	if code := c.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d after SIGINT, want 130", code)
	}
	r.nothingLeft(r.machines...)

	c = startCommand(t, run(), "[2/3]").Cmd
	daemon := away.killDaemon(t)
	_ = c.Wait() // the exit code says it
	if code := c.ProcessState.ExitCode(); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	keepsFirst(t, out, "machine m3", "no longer answers")
	for _, m := range r.machines[:2] {
		if left := m.output(t, "ps", "--all", "--quiet"); left != "" {
			t.Errorf("left on %s: %s", m.Name, left)
		}
	}
	filter := forgets(t, away)
	if out, err := away.on(append([]string{"sh", "-c", `rm -f /run/docker.pid /run/docker/containerd/containerd.pid; "$@" >/dev/null 2>&1 &`, "sh"}, daemon...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	waitUpTo(t, time.Minute, func() bool { return away.docker("version").Run() == nil })
	if found := away.output(t, "ps", "--all", "--format", "{{.Names}}", "--filter", filter); strings.Count(found, "-h") != 1 {
		t.Errorf("docker ps --filter %s finds %q, want one host", filter, found)
	}
	aqmlab(t, plainVar, 0, "lab", "status")
	r.nothingLeft(r.machines...)
}

// forgets forgets the only lab here, which has something on a machine that is away, and returns
// what finds that there. The lab's state is then put back.
func forgets(t *testing.T, away *rackMachine) (filter string) {
	t.Helper()
	ids := labsIn(stateOf(t))
	if len(ids) != 1 {
		t.Fatalf("labs in the journal: %v, want that of %s", ids, away.Name)
	}
	dir, kept := filepath.Join(stateOf(t), ids[0]), t.TempDir()
	if err := os.CopyFS(kept, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	o := aqmlab(t, plainVar, 0, "lab", "down", ids[0], "--forget")
	if !containsAll(o.err, "what the lab has on machine "+away.Name+" stays until it answers", "aqmlab lab down "+ids[0]+" --forget") || !containsAll(o.out, "Removed lab "+ids[0], "machine "+away.Name) {
		t.Errorf("lab down --forget printed %q, and said %q", o.out, o.err)
	}
	if left := labsIn(stateOf(t)); len(left) > 0 {
		t.Errorf("labs left: %v", left)
	}
	if err := os.CopyFS(dir, os.DirFS(kept)); err != nil {
		t.Fatal(err)
	}
	_, words, _ := strings.Cut(o.out, "--filter ")
	filter, _, _ = strings.Cut(words, " ")
	return filter
}

// killDaemon kills the Docker daemon of a machine, and returns its words.
func (m *rackMachine) killDaemon(t *testing.T) []string {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range lines {
		line, _ := os.ReadFile(path) // of one that has ended: nothing
		words := strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
		if filepath.Base(words[0]) != "dockerd" || !strings.Contains(string(line), m.dir) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err == nil {
			err = unix.Kill(pid, unix.SIGKILL)
		}
		if err != nil {
			t.Fatal(err)
		}
		return words
	}
	t.Fatal("no Docker daemon of machine " + m.Name)
	return nil
}
