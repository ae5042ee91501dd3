package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/journal"
)

// look asks an agent in a container what it sees.
func look(t *testing.T, p *agent.Process) View {
	t.Helper()
	var v View
	if err := p.Call(t.Context(), "Look", agent.Nothing{}, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestInside: a process in a container has a host name, the lab's hosts by name
// and no network yet, and may not write, nor more than its capabilities say.
func TestInside(t *testing.T) {
	e := connect(t)
	const named = "aqmlab-test:named"
	if _, err := e.BuildImage(t.Context(), named); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("docker", "image", "rm", named).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	for image, capabilities := range map[string]string{
		"":    "0000000000003000", // NET_ADMIN, NET_RAW: bits 12 and 13 of capabilities(7)
		named: "00000000000034eb",
	} {
		p, _ := spawn(t, e, Node{Host: "h1", Image: image, CPUSet: []int{0}, Peers: []string{"h2:10.77.0.2"}})
		v := look(t, p)
		if v.Host != "h1" || v.User != 0 || !strings.Contains(v.Hosts, "10.77.0.2\th2") || !slices.Equal(v.CPUs, []int{0}) {
			t.Errorf("image %q: %+v", image, v)
		}
		if v.Capabilities != capabilities || v.NoNewPrivs != "1" {
			t.Errorf("image %q: capabilities %s, want %s; no new privileges: %s", image, v.Capabilities, capabilities, v.NoNewPrivs)
		}
		if !strings.Contains(v.Root, "read-only") || v.Tmp != "" {
			t.Errorf("image %q: writing below / gives %q, below /tmp %q", image, v.Root, v.Tmp)
		}
		if !slices.Equal(v.Interfaces, []string{"lo"}) {
			t.Errorf("image %q: interfaces %v", image, v.Interfaces)
		}
	}
}

// TestMemory: what takes more memory than its host has dies of it, and says so.
func TestMemory(t *testing.T) {
	p, _ := spawn(t, connect(t), Node{Host: "h1", Memory: 64e6})
	err := p.Call(t.Context(), "Eat", int(256e6), &agent.Nothing{})
	if !errors.Is(err, agent.ErrDied) || !strings.Contains(err.Error(), "out of memory (host.memory is 64000000 bytes)") {
		t.Errorf("error %v; want that it died for want of memory", err)
	}
}

// TestLaunchFails: a container that does not come up is told of, with its last
// words if it had any, and is gone.
func TestLaunchFails(t *testing.T) {
	e := connect(t)
	tests := []struct {
		name  string
		spoil func(c *Container)
		want  string
	}{
		{"no image", func(c *Container) { c.image = "aqmlab-test:none" }, "No such image"},
		{"no program", func(c *Container) { c.volume = foreignVolume(t, "aqmlab-test-empty"); c.node.Image = "named" }, "no such file"},
		{"first process dies", func(c *Container) { c.volume = volumeOf(t, e, complaining(t)); c.node.Image = "named" }, "my last words"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			j := lab(t)
			name := "aqm-" + j.ID() + "-h1"
			boxes, err := e.Prepare(t.Context(), j, []Node{{Name: name, Host: "h1"}})
			if err != nil {
				t.Fatal(err)
			}
			tt.spoil(boxes[0])
			_, err = boxes[0].Launch(t.Context(), agent.Command{Stderr: os.Stderr})
			if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v; want one that names the container and %q", err, tt.want)
			}
			if exists(t, name) {
				t.Errorf("container %s is left", name)
			}
		})
	}
}

// complaining is a static program that ends at once, with an error.
func complaining(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	source, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
	if err := os.WriteFile(source, []byte("package main\nfunc main() { panic(\"my last words\") }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", program, source)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

// volumeOf is a volume that holds another program than the tests'.
func volumeOf(t *testing.T, e *Engine, program string) string {
	t.Helper()
	other := *e
	other.program = program
	own, err := other.ensureImage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := removeImage(program); err != nil {
			t.Error(err)
		}
	})
	name := foreignVolume(t, "aqmlab-test-other")
	if err := e.fillVolume(t.Context(), name, own, labels("/elsewhere/dead", "")); err != nil {
		t.Fatal(err)
	}
	return name
}

// foreignVolume makes a volume that is not aqmlab's, with labels.
func foreignVolume(t *testing.T, name string, labels ...string) string {
	t.Helper()
	args := []string{"volume", "create"}
	for _, l := range labels {
		args = append(args, "--label", l)
	}
	if out, err := exec.Command("docker", append(args, name)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("docker", "volume", "rm", "--force", name).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	return name
}

// volumeExists tells whether there is a volume of that name.
func volumeExists(name string) bool {
	return exec.Command("docker", "volume", "inspect", name).Run() == nil
}

// TestVolume: hosts of a named image share a volume with the program, which goes with the lab,
// however often its removal is tried. Others need none.
func TestVolume(t *testing.T) {
	e := connect(t)
	own, err := e.ensureImage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for image, want := range map[string]bool{"": false, own: true} {
		j := lab(t)
		prefix := "aqm-" + j.ID() + "-"
		nodes := []Node{{Name: prefix + "h1", Host: "h1", Image: image, Owner: "desk/1234"}, {Name: prefix + "h2", Host: "h2", Image: image}}
		if _, err := e.Prepare(t.Context(), j, nodes); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("docker", "volume", "ls", "--quiet", "--filter", OwnerFilter("desk/1234")).Output()
		if err != nil || len(out) > 0 != want || want && string(out) != prefix+"program\n" {
			t.Errorf("image %q: volumes %q (%v), want one of the lab: %v", image, out, err, want)
		}
		if exists(t, prefix+"program") {
			t.Errorf("image %q: a container is left that filled the volume", image)
		}
		if err := j.Undo(undoers()); err != nil || volumeExists(prefix+"program") {
			t.Errorf("image %q: a volume is left: %v", image, err)
		}
		if err := RemoveVolumes([]journal.Entry{{Kind: journal.Volume, Name: prefix + "program"}}); err != nil {
			t.Error(err)
		}
	}
}

// TestMissingImage: nothing is pulled, and what to do is said.
func TestMissingImage(t *testing.T) {
	_, err := connect(t).Prepare(t.Context(), lab(t), []Node{{Name: "aqm-test-h1", Host: "h1", Image: "example.com/none:1"}})
	if !isUnavailable(err) || !strings.Contains(err.Error(), "docker pull example.com/none:1") {
		t.Errorf("error %v; want that the image is missing and how to get it", err)
	}
}

// exists tells whether there is a container of that name.
func exists(t *testing.T, name string) bool {
	t.Helper()
	out, err := exec.Command("docker", "ps", "--all", "--quiet", "--filter", "name=^"+name+"$").Output()
	if err != nil {
		t.Fatal(err)
	}
	return len(out) > 0
}

// foreign makes a container that is not aqmlab's, with labels.
func foreign(t *testing.T, e *Engine, name string, labels ...string) {
	t.Helper()
	ref, err := e.ensureImage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"create", "--name", name, "--network", "none"}
	for _, l := range labels {
		args = append(args, "--label", l)
	}
	if out, err := exec.Command("docker", append(args, ref)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("docker", "rm", "--force", name).CombinedOutput(); err != nil && !strings.Contains(string(out), "No such container") {
			t.Errorf("%v: %s", err, out)
		}
	})
}

// TestForeign: a container of somebody else is neither taken nor removed, even
// when it has the name of one of ours.
func TestForeign(t *testing.T) {
	e := connect(t)
	j := lab(t)
	name := "aqm-" + j.ID() + "-h1"
	foreign(t, e, name)
	if _, err := e.Prepare(t.Context(), j, []Node{{Name: name, Host: "h1"}}); err == nil || !strings.Contains(err.Error(), "docker rm -f "+name) {
		t.Errorf("error %v; want that the container is there already", err)
	}
	if err := Remove([]journal.Entry{{Kind: journal.Container, Name: name}, {Kind: journal.Container, Name: "aqm-none"}}); err != nil {
		t.Error(err)
	}
	if !exists(t, name) {
		t.Error("somebody else's container was removed")
	}
	own, err := e.ensureImage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	volume := foreignVolume(t, "aqm-"+j.ID()+"-program")
	if _, err := e.Prepare(t.Context(), j, []Node{{Name: name + "0", Host: "h10", Image: own}}); err == nil || !strings.Contains(err.Error(), "docker volume rm "+volume) {
		t.Errorf("error %v; want that the volume is there already", err)
	}
	if err := RemoveVolumes([]journal.Entry{{Kind: journal.Volume, Name: volume}}); err != nil || !volumeExists(volume) {
		t.Errorf("somebody else's volume was removed: %v", err)
	}
}

// TestOrphans: containers and volumes whose lab has lost its state are removed, and
// those of labs elsewhere are not.
func TestOrphans(t *testing.T) {
	e := connect(t)
	j := lab(t)
	root, _, _ := strings.Cut(j.Dir(), "/"+j.ID())
	orphan, other := fmt.Sprintf("aqm-%s-orphan", j.ID()), fmt.Sprintf("aqm-%s-other", j.ID())
	foreign(t, e, orphan, "aqmlab.root="+root, "aqmlab.lab=dead")
	foreign(t, e, other, "aqmlab.root=/elsewhere", "aqmlab.lab=dead")
	foreignVolume(t, orphan, "aqmlab.root="+root, "aqmlab.lab=dead")
	foreignVolume(t, other, "aqmlab.root=/elsewhere", "aqmlab.lab=dead")
	if _, err := e.Prepare(t.Context(), j, nil); err != nil {
		t.Fatal(err)
	}
	if exists(t, orphan) || !exists(t, other) {
		t.Errorf("the orphan is there: %v; the other: %v", exists(t, orphan), exists(t, other))
	}
	if volumeExists(orphan) || !volumeExists(other) {
		t.Errorf("the orphan's volume is there: %v; that of the other: %v", volumeExists(orphan), volumeExists(other))
	}
}

// TestRemoveRunning: a container is removed with what runs in it, by its owner
// or any other process, and even when ctx has ended.
func TestRemoveRunning(t *testing.T) {
	e := connect(t)
	p, name := spawn(t, e, Node{Host: "h1"})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := errors.Join(e.remove(ended, name), e.remove(ended, name)); err != nil {
		t.Error(err)
	}
	<-p.Done()
	if err := p.Err(); !errors.Is(err, agent.ErrDied) {
		t.Errorf("error %v, want ErrDied", err)
	}
}
