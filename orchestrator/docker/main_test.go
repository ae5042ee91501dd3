package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/journal"
)

// programVar holds the path of this test binary, built to run in containers.
const programVar = "AQMLAB_TEST_PROGRAM"

// TestMain makes this test binary what runs in the containers of its tests, and
// builds it a second time as a static one, which `go test` makes it only without
// cgo and the race detector.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "agent" {
		os.Exit(play(os.Args[2], os.Args[3:]))
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if noDaemon() != nil {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "aqmlab-docker-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "program")
	build := exec.Command("go", "test", "-c", "-o", program, "aqmlab/orchestrator/docker")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v: %v\n%s", build.Args, err, out)
		return 1
	}
	if err := os.Setenv(programVar, program); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := removeImage(program); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// noDaemon says why there is no daemon to test with.
func noDaemon() error {
	if os.Geteuid() != 0 {
		return errors.New("containers need root")
	}
	if out, err := exec.Command("docker", "version", "--format", "{{.Server.Version}}").CombinedOutput(); err != nil {
		return fmt.Errorf("no Docker daemon answers: %w: %s", err, out)
	}
	return nil
}

// removeImage removes the image that tests have made of the program.
func removeImage(program string) error {
	sum, err := hash(program)
	if err != nil {
		return err
	}
	out, err := exec.Command("docker", "image", "rm", "--force", imageName+":"+sum).CombinedOutput()
	if err != nil {
		return fmt.Errorf("removing the tests' image: %w: %s", err, out)
	}
	return nil
}

// connect connects to the daemon, or skips the test where there is none.
func connect(t *testing.T) *Engine {
	t.Helper()
	if err := noDaemon(); err != nil {
		t.Skip(err)
	}
	e, err := Connect(t.Context(), os.Getenv(programVar))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// play is the main function of what runs in containers.
func play(name string, args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGTERM)
	defer stop()
	var err error
	status := 0
	switch name {
	case JoinRole:
		status, err = agent.Join(ctx, args[0], args[1:])
	case "probe":
		err = agent.Serve(ctx, func(context.Context) any { return &probe{} })
	case "say": // to both streams
		_, err = fmt.Fprint(os.Stdout, args[0])
		fmt.Fprint(os.Stderr, args[1])
		status = 7
	case "copy":
		_, err = io.Copy(os.Stdout, os.Stdin)
	case "wait": // for an interrupt
		interrupts := make(chan os.Signal, 1)
		signal.Notify(interrupts, os.Interrupt)
		fmt.Println("waiting")
		<-interrupts
		status = 130
	default:
		err = fmt.Errorf("no role %q", name)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return status
}

// probe is the service of an agent in a container: it says what is possible
// there.
type probe struct{}

// View is what a process sees inside.
type View struct {
	Host         string
	User         int
	Capabilities string // effective ones, in hexadecimal
	NoNewPrivs   string
	Root, Tmp    string // why no file can be written there
	Interfaces   []string
	Hosts        string // /etc/hosts
	CPUs         []int
}

func (p *probe) Look(_ agent.Nothing, v *View) error {
	var err error
	if v.Host, err = os.Hostname(); err != nil {
		return err
	}
	v.User = os.Getuid()
	if v.Capabilities, v.NoNewPrivs, err = status(); err != nil {
		return err
	}
	v.Root, v.Tmp = writeError("/file"), writeError("/tmp/file")
	devices, err := os.ReadDir("/sys/class/net")
	if err != nil {
		return err
	}
	for _, d := range devices {
		v.Interfaces = append(v.Interfaces, d.Name())
	}
	hosts, err := os.ReadFile("/etc/hosts")
	v.Hosts = string(hosts)
	cpus, cerr := host.CPUs()
	if err := errors.Join(err, cerr); err != nil {
		return err
	}
	v.CPUs = cpus
	return nil
}

// Eat takes that many bytes of memory.
func (p *probe) Eat(bytes int, _ *agent.Nothing) error {
	all := make([]byte, bytes)
	for i := 0; i < len(all); i += os.Getpagesize() {
		all[i] = 1
	}
	return nil
}

func status() (capabilities, noNewPrivs string, err error) {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return "", "", err
	}
	defer f.Close()
	for {
		var key, value string
		n, err := fmt.Fscanln(f, &key, &value)
		if n == 0 && errors.Is(err, io.EOF) {
			return capabilities, noNewPrivs, nil
		}
		switch key {
		case "CapEff:":
			capabilities = value
		case "NoNewPrivs:":
			noNewPrivs = value
		}
	}
}

func writeError(path string) string {
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		return err.Error()
	}
	return ""
}

// lab makes a journal whose containers are removed at the test's end.
func lab(t *testing.T) *journal.Journal {
	t.Helper()
	j, err := journal.Create(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Undo(undoers()); err != nil {
			t.Error(err)
		}
	})
	return j
}

func undoers() journal.Undoers {
	return journal.Undoers{journal.Container: Remove, journal.Volume: RemoveVolumes, journal.Process: agent.Remove, journal.File: journal.RemoveFiles}
}

// spawn makes a container with a probe in it, and returns its name, too.
func spawn(t *testing.T, e *Engine, n Node) (*agent.Process, string) {
	t.Helper()
	j := lab(t)
	n.Name = "aqm-" + j.ID() + "-" + n.Host
	boxes, err := e.Prepare(t.Context(), j, []Node{n})
	if err != nil {
		t.Fatal(err)
	}
	p, err := agent.Spawn(t.Context(), agent.Options{Role: "probe", Place: boxes[0], Record: j.Record})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := p.Stop(ctx); err != nil && !errors.Is(err, agent.ErrDied) {
			t.Error(err)
		}
	})
	return p, n.Name
}
