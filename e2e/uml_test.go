//go:build linux

package e2e

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"aqmlab/results"
	"aqmlab/results/report"
	"aqmlab/results/store"
)

// guests is where a test has its guests: a temporary folder of its own, which no
// run may leave anything in.
type guests struct{ tmp string }

// needGuest skips where no guest kernel is at hand. Tests of guests run beside each
// other, when all others are over: load does not disturb them, but they disturb what
// keeps up with the wall clock.
func needGuest(t *testing.T) guests { return needGuestOf(t, "6.1") }

// needGuestOf is needGuest for a version of the kernel.
func needGuestOf(t *testing.T, version string) guests {
	t.Helper()
	t.Parallel()
	var stderr strings.Builder
	c := command(t, plainVar, "kernel", "path", "--version", version)
	c.Stderr = &stderr
	if err := c.Run(); err != nil {
		t.Skip(strings.TrimPrefix(strings.TrimSpace(stderr.String()), "aqmlab: "))
	}
	g := guests{t.TempDir()}
	t.Cleanup(func() {
		if left, err := os.ReadDir(g.tmp); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
		if left := g.kernels(); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
	return g
}

// command is a command that has its guests there.
func (g guests) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	c := command(t, plainVar, args...)
	c.Env = append(c.Env, "TMPDIR="+g.tmp)
	return c
}

// run runs a lab there and returns what it stored and printed.
func (g guests) run(t *testing.T, lab string, args ...string) (*store.Run, report.RunJSON) {
	t.Helper()
	return finishLab(t, g.command(t, labArgs(t, lab, append([]string{"--runtime", "uml"}, args...))...))
}

// TestGuest checks a run on the kernel's own stack in virtual time as [TestRun]
// does, and what is exact in it: no flow is faster than its link and the round trip
// allow, every mark of the switch is seen by a receiver, and nothing is late.
func TestGuest(t *testing.T) {
	run, printed := needGuest(t).run(t, labFile(t, small), "--flows", "40")
	checkRun(t, run, printed, 40)
	const rate, rtt = 200e6, time.Millisecond // of the lab
	m := run.Manifest
	if m.Runtime != "uml" || m.Dilation != 1 || m.Transport.Provider != "kernel" || !strings.Contains(m.Host.Kernel, "User-Mode Linux") {
		t.Errorf("manifest: %+v", m)
	}
	base := time.Duration(m.BaseRTT)
	if off := (base - rtt).Abs(); off > rtt/100 {
		t.Errorf("a base RTT of %v, want %v", base, rtt)
	}
	for scheme, p := range points(t, run) {
		if p.Fidelity.Label != results.FidelityExact {
			t.Errorf("%s: fidelity %+v", scheme, p.Fidelity)
		}
		for _, f := range p.Flows {
			least := base + time.Duration(float64(8*f.Bytes)/rate*1e9)
			if f.FCT < least {
				t.Errorf("%s: flow %d: %+v, want at least %v", scheme, f.ID, f, least)
			}
		}
		var marked, seen int64
		for _, q := range p.Ports {
			marked += q.Marked
		}
		for _, h := range p.Hosts {
			seen += h.CEReceived
		}
		if marked != seen {
			t.Errorf("%s: the switch marked %d packets, the hosts saw %d", scheme, marked, seen)
		}
	}
}

// TestGuestOfOtherKernel: a lab on another kernel is as exact, stores the same bytes a
// second time, and says which kernel that was. It is not one with the lab on the first.
func TestGuestOfOtherKernel(t *testing.T) {
	g, lab := needGuestOf(t, "6.12"), labFile(t, small)
	args := []string{"--kernel", "6.12", "--schemes", "droptail,tcn", "--flows", "20"}
	run, printed := g.run(t, lab, append(args, "--jobs", "1")...)
	for scheme, p := range points(t, run) {
		if p.Fidelity.Label != results.FidelityExact {
			t.Errorf("%s: fidelity %+v", scheme, p.Fidelity)
		}
	}
	if guest, _ := run.Manifest.Host.Kernels(); !strings.HasPrefix(guest, "6.12.") || !strings.Contains(string(run.LabYAML), `kernel: "6.12"`) || len(printed.Runs) != 2 {
		t.Errorf("the kernel was %q, of lab\n%s", guest, run.LabYAML)
	}
	again, _ := g.run(t, lab, append(args, "--jobs", "2")...)
	sameFiles(t, run.Dir, again.Dir)
}

// TestGuestOfDynamicProgram: a program that `go build` links to the C library, as it
// does where gcc is installed, runs in guests, too.
func TestGuestOfDynamicProgram(t *testing.T) {
	g := needGuest(t)
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("needs gcc")
	}
	c := g.command(t, "run", "smoke", "--runtime", "uml", "--schemes", "tcn", "--json", "--out", t.TempDir())
	c.Path = filepath.Join(t.TempDir(), "aqmlab")
	build := exec.Command("go", "build", "-o", c.Path, "aqmlab")
	build.Env = append(os.Environ(), "CGO_ENABLED=1")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build.Args, err, out)
	}
	finishLab(t, c)
}

// TestGuestABQ is [TestABQ] in virtual time.
func TestGuestABQ(t *testing.T) {
	run, _ := needGuest(t).run(t, labFile(t, smallABQ()), "--schemes", "abq", "--flows", "40")
	checkABQ(t, points(t, run)["abq"])
}

// TestGuestOnLoss: the kernel's DCTCP answers losses as the lab asks. Where nothing
// is marked, a loss takes half of the window, or nothing of it, as in Linux before
// 5.1: then more packets are dropped. A single seed may show the opposite.
func TestGuestOnLoss(t *testing.T) {
	g, lab := needGuest(t), labFile(t, small)
	drops := map[string]int64{}
	for _, onLoss := range []string{"half", "alpha"} {
		run, _ := g.run(t, lab, "--schemes", "droptail", "--flows", "40", "--seeds", "1..4", "--set", "host.transport.on_loss="+onLoss)
		for _, p := range run.Points() {
			for _, c := range p.Ports {
				drops[onLoss] += c.DropsFull
			}
		}
	}
	if drops["half"] == 0 || 4*drops["alpha"] < 5*drops["half"] {
		t.Errorf("packets dropped: %v", drops)
	}
}

// TestGuestRepeats: two runs store the same bytes of a point, whatever runs beside
// it and whatever other points the lab has.
func TestGuestRepeats(t *testing.T) {
	g, lab := needGuest(t), labFile(t, small)
	one, _ := g.run(t, lab, "--schemes", "tcn", "--flows", "15", "--seeds", "1,2", "--jobs", "1")
	two, _ := g.run(t, lab, "--schemes", "droptail,tcn", "--flows", "15", "--seeds", "2,1", "--jobs", "2")
	files, err := filepath.Glob(filepath.Join(one.Dir, "*", "*"))
	if err != nil || len(files) != 5*2 { // of each seed
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimPrefix(file, one.Dir)
		a, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(two.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(a, b) {
			t.Errorf("%s differs between two runs", name)
		}
	}
}

// TestGuestInterrupted: an interrupted run takes its guests along.
func TestGuestInterrupted(t *testing.T) {
	c := needGuest(t).start(t)
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
}

// TestGuestDies: a guest that ends by itself, or is stopped, fails its run, which says
// how, keeps the points that were done and marks them as partial.
func TestGuestDies(t *testing.T) {
	for signal, says := range map[syscall.Signal]string{
		syscall.SIGKILL: "the guest ended without a reply: signal: killed",
		syscall.SIGSTOP: "the guest made no progress: process",
	} {
		t.Run(signal.String(), func(t *testing.T) {
			g, out := needGuest(t), t.TempDir()
			c := g.command(t, "run", labFile(t, small), "--runtime", "uml", "--schemes", "droptail,tcn", "--flows", "30", "--jobs", "1", "--json", "--out", out)
			said := signalGuest(t, g, c, signal)
			if code := c.ProcessState.ExitCode(); code != 1 || !containsAll(said, "running tcn at load 0.7, seed 1", says) {
				t.Errorf("exit code %d:\n%s", code, said)
			}
			run, err := store.Open(filepath.Join(out, "latest"))
			if err != nil {
				t.Fatal(err)
			}
			if all := points(t, run); len(all) != 1 || len(all["droptail"].Flows) != 30 || run.Manifest.State != results.Partial {
				t.Errorf("%d points stored, %+v", len(all), run.Manifest)
			}
		})
	}
}

// signalGuest runs a command, sends the guest of its second point a signal, and returns
// what the command said.
func signalGuest(t *testing.T, g guests, c *exec.Cmd, signal syscall.Signal) string {
	t.Helper()
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	start(t, c)
	var said strings.Builder
	sent := false
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if strings.HasPrefix(lines.Text(), "[2/2]") && !sent {
			sent = true
			waitFor(t, func() bool { return len(g.kernels()) > 0 })
			for _, pid := range g.kernels() {
				_ = syscall.Kill(pid, signal) // it may be gone
			}
		}
	}
	_ = c.Wait() // the exit code says it
	return said.String()
}

// TestGuestOfUser: an ordinary user, who has but a kernel that was copied from
// elsewhere, runs a lab on it.
func TestGuestOfUser(t *testing.T) {
	needRoot(t) // to become nobody
	c := needGuest(t).command(t, "kernel", "path")
	image := strings.TrimSpace(finish(t, c, 0).out)
	home, err := os.MkdirTemp("/tmp", "aqmlab-e2e-user-") // nobody may enter, unlike the test's own
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(home); err != nil {
			t.Error(err)
		}
	})
	cache := filepath.Join(home, "aqmlab", "kernel")
	if err := os.CopyFS(cache, os.DirFS(filepath.Dir(image))); err != nil {
		t.Fatal(err)
	}
	const nobody = 65534
	if err := os.Chown(home, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	run := command(t, plainVar, "run", "smoke", "--runtime", "uml", "--schemes", "tcn", "--json", "--out", filepath.Join(home, "out"))
	run.Dir = home
	run.Env = append(run.Env, "XDG_CACHE_HOME="+home, "TMPDIR="+home)
	run.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	o := finish(t, run, 0)
	if !containsAll(o.out, `"runtime": "uml"`, `"exact"`) {
		t.Errorf("%s\n%s", o.err, o.out)
	}
	if left, err := filepath.Glob(filepath.Join(home, "aqmlab-uml-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestGuestWindows: the memory of a guest does not bound the windows in it. A flow
// over 1 Gbps and 16 ms takes a window of 2 MB to fill the link.
func TestGuestWindows(t *testing.T) {
	lab := labFile(t, `
name: windows
topology: {kind: star, hosts: 2, rate: 1Gbps}
rtt: 16ms
host: {transport: cubic}
switch: {buffer: {per_port: 4MB}}
schemes: [{name: droptail, aqm: droptail}]
workload: {arrival: {kind: static, count: [1]}, sizes: {kind: fixed, size: 20MB}, transfer: push, connections: 0}
`)
	run, _ := needGuest(t).run(t, lab)
	p := points(t, run)["droptail"]
	// 20 MB are 166 ms of the link with headers. Slow start adds eight round trips,
	// from ten packets to the window.
	const most = 166*time.Millisecond + 9*16*time.Millisecond
	if len(p.Flows) != 1 || !p.Flows[0].Completed() || p.Flows[0].FCT > most {
		t.Errorf("%+v, want at most %v", p.Flows, most)
	}
}

// TestGuestMemory: a guest that needs more memory than it may use says so.
func TestGuestMemory(t *testing.T) {
	c := needGuest(t).command(t, "run", "smoke", "--runtime", "uml", "--schemes", "tcn", "--flows", "1000000", "--out", t.TempDir())
	if o := finish(t, c, 1); !containsAll(o.err, "running tcn at load 0.5, seed 1", "the guest ran out of memory", "of at most", "Kernel panic", "Out of memory") {
		t.Errorf("%s", o.err)
	}
}

// kernels are the processes of its guests.
func (g guests) kernels() []int {
	var pids []int
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range links {
		if dir, err := os.Readlink(link); err != nil || !strings.HasPrefix(dir, filepath.Join(g.tmp, "aqmlab-uml-")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(link))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// start starts a run, and returns when flows of its point have ended.
func (g guests) start(t *testing.T) *exec.Cmd {
	t.Helper()
	c := g.command(t, "run", labFile(t, small), "--runtime", "uml", "--schemes", "tcn", "--flows", "20000", "--out", t.TempDir())
	return startCommand(t, c, "/20000 flows").Cmd
}
