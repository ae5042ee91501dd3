package cc

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"aqmlab/trafficgen/transport"
)

// childEnv makes the test binary play another process: see TestMain.
const childEnv = "CC_TEST_CHILD"

// named is a transport of the table with its defaults. The name is a literal.
func named(name string) transport.Transport {
	t, err := transport.Table().New(name, nil, struct{}{})
	if err != nil {
		panic(err)
	}
	return t
}

func TestMain(m *testing.M) {
	if role := os.Getenv(childEnv); role != "" {
		os.Exit(child(role))
	}
	os.Exit(m.Run())
}

// child does one thing, says a line about it, and lives until its standard
// input closes or it is killed.
func child(role string) int {
	what, argument, _ := strings.Cut(role, " ")
	switch what {
	case "acquire":
		h, err := Acquire(named("dctcp"), argument)
		if err != nil {
			fmt.Println(err)
			return 1
		}
		defer h.Close()
		fmt.Println(h.Name())
	case "offer": // NAME
		if _, err := offer(argument, variant{linked: true}); err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println(argument)
	case "unlinked":
		if _, err := register(argument, variant{}); err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println(argument)
	case "unprivileged":
		fmt.Println(acquireUnprivileged(argument))
	case "inherit": // the descriptors it was started with
		fmt.Println("ready")
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return 1
	}
	return 0
}

// acquireUnprivileged gives up all capabilities and tries.
func acquireUnprivileged(suffix string) Requirement {
	runtime.LockOSThread()
	none := [2]unix.CapUserData{}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	if err := unix.Capset(&header, &none[0]); err != nil {
		return Requirement(err.Error())
	}
	_, err := Acquire(named("dctcp"), suffix)
	var unsupported *UnsupportedError
	if !errors.As(err, &unsupported) {
		return Requirement(fmt.Sprint(err))
	}
	return unsupported.Missing
}

// process is a child and the line that it said.
type process struct {
	*exec.Cmd
	said string
}

// start runs a child that ends with the test if not before.
func start(t *testing.T, role string, files ...*os.File) process {
	t.Helper()
	p := process{Cmd: exec.Command(os.Args[0])}
	p.Env = append(os.Environ(), childEnv+"="+role)
	p.Stderr = os.Stderr
	p.ExtraFiles = files
	stdin, err := p.StdinPipe()
	must(t, err)
	stdout, err := p.StdoutPipe()
	must(t, err)
	must(t, p.Start())
	t.Cleanup(func() {
		// A child that was killed has been waited for.
		if p.ProcessState == nil {
			must(t, errors.Join(stdin.Close(), p.Wait()))
		}
	})
	p.said, err = bufio.NewReader(stdout).ReadString('\n')
	must(t, err)
	p.said = strings.TrimSpace(p.said)
	return p
}

// kill is kill -9, and back when nothing of the process is left.
func (p *process) kill(t *testing.T) {
	t.Helper()
	must(t, p.Process.Kill())
	var exit *exec.ExitError
	if err := p.Wait(); !errors.As(err, &exit) {
		t.Fatalf("killed process ended with %v", err)
	}
}
