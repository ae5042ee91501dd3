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
)

// needGuest skips where no guest kernel is at hand, and gives the test a
// temporary folder of its own, which no run may leave anything in.
func needGuest(t *testing.T) {
	t.Helper()
	var stderr strings.Builder
	c := command(t, plainVar, "kernel", "show")
	c.Stderr = &stderr
	if err := c.Run(); err != nil {
		t.Skip(strings.TrimSpace(stderr.String()))
	}
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	t.Cleanup(func() {
		if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
		if left := guestKernels(); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}

// runGuest runs one scheme of the small lab under a guest kernel.
func runGuest(t *testing.T, args ...string) (*results.Run, results.RunJSON) {
	t.Helper()
	return runLab(t, plainVar, labFile(t, small), append([]string{"--runtime", "uml", "--schemes", "tcn", "--flows", "30"}, args...)...)
}

// TestGuest checks a run on the kernel's own stack in virtual time: every flow
// completes, none faster than its link and the round trip allow, the marks of
// the switch are those that the receivers saw, and nothing was late.
func TestGuest(t *testing.T) {
	needGuest(t)
	run, _ := runGuest(t)
	const rate, rtt = 200e6, time.Millisecond // of the lab
	m := run.Manifest
	if m.Runtime != "uml" || m.Dilation != 1 || m.Transport.Provider != "kernel" || !strings.Contains(m.Host.Kernel, "User-Mode Linux") {
		t.Errorf("manifest: %+v", m)
	}
	base := time.Duration(m.BaseRTT)
	if off := (base - rtt).Abs(); off > rtt/100 {
		t.Errorf("a base RTT of %v, want %v", base, rtt)
	}
	p := points(t, run)["tcn"]
	if p.Fidelity.Label != results.FidelityExact || len(p.Flows) != 30 {
		t.Errorf("%d flows, fidelity %+v", len(p.Flows), p.Fidelity)
	}
	for _, f := range p.Flows {
		least := base + time.Duration(float64(8*f.Bytes)/rate*1e9)
		if !f.Completed() || f.FCT < least {
			t.Errorf("flow %d: %+v, want at least %v", f.ID, f, least)
		}
	}
	var marked, seen int64
	for _, q := range p.Ports {
		marked += q.Marked
	}
	for _, h := range p.Hosts {
		seen += h.CEReceived
	}
	if marked == 0 || marked != seen {
		t.Errorf("the switch marked %d packets, the hosts saw %d", marked, seen)
	}
}

// TestGuestRepeats: two runs store the same bytes, whatever runs beside them.
func TestGuestRepeats(t *testing.T) {
	needGuest(t)
	one, _ := runGuest(t, "--seeds", "1,2", "--jobs", "1")
	two, _ := runGuest(t, "--seeds", "1,2", "--jobs", "2")
	files, err := filepath.Glob(filepath.Join(one.Dir, "*", "*"))
	if err != nil || len(files) != 3*2 { // of each seed
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

// TestGuestKilled: neither guests nor their processes outlive a run that is
// killed, and the next removes its folder.
func TestGuestKilled(t *testing.T) {
	needGuest(t)
	c := startGuest(t)
	if len(guestKernels()) == 0 {
		t.Error("no guest is to be seen")
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // says that it was killed
	deadline := time.Now().Add(10 * time.Second)
	for len(guestKernels()) > 0 && time.Now().Before(deadline) {
	}
	aqmlab(t, plainVar, 0, "kernel", "test")
}

// TestGuestInterrupted: an interrupted run takes its guests along.
func TestGuestInterrupted(t *testing.T) {
	needGuest(t)
	c := startGuest(t)
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
}

// TestGuestDies: a guest that ends by itself fails its run, which says how, keeps
// the points that were done and marks them as partial.
func TestGuestDies(t *testing.T) {
	needGuest(t)
	out := t.TempDir()
	args := []string{"run", labFile(t, small), "--runtime", "uml", "--schemes", "droptail,tcn", "--jobs", "1", "--json", "--out", out}
	c := command(t, plainVar, args...)
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if strings.HasPrefix(lines.Text(), "[2/2]") {
			for _, pid := range guestKernels() {
				_ = syscall.Kill(pid, syscall.SIGKILL) // it may be gone
			}
		}
	}
	_ = c.Wait() // the exit code says it
	if code := c.ProcessState.ExitCode(); code != 1 || !containsAll(said.String(), "running tcn at load 0.7, seed 1", "the guest ended without a reply: signal: killed") {
		t.Errorf("exit code %d:\n%s", code, said.String())
	}
	dirs, err := filepath.Glob(filepath.Join(out, "2*"))
	if err != nil || len(dirs) != 1 {
		t.Fatalf("stored %v, %v", dirs, err)
	}
	run, err := results.Open(dirs[0])
	if err != nil {
		t.Fatal(err)
	}
	if all := points(t, run); len(all) != 1 || len(all["droptail"].Flows) != 120 || run.Manifest.State != results.Partial {
		t.Errorf("%d points stored, %+v", len(all), run.Manifest)
	}
}

// TestGuestOfUser: an ordinary user, who has but a kernel that was copied from
// elsewhere, runs a lab on it.
func TestGuestOfUser(t *testing.T) {
	needRoot(t) // to become nobody
	needGuest(t)
	c := command(t, plainVar, "kernel", "path")
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
	run := command(t, plainVar, "run", "smoke", "--runtime", "auto", "--schemes", "tcn", "--json", "--out", filepath.Join(home, "out"))
	run.Dir = home
	run.Env = append(run.Env, "XDG_CACHE_HOME="+home, "TMPDIR="+home)
	run.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	o := finish(t, run, 0)
	if !containsAll(o.err, "runtime uml", "need root") || !containsAll(o.out, `"runtime": "uml"`, `"exact"`) {
		t.Errorf("%s\n%s", o.err, o.out)
	}
	if left, err := filepath.Glob(filepath.Join(home, "aqmlab-uml-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// guestKernels are the processes in the guests' folders, which are below $TMPDIR.
func guestKernels() []int {
	var pids []int
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range links {
		if dir, err := os.Readlink(link); err != nil || !strings.HasPrefix(dir, filepath.Join(os.TempDir(), "aqmlab-uml-")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(link))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// startGuest starts a run, and returns when flows of its point have ended.
func startGuest(t *testing.T) *exec.Cmd {
	t.Helper()
	s := startCommand(t, plainVar, "/120 flows", "run", labFile(t, small), "--runtime", "uml", "--schemes", "tcn", "--out", t.TempDir())
	return s.Cmd
}
