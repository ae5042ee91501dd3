package rootless

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"golang.org/x/sys/unix"
)

// TestMain makes this test binary the commands that its tests run in namespaces.
func TestMain(m *testing.M) {
	if len(os.Args) < 3 || strings.HasPrefix(os.Args[1], "-") {
		os.Exit(m.Run())
	}
	os.Exit(be(os.Args[1], os.Args[2], os.Args[2:]))
}

// be is one of these commands, and returns its exit status.
func be(command, word string, words []string) int {
	switch command {
	case "agent":
		if word == Role {
			// On another thread than the first, as it may be in any program of Go's.
			runtime.LockOSThread()
			begun := make(chan error)
			go func() { begun <- Begin(words[1:]) }()
			if err := <-begun; err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
			return 0
		}
	case "look": // what is where
		all, err := os.ReadDir(word)
		for _, e := range all {
			fmt.Println(e.Name())
		}
		fmt.Println("uid", os.Geteuid(), err)
		return 7
	case "await": // a signal, and say that it waits
		got := make(chan os.Signal, 2)
		signal.Notify(got, unix.SIGINT, unix.SIGTERM)
		fmt.Println("waiting")
		return int((<-got).(syscall.Signal))
	case "own": // a command that waits, until it is killed
		_, _ = Run(context.Background(), Command{Args: []string{"await", "x"}, Out: os.Stdout})
	}
	return 1
}

func needNamespaces(t *testing.T) {
	t.Helper()
	if err := Check(t.Context()); err != nil {
		t.Skip("no user namespaces here:", err)
	}
}

// TestRun: a command is root in its namespaces, with everything below /run but names of
// network namespaces; its output and exit status come through.
func TestRun(t *testing.T) {
	needNamespaces(t)
	var out, errs bytes.Buffer
	status, err := Run(t.Context(), Command{Args: []string{"look", runFolder}, Out: &out, Err: &errs})
	if err != nil || status != 7 || errs.Len() > 0 {
		t.Fatalf("status %d, %v, %s", status, err, errs.String())
	}
	seen := strings.Fields(out.String())
	if !slices.Equal(seen[len(seen)-3:], []string{"uid", "0", "<nil>"}) {
		t.Errorf("seen inside: %v", seen)
	}
	here, err := os.ReadDir(runFolder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range here {
		if is, want := slices.Contains(seen, e.Name()), filepath.Join(runFolder, e.Name()) != namesFolder; is != want {
			t.Errorf("%s is there: %t, want %t", e.Name(), is, want)
		}
	}
}

// TestMountsStayInside: what is mounted in namespaces does not show outside.
func TestMountsStayInside(t *testing.T) {
	needNamespaces(t)
	mounts := func() string {
		text, err := os.ReadFile("/proc/self/mountinfo")
		if err != nil {
			t.Fatal(err)
		}
		lines := slices.DeleteFunc(strings.Split(string(text), "\n"), func(line string) bool {
			return !strings.Contains(line, " "+runFolder) || strings.Contains(line, namesFolder+"/")
		})
		return strings.Join(lines, "\n")
	}
	before := mounts()
	if _, err := Run(t.Context(), Command{Args: []string{"look", runFolder}}); err != nil {
		t.Fatal(err)
	}
	if after := mounts(); after != before {
		t.Errorf("mounts were\n%s\nand are\n%s", before, after)
	}
}

// ended is the cause of a context's end by a signal.
type ended struct{ by syscall.Signal }

func (e ended) Error() string          { return "ended by " + e.by.String() }
func (e ended) Signal() syscall.Signal { return e.by }

// TestSignals: when its context ends, a command gets the signal that was the cause, and
// is waited for.
func TestSignals(t *testing.T) {
	needNamespaces(t)
	for cause, want := range map[error]syscall.Signal{ended{unix.SIGTERM}: unix.SIGTERM, ended{unix.SIGINT}: unix.SIGINT, errors.New("another"): unix.SIGINT} {
		ctx, cancel := context.WithCancelCause(t.Context())
		said, say := io.Pipe()
		go func() {
			_, _ = said.Read(make([]byte, 1))
			cancel(cause)
			_, _ = io.Copy(io.Discard, said)
		}()
		status, err := Run(ctx, Command{Args: []string{"await", "x"}, Out: say})
		if err != nil || status != int(want) {
			t.Errorf("%v: status %d, %v, want %d", cause, status, err, int(want))
		}
		cancel(nil)
		say.Close()
	}
}

// TestKilled: whoever kills this process kills its command.
func TestKilled(t *testing.T) {
	needNamespaces(t)
	owner := exec.CommandContext(t.Context(), "/proc/self/exe", "own", "x")
	out, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, len("waiting\n"))); err != nil {
		t.Fatal(err)
	}
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	// The command has the other end, too.
	if rest, err := io.ReadAll(out); err != nil || len(rest) > 0 {
		t.Errorf("read %q, %v", rest, err)
	}
	_ = owner.Wait()
}

// TestExplain: who may have no user namespaces is told which setting forbids them and what
// to do about it.
func TestExplain(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	const zero, one = "0\n", "1\n"
	for name, c := range map[string]struct {
		err  error
		proc fstest.MapFS
		want []string
	}{
		"limit of 0":      {unix.ENOSPC, fstest.MapFS{"sys/user/max_user_namespaces": file(zero)}, []string{"user.max_user_namespaces=0", "sysctl -w user.max_user_namespaces="}},
		"no networks":     {unix.ENOSPC, fstest.MapFS{"sys/user/max_user_namespaces": file("99\n"), "sys/user/max_net_namespaces": file(zero)}, []string{"user.max_net_namespaces=0"}},
		"limit reached":   {unix.ENOSPC, fstest.MapFS{"sys/user/max_user_namespaces": file("99\n")}, []string{"all the namespaces", "user.max_user_namespaces"}},
		"Debian":          {unix.EPERM, fstest.MapFS{"sys/kernel/unprivileged_userns_clone": file(zero)}, []string{"sysctl -w kernel.unprivileged_userns_clone=1"}},
		"Ubuntu":          {unix.EACCES, fstest.MapFS{"sys/kernel/apparmor_restrict_unprivileged_userns": file(one)}, []string{"sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"}},
		"Ubuntu's mounts": {fmt.Errorf("%w: x", errMounts), fstest.MapFS{"sys/kernel/apparmor_restrict_unprivileged_userns": file(one)}, []string{"apparmor_restrict_unprivileged_userns=1"}},
		"container":       {unix.EPERM, fstest.MapFS{"sys/kernel/unprivileged_userns_clone": file(one), "self/status": file("Name:\tx\nSeccomp:\t2\n")}, []string{"container", "seccomp=unconfined"}},
		"no kernel":       {unix.EINVAL, fstest.MapFS{}, []string{"CONFIG_USER_NS"}},
		"unknown":         {unix.EPERM, fstest.MapFS{"self/status": file("Seccomp:\t0\n")}, []string{"no ordinary user"}},
	} {
		err := explainBy(c.proc, c.err)
		var forbidden *ForbiddenError
		if !errors.As(err, &forbidden) || !errors.Is(err, c.err) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q in it", name, err, want)
			}
		}
	}
	if other := errors.New("no such file"); explainBy(fstest.MapFS{}, other) != other {
		t.Error("another error is explained")
	}
}
