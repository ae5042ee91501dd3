//go:build linux

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"aqmlab/results"
	"aqmlab/results/store"
)

// ordinary is a user without any rights, whom this machine does not even know.
type ordinary struct{ home string }

const ordinaryID = 31415

// newOrdinary makes a user's home, which goes with the test.
func newOrdinary(t *testing.T) ordinary {
	t.Helper()
	needRoot(t)                                           // to become another user
	home, err := os.MkdirTemp("/tmp", "aqmlab-e2e-user-") // others may not enter the test's own
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(home); err != nil {
			t.Error(err)
		}
	})
	u := ordinary{home}
	for _, dir := range []string{home, u.runtime(), u.out()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(dir, ordinaryID, ordinaryID); err != nil {
			t.Fatal(err)
		}
	}
	return u
}

// newRootless is a user who may have user namespaces.
func newRootless(t *testing.T) ordinary {
	t.Helper()
	u := newOrdinary(t)
	if d, code := u.doctor(t, u.command(t, "doctor", "--json")); code != 0 || !d.Rootless {
		t.Skip("no user namespaces for ordinary users: " + d.Findings[0].Text)
	}
	t.Cleanup(func() {
		if left := append(labsIn(filepath.Join(u.runtime(), "aqmlab")), agents(u.home)...); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
	return u
}

func (u ordinary) runtime() string { return filepath.Join(u.home, "run") }
func (u ordinary) out() string     { return filepath.Join(u.home, "out") }

// lab writes a lab file that the user may read.
func (u ordinary) lab(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(u.home, "lab.yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// command is a command of this user's, at home.
func (u ordinary) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	c := command(t, plainVar, args...)
	c.Dir = u.home
	c.Env = slices.DeleteFunc(c.Env, func(v string) bool { return strings.HasPrefix(v, stateVar+"=") || strings.HasPrefix(v, "XDG_") })
	c.Env = append(c.Env, "HOME="+u.home, "XDG_RUNTIME_DIR="+u.runtime(), "TMPDIR="+u.home)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinaryID, Gid: ordinaryID}}
	return c
}

// diagnosis is what doctor --json says.
type diagnosis struct {
	Ready    bool
	Rootless bool
	Findings []struct{ Part, Text, Remedy string }
}

func (u ordinary) doctor(t *testing.T, c *exec.Cmd) (d diagnosis, code int) {
	t.Helper()
	var out bytes.Buffer
	c.Stdout = &out
	_ = c.Run()
	if err := json.Unmarshal(out.Bytes(), &d); err != nil {
		t.Fatalf("doctor --json: %v\n%s", err, &out)
	}
	return d, c.ProcessState.ExitCode()
}

// spoken is the small lab on what every kernel speaks, also to those who may load nothing.
var spoken = strings.Replace(small, "transport: dctcp", "transport: ecn-star", 1)

// TestRootless: an ordinary user runs a lab on real hosts, and is told which and why. The
// results are the user's, and say how they were made.
func TestRootless(t *testing.T) {
	t.Parallel()
	u := newRootless(t)
	o := finish(t, u.command(t, "run", u.lab(t, spoken), "--json", "--out", u.out(), "--flows", "60"), 0)
	if !containsAll(o.err, "runtime netns: ", "not root") || strings.Contains(o.err, "in place of") {
		t.Errorf("stderr:\n%s", o.err)
	}
	run, printed := opened(t, o)
	all := points(t, run)
	if len(all) != 3 || len(printed.Runs) != 3 || len(all["droptail"].Flows) != 60 {
		t.Fatalf("%d points stored, printed %+v", len(all), printed)
	}
	for scheme, p := range all {
		checkFlows(t, scheme, p.Flows, all["droptail"].Flows)
		checkQueues(t, scheme, p)
		if marks := results.CountsOf(p).Marks; (marks > 0) != (scheme != "droptail") {
			t.Errorf("%s marked %d packets", scheme, marks)
		}
	}
	if m := run.Manifest; m.Runtime != "netns" || !m.Rootless || m.Transport != (results.Transport{Name: "ecn-star", Provider: "kernel"}) {
		t.Errorf("manifest: %+v", m)
	}
	err := filepath.WalkDir(run.Dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		st, err := os.Stat(path)
		if err != nil {
			return err
		}
		if owner := st.Sys().(*syscall.Stat_t); owner.Uid != ordinaryID || owner.Gid != ordinaryID {
			t.Errorf("%s belongs to %d:%d", path, owner.Uid, owner.Gid)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestRootlessTransport: a transport that the kernel gives to root alone is replaced by
// another one, which the user is told and the run says. Who asks for real hosts, and
// leaves no choice, is told how to get it.
func TestRootlessTransport(t *testing.T) {
	t.Parallel()
	u := newRootless(t)
	if kernelHasDCTCP(t) {
		t.Skip("the kernel has a DCTCP of its own")
	}
	o := finish(t, u.command(t, "run", "smoke", "--json", "--out", u.out()), 0)
	if !containsAll(o.err, "runtime netns: ", "ecn-star in place of dctcp") {
		t.Errorf("stderr:\n%s", o.err)
	}
	run, _ := opened(t, o)
	if want := (results.Transport{Name: "ecn-star", Provider: "kernel", InPlaceOf: "dctcp"}); run.Manifest.Transport != want || !bytes.Contains(run.LabYAML, []byte("kind: ecn-star")) {
		t.Errorf("transport %+v of lab\n%s", run.Manifest.Transport, run.LabYAML)
	}
	other := finish(t, u.command(t, "run", "smoke", "--runtime", "sim", "--json", "--out", u.out()), 0)
	dctcp, _ := opened(t, other)
	if c := finish(t, u.command(t, "compare", run.Dir, dctcp.Dir), 0); !containsAll(c.out, "transport", "ecn-star", "dctcp") {
		t.Errorf("runs of two transports compared:\n%s", c.out)
	}
	o = finish(t, u.command(t, "run", "smoke", "--runtime", "netns", "--out", u.out()), 2)
	if !containsAll(o.err, "no dctcp here", "modprobe tcp_dctcp", "host.transport: ecn-star") {
		t.Errorf("stderr:\n%s", o.err)
	}
}

func kernelHasDCTCP(t *testing.T) bool {
	t.Helper()
	text, err := os.ReadFile("/proc/sys/net/ipv4/tcp_available_congestion_control")
	if err != nil {
		t.Fatal(err)
	}
	return slices.Contains(strings.Fields(string(text)), "dctcp")
}

// TestRootlessSweep: a sweep on real hosts is measured without root, too.
func TestRootlessSweep(t *testing.T) {
	t.Parallel()
	u := newRootless(t)
	o := finish(t, u.command(t, "sweep", u.lab(t, spoken), "--runtime", "netns", "--schemes", "tcn", "--over", "workload.flows=10,20", "--store", filepath.Join(u.home, "store")), 0)
	if !strings.Contains(o.err, "2 to measure") {
		t.Errorf("stderr:\n%s", o.err)
	}
}

// TestRootlessEnds: a signal to the command ends its run in the user namespace, once, with
// the exit code that shells expect and the points that are whole. After kill -9 nothing
// runs any more, and the next command removes the rest.
func TestRootlessEnds(t *testing.T) {
	t.Parallel()
	u := newRootless(t)
	lab := u.lab(t, spoken)
	for s, want := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143, syscall.SIGKILL: -1} {
		out := filepath.Join(u.out(), s.String())
		run := startCommand(t, u.command(t, "run", lab, "--out", out), "[2/3]")
		if got := signalled(t, run.Cmd, s); got != want {
			t.Errorf("%v: exit code %d, want %d", s, got, want)
		}
		waitFor(t, func() bool { return agents(u.home) == nil })
		if s == syscall.SIGKILL {
			finish(t, u.command(t, "lab", "list"), 0)
			continue
		}
		if kept, err := store.List(out); err != nil || len(kept) != 1 || kept[0].State != results.Partial || kept[0].Points != 1 {
			t.Errorf("%v: runs kept: %+v, %v", s, kept, err)
		}
	}
}

// TestRootlessTerminal: Ctrl-C on a terminal is one signal, although the run in the user
// namespace is on the same terminal, whose colours and bars it has.
func TestRootlessTerminal(t *testing.T) {
	t.Parallel()
	u := newRootless(t)
	c := u.command(t, "run", u.lab(t, spoken), "--out", u.out())
	terminal, err := pty.StartWithSize(c, &pty.Winsize{Rows: 40, Cols: 120})
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	shown := make([]byte, 0, 1<<16)
	for !bytes.Contains(shown, []byte("dctcp-red")) {
		n, err := terminal.Read(shown[len(shown):cap(shown)])
		if err != nil || n == 0 {
			t.Fatalf("shown: %s, %v", shown, err)
		}
		shown = shown[:len(shown)+n]
	}
	if _, err := terminal.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(terminal) // its end is an error
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != 130 || !bytes.Contains(rest, []byte("interrupted")) {
		t.Errorf("exit code %d, want 130; shown: %s%s", code, shown, rest)
	}
}

// TestRootlessLabUp: a lab of an ordinary user stays up, whose hosts run commands from the
// user's folder, and lab down removes it with what runs on its hosts.
func TestRootlessLabUp(t *testing.T) {
	t.Parallel()
	u := newRootless(t)
	if _, err := exec.LookPath("nsenter"); err != nil {
		t.Skip(err)
	}
	if o := finish(t, u.command(t, "lab", "up", u.lab(t, spoken), "--scheme", "tcn"), 0); !containsAll(o.out, "4 hosts", "lab exec", "lab down") {
		t.Errorf("up:\n%s", o.out)
	}
	if state := filepath.Join(u.runtime(), "aqmlab"); len(labsIn(state)) != 1 {
		t.Errorf("labs in %s: %v", state, labsIn(state))
	}
	if o := finish(t, u.command(t, "lab", "status"), 0); !containsAll(o.out, "e2e", "detached", "tcn") {
		t.Errorf("status:\n%s", o.out)
	}
	o := finish(t, u.command(t, "lab", "exec", "h2", "--", "sh", "-c", "pwd; ls /sys/class/net; ip route; exit 7"), 7)
	if !containsAll(o.out, u.home+"\n", "eth0\nlo\n", "10.77.0.0/16 via 169.254.1.1") {
		t.Errorf("exec:\n%s%s", o.out, o.err)
	}
	left := u.command(t, "lab", "exec", "h1", "--", "sleep", "1000")
	if err := left.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool {
		name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", left.Process.Pid))
		return string(name) == "sleep\n"
	})
	if o := finish(t, u.command(t, "lab", "down"), 0); !strings.Contains(o.out, "Removed lab") {
		t.Errorf("down:\n%s", o.out)
	}
	if err := left.Wait(); err == nil {
		t.Error("what ran on a host ended by itself")
	}
	if o := finish(t, u.command(t, "lab", "status"), 0); !strings.Contains(o.out, "No lab is up") {
		t.Errorf("status:\n%s", o.out)
	}
}

// TestStateOfAnother: an ordinary user to whom the environment names the folder of another
// one's labs is told so.
func TestStateOfAnother(t *testing.T) {
	u := newRootless(t)
	c := u.command(t, "run", "smoke", "--runtime", "netns", "--out", u.out())
	c.Env = append(c.Env, stateVar+"="+t.TempDir())
	if o := finish(t, c, 2); !containsAll(o.err, "permission denied", stateVar) || strings.Count(o.err, "\n") != 1 {
		t.Errorf("stderr:\n%s", o.err)
	}
}

// forbidden is a command of this user's where root forbids user namespaces, in one, so
// that nobody else is concerned.
func (u ordinary) forbidden(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	for _, tool := range []string{"sh", "setpriv"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	c := u.command(t, args...)
	id := fmt.Sprint(ordinaryID)
	script := `echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --reuid=` + id + ` --regid=` + id + ` --clear-groups "$@"`
	c.Args = append([]string{"sh", "-c", script, "sh"}, append([]string{c.Path}, args...)...)
	c.Path, _ = exec.LookPath("sh")
	all := []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 65536}}
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER, UidMappings: all, GidMappings: all, GidMappingsEnableSetgroups: true}
	return c
}

// TestNamespacesForbidden: where an ordinary user may have no user namespaces, labs run
// otherwise, and who asks for real hosts is told what forbids them.
func TestNamespacesForbidden(t *testing.T) {
	u := newOrdinary(t)
	const setting = "user.max_user_namespaces"
	o := finish(t, u.forbidden(t, "run", "smoke", "--json", "--out", u.out()), 0)
	if !containsAll(o.err, "runtime sim: ", setting+"=0", "no guest kernel") || !strings.Contains(o.out, `"runtime": "sim"`) {
		t.Errorf("%s\n%s", o.err, o.out)
	}
	for _, args := range [][]string{{"run", "smoke", "--runtime", "netns"}, {"lab", "up", "smoke"}} {
		if o := finish(t, u.forbidden(t, args...), 2); !containsAll(o.err, setting+"=0", "sysctl -w "+setting, "sudo", "sim") {
			t.Errorf("%v: %s", args, o.err)
		}
	}
	d, code := u.doctor(t, u.forbidden(t, "doctor", "--json"))
	if f := d.Findings[0]; code != 1 || d.Ready || d.Rootless || !strings.Contains(f.Text, setting+"=0") || !containsAll(f.Remedy, "sudo", "sysctl -w "+setting) {
		t.Errorf("doctor: exit code %d, %+v", code, d)
	}
}
