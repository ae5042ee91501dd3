//go:build linux

package e2e

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"aqmlab/labs/inventory"
	"aqmlab/orchestrator/machines"
)

// TestRack: the daemons of a rack answer by every way that an inventory may name, each is
// on a machine of its own, and none sees what another has. A check of them finds what they
// are.
func TestRack(t *testing.T) {
	t.Parallel()
	r := newRack(t, 3)
	t.Run("ways", func(t *testing.T) { reachByAllWays(t, r) })
	t.Run("check", func(t *testing.T) { checkMachines(t, r) })
	t.Run("interrupted check", func(t *testing.T) { interruptCheck(t, r) })
	t.Run("killed check", func(t *testing.T) { killBeforeStart(t, r) })
	t.Run("twice", func(t *testing.T) { listTwice(t, r) })
}

// listTwice has a list name one machine by two ways to its daemon.
func listTwice(t *testing.T, r *rack) {
	path := r.path("twice.yaml")
	r.write(path, func(m inventory.Machine) inventory.Machine {
		if m.Name == "m3" {
			m.Docker = "ssh://root@" + r.machines[0].Address.String()
		}
		return m
	})
	want := []string{"machines m1 (unix://", " and m3 (ssh://root@", "are one", "the same Docker daemon"}
	if o := aqmlab(t, plainVar, 1, "lab", "up", "quickstart", "--machines", path); !containsAll(o.err, want...) || strings.Contains(o.err, "m2 (") {
		t.Errorf("lab up said %q, want %q", o.err, want)
	}
	o := aqmlab(t, plainVar, 1, "machines", "check", "--machines", path, "--for", "50ms", "--json")
	var got checked
	if err := json.Unmarshal([]byte(o.out), &got); err != nil {
		t.Fatalf("%v\n%s", err, o.out)
	}
	if got.Ready || got.Machines[1].Problem != "" || !containsAll(got.Machines[2].Problem, want...) {
		t.Errorf("machines check printed %s", o.out)
	}
	r.nothingLeft(r.machines...)
}

func reachByAllWays(t *testing.T, r *rack) {
	v, err := inventory.Load(r.inventory)
	if err != nil {
		t.Fatal(err)
	}
	const image = "aqmlab-e2e-rack:1"
	for i, m := range v.Machines {
		own := r.machines[i]
		bySSH, byTLS, byContext := m, m, m
		bySSH.Docker = "ssh://root@" + m.Address.String()
		byTLS.Docker, byTLS.TLS = "tcp://"+m.Address.String()+":2376", r.path("tls")
		byContext.Docker = r.bridge() + "-" + m.Name
		create := exec.Command("docker", "context", "create", byContext.Docker, "--docker", "host="+bySSH.Docker)
		if out, err := create.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", create.Args, err, out)
		}
		for _, way := range []inventory.Machine{m, bySSH, byTLS, byContext} {
			if got := hostOf(t, way); got != m.Name {
				t.Errorf("%s is a daemon on %s, want %s", way.Docker, got, m.Name)
			}
		}
		if i == 0 {
			load := own.docker("import", "-", image)
			load.Stdin = emptyImage(t)
			if out, err := load.CombinedOutput(); err != nil {
				t.Fatalf("%v: %v\n%s", load.Args, err, out)
			}
		}
		if has := strings.Contains(own.output(t, "images", "--quiet", "--no-trunc", image), "sha256:"); has != (i == 0) {
			t.Errorf("%s has the image of m1: %v", m.Name, has)
		}
	}
}

// hostOf is the name of the machine that a daemon runs on.
func hostOf(t *testing.T, m inventory.Machine) string {
	t.Helper()
	c, err := machines.Client(t.Context(), m)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer c.Close()
	info, err := c.Info(t.Context())
	if err != nil {
		t.Error(err)
	}
	return info.Name
}

// emptyImage is the file system of an image without any file.
func emptyImage(t *testing.T) *bytes.Buffer {
	t.Helper()
	image := new(bytes.Buffer)
	if err := tar.NewWriter(image).Close(); err != nil {
		t.Fatal(err)
	}
	return image
}

// TestRackRefuses: what keeps a machine from answering is told, with what to do.
func TestRackRefuses(t *testing.T) {
	t.Parallel()
	r := newRack(t, 1)
	m := r.machines[0].Machine
	m.Docker, m.Socket = "ssh://root@"+m.Address.String(), ""
	refused := func(name string, m inventory.Machine, want ...string) {
		t.Run(name, func(t *testing.T) {
			c, err := machines.Client(t.Context(), m)
			if err == nil {
				t.Fatal("it answers", c.Close())
			}
			if !containsAll(err.Error(), append(want, "machine m1", m.Docker)...) {
				t.Errorf("%v: want %q", err, want)
			}
		})
	}
	noDaemon := m
	noDaemon.Docker += "/run/none.sock"
	refused("no daemon", noDaemon, "no Docker daemon answers there", "systemctl start docker")
	closed := m
	closed.Docker = "ssh://root@" + m.Address.String() + ":23"
	refused("no ssh server", closed, "nobody can log in there", "ssh -p 23 root@"+m.Address.String())

	// An ssh server whose shells find no program.
	bare := m
	bare.Docker = "ssh://root@" + m.Address.String() + ":2222"
	sshd, err := exec.LookPath("sshd")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := r.machines[0].on(sshd, "-f", r.machines[0].dir+"/sshd_config", "-p", "2222", "-o", "SetEnv=PATH=/none").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	waitFor(t, func() bool { return listens(m.Address, 2222) })
	refused("no docker program", bare, "there is no docker program on it", "apt-get install docker.io")

	byTLS, strange := m, t.TempDir()
	byTLS.Docker = "tcp://" + m.Address.String() + ":2376"
	refused("no certificate", byTLS, "speaks TLS", "the key tls")
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	noTLS := m
	noTLS.Docker, noTLS.TLS = "tcp://"+plain.Listener.Addr().String(), r.path("tls")
	refused("no TLS", noTLS, "speaks no TLS", "--tlsverify")
	byTLS.TLS = strange
	refused("no files", byTLS, "ca.pem", strange)
	newAuthority(t, strange).issue(strange, nil)
	refused("another authority", byTLS, "we refuse its certificate", "ca.pem")
	ca, err := os.ReadFile(r.path("tls/ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(strange, "ca.pem"), ca, 0o600); err != nil {
		t.Fatal(err)
	}
	refused("another user", byTLS, "it refuses our certificate", "cert.pem")

	for _, file := range []string{"id.pub", "known_hosts"} { // the latter is looked at first
		if err := os.Remove(r.path(file)); err != nil {
			t.Fatal(err)
		}
		problem := map[string]string{"id.pub": "it refuses our key", "known_hosts": "ssh does not know its host key"}[file]
		refused("without "+file, m, problem, "ssh root@"+m.Address.String())
	}
}
