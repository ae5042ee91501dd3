package program

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/orchestrator/host"
)

// TestMain makes this test binary what becomes the programs of its tests.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "agent" && os.Args[2] == Role {
		if err := Become(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func here(int) Place { return Place{} }

// now is CLOCK_MONOTONIC.
func now(t *testing.T) int64 {
	t.Helper()
	at, err := host.Monotonic()
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// runAll runs programs to their ends, by name.
func runAll(t *testing.T, specs ...Spec) map[string]Ended {
	t.Helper()
	r, err := Launch(context.Background(), Config{Programs: specs, Dilation: 1}, here)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	if err := r.Begin(now(t)); err != nil {
		t.Fatal(err)
	}
	for r.Left() > 0 {
		time.Sleep(time.Millisecond) // a poll, as the runtimes do
	}
	ended, err := r.Finish()
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]Ended)
	for _, e := range ended {
		all[e.Name] = e
	}
	return all
}

func sh(name, script string) Spec { return Spec{Name: name, Run: []string{"sh", "-c", script}} }

// TestEnds: what a program wrote and how it ended is known, whatever it did.
func TestEnds(t *testing.T) {
	input := sh("input", "cat; pwd; echo $HOME; echo $A")
	input.Stdin, input.Env = "line 1\nline 2\n", []string{"A=b c"}
	figures := sh("figures", "echo figure >&3; echo text")
	figures.Figures = true
	all := runAll(t,
		sh("fine", "echo out; echo err >&2"),
		sh("status", "exit 7"),
		sh("crash", "kill -SEGV $$"),
		Spec{Name: "missing", Run: []string{"no-such-program"}},
		input, figures,
	)
	if e := all["fine"]; e.Exit != 0 || string(e.Stdout) != "out\n" || string(e.Stderr) != "err\n" || e.Error != "" || e.End <= e.Start {
		t.Errorf("fine: %+v", e)
	}
	if e := all["status"]; e.Exit != 7 || e.Error != "" {
		t.Errorf("status: %+v", e)
	}
	if e := all["crash"]; e.Exit != -1 || e.Signal != "SIGSEGV" {
		t.Errorf("crash: %+v", e)
	}
	if e := all["missing"]; !strings.Contains(e.Error, "no-such-program") || e.Start != 0 || e.Exit != -1 {
		t.Errorf("missing: %+v", e)
	}
	lines := strings.Split(string(all["input"].Stdout), "\n")
	if len(lines) != 6 || lines[1] != "line 2" || lines[2] != lines[3] || lines[4] != "b c" || !strings.Contains(lines[2], "aqmlab-input-") {
		t.Errorf("input: %q", lines)
	}
	if e := all["figures"]; string(e.Figures) != "figure\n" || string(e.Stdout) != "text\n" {
		t.Errorf("figures: %+v", e)
	}
}

// TestFileOfFigures: a file that a program writes is read, and never one that is not its
// own, or that nobody writes.
func TestFileOfFigures(t *testing.T) {
	with := func(name, script string) Spec {
		s := sh(name, script)
		s.File = "out/figures"
		return s
	}
	all := runAll(t, with("fine", "mkdir out; echo figure >out/figures"), with("none", "exit 0"),
		with("link", "mkdir out; ln -s /etc/passwd out/figures"), with("pipe", "mkdir out; mkfifo out/figures"))
	if e := all["fine"]; string(e.Figures) != "figure\n" || e.Unread != "" {
		t.Errorf("%+v", e)
	}
	for name, want := range map[string]string{"none": "no such file", "link": "escapes", "pipe": "no ordinary file"} {
		if e := all[name]; len(e.Figures) > 0 || !strings.Contains(e.Unread, want) {
			t.Errorf("%s: %q, %q; want %q", name, e.Figures, e.Unread, want)
		}
	}
}

// TestTimes: a program begins at its time and not before, and ends at the time that the
// lab gives; one that does not listen to SIGTERM is killed.
func TestTimes(t *testing.T) {
	later := sh("later", "exit 0")
	later.At = 100 * time.Millisecond
	stopped := sh("stopped", "exec sleep 1000")
	stopped.Stop = 50 * time.Millisecond
	deaf := sh("deaf", "trap '' TERM; while :; do sleep 0.01; done")
	deaf.Stop = 2 * time.Second // by then it is deaf, on a busy machine, too
	begin := now(t)
	all := runAll(t, later, stopped, deaf)
	if d := time.Duration(all["later"].Start - begin); d < later.At {
		t.Errorf("a program for %v began after %v", later.At, d)
	}
	if e := all["stopped"]; e.Signal != "SIGTERM" || !e.Stopped {
		t.Errorf("stopped: %+v", e)
	}
	if e := all["deaf"]; e.Signal != "SIGKILL" || !e.Stopped || time.Duration(e.End-e.Start) < grace {
		t.Errorf("deaf: %+v", e)
	}
}

// TestServes: a program that serves is stopped when the others have ended, with what it
// started, and leaves no folder.
func TestServes(t *testing.T) {
	said := filepath.Join(t.TempDir(), "said")
	server := sh("server", "echo $HOME; sleep 1000 & echo $!; >"+said+"; exec sleep 1000")
	server.Serves = true
	e := runAll(t, server, sh("client", "until test -e "+said+"; do sleep 0.01; done"))["server"]
	words := strings.Fields(string(e.Stdout))
	if !e.Stopped || len(words) != 2 {
		t.Fatalf("%+v", e)
	}
	if _, err := os.Stat(words[0]); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", words[0], err)
	}
	if alive(words[1]) {
		t.Errorf("its child %s lives", words[1])
	}
}

// TestLeavesChildren: a program has ended when its own process has, though a child of it
// goes on and holds its output. The child is killed.
func TestLeavesChildren(t *testing.T) {
	e := runAll(t, sh("parent", "sleep 1000 & echo $!"))["parent"]
	if took := time.Duration(e.End - e.Start); took >= grace || e.Exit != 0 || e.Error != "" {
		t.Errorf("took %v: %+v", took, e)
	}
	if pid := strings.TrimSpace(string(e.Stdout)); pid == "" || alive(pid) {
		t.Errorf("the child %q lives", pid)
	}
}

// alive tells whether a process runs; it may be a zombie of init's for a moment.
func alive(pid string) bool {
	status, err := os.ReadFile("/proc/" + pid + "/status")
	return err == nil && !strings.Contains(string(status), "State:\tZ") && !strings.Contains(string(status), "State:\tX")
}

// TestNeverEnds: a program that the lab does not stop, and that does not end, is ended,
// and its error says so.
func TestNeverEnds(t *testing.T) {
	r, err := Launch(context.Background(), Config{Programs: []Spec{sh("endless", "exec sleep 1000")}, Dilation: 1}, here)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Begin(now(t) - int64(Longest)); err != nil { // as if that long had passed
		t.Fatal(err)
	}
	all, err := r.Finish()
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	if e := all[0]; e.Stopped || !e.Overdue || e.Signal != "SIGTERM" || e.Error != "" {
		t.Errorf("%+v", e)
	}
}

// TestListens: time zero waits for what listens; what ends before says why.
func TestListens(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	const listen = "import socket,time; time.sleep(0.1); s=socket.create_server(('127.0.0.1',47811)); " +
		"u=socket.socket(type=socket.SOCK_DGRAM); u.bind(('127.0.0.1',47813)); time.sleep(1000)"
	server := Spec{Name: "server", Run: []string{python, "-c", listen}, Serves: true, Listens: []int{47811, 47813}}
	r, err := Launch(context.Background(), Config{Programs: []Spec{server}, Dilation: 1}, here)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ports, err := listening("")
	if err != nil || !slices.Contains(ports, 47811) || !slices.Contains(ports, 47813) {
		t.Errorf("launched, and nobody listens: %v, %v", ports, err)
	}
	bad := sh("bad", "echo cannot >&2; exit 3")
	bad.Listens = []int{47812}
	if _, err := Launch(context.Background(), Config{Programs: []Spec{bad}, Dilation: 1}, here); err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "cannot") {
		t.Errorf("got %v", err)
	}
}

// TestKept: of a program that writes without end the begin is kept, and it goes on.
func TestKept(t *testing.T) {
	e := runAll(t, sh("chatty", fmt.Sprintf("head -c %d /dev/zero; echo end >&2", kept+1)))["chatty"]
	if len(e.Stdout) != kept || !e.Cut || string(e.Stderr) != "end\n" || e.Exit != 0 {
		t.Errorf("%d bytes, cut %v, %q, status %d", len(e.Stdout), e.Cut, e.Stderr, e.Exit)
	}
}

// TestFind: a program is found as execvp(3) does, through links that are absolute within
// the root.
func TestFind(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"usr/bin", "opt"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for file, mode := range map[string]os.FileMode{"opt/app": 0o755, "usr/bin/text": 0o644} {
		if err := os.WriteFile(filepath.Join(root, file), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	dynamic, err := os.ReadFile("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		"script": "#! /opt/app -x\nwords", "stranger": "#!/opt/python\n", "nobodys": "#!\n", "dynamic": string(dynamic),
	} {
		if err := os.WriteFile(filepath.Join(root, "usr/bin", file), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"usr/bin/app": "/opt/app", "usr/bin/loop": "loop", "usr/bin/gone": "../nowhere"} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	for command, want := range map[string]string{
		"app": "", "/opt/app": "", "text": "is not a program", "loop": "too many links", "gone": "there is no gone", "sh": "there is no sh", "/opt": "is not a program",
		"script": "", "stranger": "run by /opt/python", "nobodys": "names no interpreter", "dynamic": "run by /lib",
	} {
		_, err := Find(root, command, nil)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", command, err, want)
		}
	}
	if at, err := Find(root, "app", []string{"PATH=/opt"}); err != nil || at != filepath.Join(root, "opt/app") {
		t.Errorf("%s, %v", at, err)
	}
}

// TestNowhere: programs on a host that is not there are refused, and nothing of them is
// left.
func TestNowhere(t *testing.T) {
	c := Config{Programs: []Spec{sh("nowhere", "sleep 1000")}, Dilation: 1}
	_, err := Launch(t.Context(), c, func(int) Place { return Place{Namespace: "aqm-none-such"} })
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("launched with %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "aqmlab-nowhere-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
