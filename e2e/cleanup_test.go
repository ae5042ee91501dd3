//go:build linux

package e2e

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"aqmlab/orchestrator/host"
	"aqmlab/results"
	"aqmlab/results/store"
)

// started is a run that has been started and watched until its output holds a
// text.
type started struct {
	*exec.Cmd
	out string // folder of its results
}

// startUntil starts a run and returns when its progress shows the text.
func startUntil(t *testing.T, text string) started {
	t.Helper()
	out := t.TempDir()
	s := startCommand(t, command(t, raceVar, "run", labFile(t, small), "--out", out), text)
	s.out = out
	return s
}

// startCommand starts a command and returns when its stderr shows the text.
func startCommand(t *testing.T, c *exec.Cmd, text string) started {
	t.Helper()
	s := started{Cmd: c}
	pipe, err := s.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	seen, buffer := []byte{}, make([]byte, 4096)
	for !bytes.Contains(seen, []byte(text)) {
		n, err := pipe.Read(buffer)
		seen = append(seen, buffer[:n]...)
		if err != nil {
			t.Fatalf("the run ended before it said %q: %v\n%s", text, err, seen)
		}
	}
	go func() { _, _ = io.Copy(io.Discard, pipe) }() // ends with the process
	return s
}

// startUntilUp starts a run and returns as soon as it has made a namespace.
func startUntilUp(t *testing.T) started {
	t.Helper()
	s := started{out: t.TempDir()}
	s.Cmd = command(t, raceVar, "run", labFile(t, small), "--out", s.out)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool {
		for _, id := range labsIn(stateOf(t)) {
			if made, _ := filepath.Glob("/run/netns/aqm-" + id + "-*"); len(made) > 0 {
				return true
			}
		}
		return false
	})
	return s
}

// TestEndWhileComingUp ends a run in the middle of its bring-up, by Ctrl-C and
// by kill -9.
func TestEndWhileComingUp(t *testing.T) {
	t.Parallel()
	needRoot(t)
	for name, signal := range map[string]os.Signal{"interrupt": os.Interrupt, "kill": os.Kill} {
		t.Run(name, func(t *testing.T) {
			s := startUntilUp(t)
			if err := s.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			_ = s.Wait()
			if signal == os.Kill {
				// A child that was just being started has the lab locked until it is gone, too.
				waitFor(t, func() bool {
					aqmlab(t, plainVar, 0, "lab", "list")
					return len(leftovers(t)) == 0
				})
			} else if code := s.ProcessState.ExitCode(); code != 130 {
				t.Errorf("exit code %d, want 130", code)
			}
			nothingLeft(t)
		})
	}
}

// moments are texts that a run prints as it goes on.
var moments = map[string]string{
	"calibrated":      "base RTT",
	"first point":     "[1/3]",
	"in second point": "[2/3]",
}

// TestInterrupt: Ctrl-C ends a run with 130, cleans up, and keeps the points
// that are whole.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	needRoot(t)
	for name, text := range moments {
		t.Run(name, func(t *testing.T) {
			s := startUntil(t, text)
			if err := s.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			_ = s.Wait()
			if code := s.ProcessState.ExitCode(); code != 130 {
				t.Errorf("exit code %d, want 130", code)
			}
			nothingLeft(t)
			kept, err := filepath.Glob(filepath.Join(s.out, "*-e2e-*", "manifest.json"))
			if err != nil {
				t.Fatal(err)
			}
			if want := name == "in second point"; (len(kept) == 1) != want {
				t.Errorf("runs kept: %v", kept)
			}
			if unfinished, _ := filepath.Glob(filepath.Join(s.out, ".partial-*")); len(unfinished) > 0 {
				t.Errorf("half-written results: %v", unfinished)
			}
		})
	}
}

// TestTwoRunsAtOnce: two runs of one lab into one folder do not get in each other's way.
func TestTwoRunsAtOnce(t *testing.T) {
	t.Parallel()
	needRoot(t)
	first := startUntil(t, "[1/3]")
	second := startCommand(t, command(t, raceVar, "run", labFile(t, small), "--out", first.out), "[1/3]")
	for _, s := range []started{first, second} {
		if err := s.Wait(); err != nil {
			t.Errorf("a run failed beside another: %v", err)
		}
	}
	nothingLeft(t)
	all, err := store.List(first.out)
	if err != nil || len(all) != 2 {
		t.Fatalf("stored %+v, %v", all, err)
	}
	for _, r := range all {
		if r.State != results.Complete || r.Points != 3 {
			t.Errorf("stored %+v", r)
		}
	}
}

// TestOlderState: what the first version of aqmlab wrote of a lab that stays, and of one
// whose run was killed, is enough to use the one and to remove both.
func TestOlderState(t *testing.T) {
	needRoot(t)
	state := filepath.Join(t.TempDir(), "state")
	t.Setenv(stateVar, state)
	const kept, killed = "00aa", "00ab"
	sleeper := exec.Command("sleep", "1000") // in place of the switch
	start(t, sleeper)
	t.Cleanup(func() { _, _ = sleeper.Process.Kill(), sleeper.Wait() })
	p, err := host.ReadProcess(sleeper.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	for later, id := range []string{kept, killed} { // the other's process has ended, and another has its number
		if out, err := exec.Command("ip", "netns", "add", "aqm-"+id+"-h1").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		dir := filepath.Join(state, id)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{
			"journal": `{"kind":"namespace","name":"aqm-ID-s1"}
{"kind":"namespace","name":"aqm-ID-h1"}
{"kind":"file","name":"STATE/ID/switch.log"}
{"kind":"process","name":"switch","pid":PID,"start":START}
`,
			"lab.json": `{"created": "2026-01-01T00:00:00Z", "detached": KEPT, "info": {"lab": "mini", "scheme": "droptail", "dilation": 1, "transport": "dctcp", "congestion_control": "dctcp_ID",
 "network": {"id": "ID", "switch": "aqm-ID-s1", "hosts": [{"name": "h1", "namespace": "aqm-ID-h1", "addr": "10.77.0.1", "mac": "02:a9:00:00:00:00", "gateway": "02:a9:00:01:00:00"}]}}}
`,
			"hosts": "10.77.0.1 h1\n", "switch.log": "", "lock": "",
		} {
			text = strings.NewReplacer("PID", strconv.Itoa(p.PID), "START", strconv.FormatUint(p.Start+uint64(later), 10), "ID", id, "STATE", state, "KEPT", strconv.FormatBool(id == kept)).Replace(text)
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if o := aqmlab(t, plainVar, 0, "lab", "status"); !containsAll(o.out, kept, "mini", "detached") || strings.Contains(o.out, killed) {
		t.Errorf("status:\n%s", o.out)
	}
	if o := aqmlab(t, plainVar, 0, "lab", "exec", "h1", "--", "ls", "/sys/class/net"); strings.TrimSpace(o.out) != "lo" {
		t.Errorf("h1 has the interfaces %s", o.out)
	}
	aqmlab(t, plainVar, 0, "lab", "down")
	for _, id := range []string{kept, killed} {
		if left, _ := filepath.Glob("/run/netns/aqm-" + id + "-*"); len(left) > 0 || len(labsIn(state)) > 0 {
			t.Errorf("left behind: %v, %v", left, labsIn(state))
		}
	}
}

// TestLabUp: a lab stays up, its hosts reach each other and run commands, two
// labs stand side by side, and lab down removes each.
func TestLabUp(t *testing.T) {
	needRoot(t)
	if _, err := os.Stat("/etc/hosts"); err != nil {
		t.Skipf("needs an /etc/hosts to mount over: %v", err)
	}
	lab, app := labFile(t, small), buildApp(t)
	up := func() string {
		o := aqmlab(t, plainVar, 0, "lab", "up", lab, "--scheme", "tcn")
		id, _, _ := strings.Cut(strings.SplitN(o.out, " is up as ", 2)[1], ":")
		return id
	}
	// serve has a user leave a server running on a lab's first host.
	serve := func(id string) *exec.Cmd {
		server := command(t, plainVar, "lab", "exec", "--lab", id, "h1", "--", app)
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		waitFor(t, func() bool {
			return command(t, plainVar, "lab", "exec", "--lab", id, "h2", "--", app, "h1").Run() == nil
		})
		return server
	}
	a := up()
	t.Cleanup(func() { aqmlab(t, plainVar, 0, "lab", "down", "--all") })
	server := serve(a)
	aqmlab(t, plainVar, 0, "lab", "exec", "h2", "--", app, "h1")
	aqmlab(t, plainVar, 7, "lab", "exec", "h2", "--", "sh", "-c", "exit 7")
	aqmlab(t, plainVar, 2, "lab", "exec", "h99", "--", "true")
	if congctl := aqmlab(t, plainVar, 0, "lab", "exec", "h1", "--", "ip", "route").out; !containsAll(congctl, "congctl dctcp", "initcwnd 10", "rto_min lock") {
		t.Errorf("routes of h1:\n%s", congctl)
	}
	b := up()
	aqmlab(t, plainVar, 2, "lab", "exec", "h2", "--", "true") // which lab?
	other := serve(b)
	if o := aqmlab(t, plainVar, 0, "lab", "status"); !containsAll(o.out, a, b, "detached") {
		t.Errorf("status:\n%s", o.out)
	}
	aqmlab(t, plainVar, 0, "lab", "down", a)
	if err := server.Wait(); err == nil {
		t.Error("a process on a host outlived its lab")
	}
	aqmlab(t, plainVar, 0, "lab", "exec", "h2", "--", app, "h1")
	aqmlab(t, plainVar, 0, "lab", "down", "--all")
	if err := other.Wait(); err == nil {
		t.Error("a process on a host outlived the last lab")
	}
	nothingLeft(t)
	aqmlab(t, plainVar, 2, "lab", "down")
}

// waitFor polls until a condition holds that other processes bring about.
func waitFor(t testing.TB, holds func() bool) {
	t.Helper()
	waitUpTo(t, 10*time.Second, holds)
}

// waitUpTo is waitFor for what takes longer.
func waitUpTo(t testing.TB, most time.Duration, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(most)
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("waited too long")
		}
	}
}
