//go:build linux

package e2e

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aqmlab/results"
	"aqmlab/results/store"
)

// needDocker skips a test where no Docker daemon answers, and has the image that
// it makes removed.
func needDocker(t *testing.T) {
	t.Helper()
	needRoot(t)
	if out, err := exec.Command("docker", "version").CombinedOutput(); err != nil {
		t.Skipf("no Docker daemon answers: %v\n%s", err, out)
	}
	o := aqmlab(t, plainVar, 0, "image", "build", "--json")
	var image struct{ Reference, ID string }
	if err := json.Unmarshal([]byte(o.out), &image); err != nil || image.Reference == "" || image.ID == "" {
		t.Fatalf("image build --json printed %q: %v", o.out, err)
	}
	t.Cleanup(func() { docker(t, "image", "rm", image.Reference) })
}

// docker runs the docker command and returns its output.
func docker(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("docker", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("docker %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// noContainers fails the test unless all containers of ours are gone, and
// everything else.
func noContainers(t *testing.T) {
	t.Helper()
	if left := docker(t, "ps", "--all", "--quiet", "--filter", "label=aqmlab.lab"); left != "" {
		t.Errorf("containers left behind: %s", left)
	}
	if left := docker(t, "volume", "ls", "--quiet", "--filter", "label=aqmlab.lab"); left != "" {
		t.Errorf("volumes left behind: %s", left)
	}
	nothingLeft(t)
}

// TestDocker: the lab that runs in namespaces runs in containers, one for each
// host and the switch, and leaves nothing.
func TestDocker(t *testing.T) {
	needDocker(t)
	lab := labFile(t, small)
	r, j := runLab(t, plainVar, lab, "--runtime", "docker", "--schemes", "droptail,tcn", "--dilation", "4", "--set", "host.memory=256MB")
	if j.Runtime != "docker" || len(j.Runs) != 2 {
		t.Errorf("runtime %s with %d runs", j.Runtime, len(j.Runs))
	}
	all := points(t, r)
	if tail, tcn := all["droptail"], all["tcn"]; len(tail.Flows) != 120 || len(tcn.Flows) != 120 {
		t.Errorf("%d and %d flows", len(tail.Flows), len(tcn.Flows))
	} else {
		for i, f := range tcn.Flows {
			if g := tail.Flows[i]; !f.Completed() || f.ID != g.ID || f.Start != g.Start || f.Client != g.Client || f.Bytes != g.Bytes {
				t.Errorf("flow %+v of tcn, %+v of droptail", f, g)
			}
		}
	}
	if marks := j.Runs[1].Marks; marks == 0 {
		t.Error("tcn marked nothing")
	}
	noContainers(t)
}

// TestDockerEnds: a run in containers that is interrupted, or loses a
// container, leaves nothing.
func TestDockerEnds(t *testing.T) {
	t.Parallel()
	needDocker(t)
	interrupt := func(t *testing.T, s started, _ string) { send(t, s, os.Interrupt) }
	kill := func(node string) func(*testing.T, started, string) {
		return func(t *testing.T, _ started, state string) {
			id := docker(t, "ps", "--quiet", "--filter", rootFilter(state), "--filter", "name=-"+node+"$")
			docker(t, "kill", strings.TrimSpace(id))
		}
	}
	for name, tt := range map[string]struct {
		until string
		end   func(t *testing.T, s started, state string)
		code  int
	}{
		"interrupted":               {"[1/3]", interrupt, 130},
		"interrupted in the middle": {"", interrupt, 130},
		"host dies":                 {"[2/3]", kill("h2"), 1},
		"switch dies":               {"[2/3]", kill("s1"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, state := t.TempDir(), newState(t)
			c := command(t, plainVar, "run", labFile(t, small), "--runtime", "docker", "--dilation", "4", "--out", out)
			c.Env = append(c.Env, stateVar+"="+state)
			s := startCommand(t, c, tt.until)
			if tt.until == "" {
				waitFor(t, func() bool { return docker(t, "ps", "--quiet", "--filter", rootFilter(state)) != "" })
			}
			tt.end(t, s, state)
			_ = s.Wait()
			if code := s.ProcessState.ExitCode(); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			nothingOf(t, state)
			if tt.until == "[2/3]" {
				partial(t, out)
			}
		})
	}
}

// rootFilter finds the containers and volumes of labs below a state folder.
func rootFilter(state string) string { return "label=aqmlab.root=" + state }

// nothingOf fails the test unless all labs below a state folder are gone, with their
// containers.
func nothingOf(t *testing.T, state string) {
	t.Helper()
	for _, list := range [][]string{{"ps", "--all"}, {"volume", "ls"}} {
		if left := docker(t, append(list, "--quiet", "--filter", rootFilter(state))...); left != "" {
			t.Errorf("%v: left behind: %s", list, left)
		}
	}
	if left := slices.Concat(labsIn(state), agents(stateVar+"="+state+"\x00")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// partial wants one run in a folder, which says that it ended early and keeps
// the point that was done.
func partial(t *testing.T, out string) {
	t.Helper()
	r, err := store.Open(filepath.Join(out, "latest"))
	if err != nil {
		t.Fatal(err)
	}
	if m := r.Manifest; m.State != results.Partial || !strings.Contains(m.Reason, "agent died") {
		t.Errorf("the run is %s: %s", m.State, m.Reason)
	}
	if n := len(r.Points()); n != 1 {
		t.Errorf("%d points are left, want 1", n)
	}
}

func send(t *testing.T, s started, signal os.Signal) {
	t.Helper()
	if err := s.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
}

// buildApp builds somebody's own application, as a static program.
func buildApp(t testing.TB) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "app")
	build := exec.Command("go", "build", "-o", program, "./testdata/app")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build.Args, err, out)
	}
	return program
}

// application makes an image of somebody's own application.
func application(t *testing.T, name string) {
	t.Helper()
	load := exec.Command("docker", "import", "-", name)
	load.Stdin = fileSystem(t)
	if out, err := load.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", load.Args, err, out)
	}
	t.Cleanup(func() { docker(t, "image", "rm", name) })
}

// fileSystem is that of the application's image.
func fileSystem(t testing.TB) *bytes.Buffer {
	t.Helper()
	content, err := os.ReadFile(buildApp(t))
	if err != nil {
		t.Fatal(err)
	}
	image := new(bytes.Buffer)
	w := tar.NewWriter(image)
	if err := w.WriteHeader(&tar.Header{Name: "bin/app", Mode: 0o755, Size: int64(len(content))}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return image
}

// TestDockerUp: hosts of somebody's own image stay up, run his application,
// know each other by name, and go with lab down.
func TestDockerUp(t *testing.T) {
	needDocker(t)
	const image = "aqmlab-e2e-app:1"
	application(t, image)
	o := aqmlab(t, plainVar, 0, "lab", "up", labFile(t, small), "--runtime", "docker", "--scheme", "tcn", "--set", "host.image="+image, "--json")
	t.Cleanup(func() { aqmlab(t, plainVar, 0, "lab", "down", "--all") })
	var up struct{ ID, Runtime string }
	if err := json.Unmarshal([]byte(o.out), &up); err != nil || up.Runtime != "docker" {
		t.Fatalf("lab up printed %q: %v", o.out, err)
	}
	if n := len(strings.Fields(docker(t, "ps", "--quiet", "--filter", "label=aqmlab.lab="+up.ID))); n != 5 {
		t.Errorf("%d containers, want those of four hosts and the switch", n)
	}
	server := command(t, plainVar, "lab", "exec", "h1", "--", "app")
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ask := func() string {
		out, err := command(t, plainVar, "lab", "exec", "h2", "--", "app", "h1").Output()
		if err != nil {
			return err.Error()
		}
		return string(out)
	}
	waitFor(t, func() bool { return ask() == "this is h1\n" })
	if o := aqmlab(t, plainVar, 1, "lab", "exec", "h2", "--", "app", "h3"); !strings.Contains(o.err, "connection refused") {
		t.Errorf("an application that failed: %q", o.err)
	}
	if o := aqmlab(t, plainVar, 2, "lab", "exec", "h2", "--", "nonesuch"); !containsAll(o.err, "nonesuch", "host.image") {
		t.Errorf("a command that is not there: %q", o.err)
	}
	aqmlab(t, plainVar, 0, "lab", "down", up.ID)
	_ = server.Wait() // went with the lab
	noContainers(t)
}

// TestDockerLacks: what this machine lacks for containers is said in words, with
// what to do and exit code 2, and leaves nothing.
func TestDockerLacks(t *testing.T) {
	needDocker(t)
	lab := labFile(t, small)
	none := "unix://" + filepath.Join(t.TempDir(), "docker.sock")
	tests := []struct {
		name, program, host string
		args                []string
		want                []string
	}{
		{"daemon", plainVar, none, nil, []string{none, "systemctl start docker"}},
		{"image", plainVar, "", []string{"--set", "host.image=example.com/none:1"}, []string{"docker pull example.com/none:1"}},
		{"static program", raceVar, "", nil, []string{"static", "CGO_ENABLED=0"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := command(t, tt.program, append([]string{"run", lab, "--runtime", "docker"}, tt.args...)...)
			if tt.host != "" {
				c.Env = append(c.Env, "DOCKER_HOST="+tt.host)
			}
			if o := finish(t, c, 2); !containsAll(o.err, tt.want...) {
				t.Errorf("stderr %q, want %q", o.err, tt.want)
			}
			noContainers(t)
		})
	}
}

// TestDockerDoctor: doctor says what there is, and what to do where there is
// nothing.
func TestDockerDoctor(t *testing.T) {
	needDocker(t)
	if o := aqmlab(t, plainVar, 0, "doctor"); !containsAll(o.out, "Docker", "--runtime docker") {
		t.Errorf("doctor:\n%s", o.out)
	}
	c := command(t, plainVar, "doctor")
	c.Env = append(c.Env, "DOCKER_HOST=unix:///nowhere")
	if o := finish(t, c, 0); !containsAll(o.out, "without  Docker", "unix:///nowhere") {
		t.Errorf("doctor without a daemon:\n%s", o.out)
	}
}
