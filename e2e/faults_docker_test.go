//go:build linux

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"aqmlab/orchestrator/host"
	"aqmlab/results"
	"aqmlab/results/store"
)

// daemon is a Docker daemon of a test's own.
type daemon struct {
	dir string
	*exec.Cmd
	log *bytes.Buffer
}

// ownDaemon starts a Docker daemon that nobody else uses, and has its folder removed.
func ownDaemon(t *testing.T) *daemon {
	t.Helper()
	needRoot(t)
	if _, err := exec.LookPath("dockerd"); err != nil {
		t.Skipf("no Docker daemon can be started: %v", err)
	}
	dir, err := os.MkdirTemp("/tmp", "aqmlab-e2e-") // short: a socket is below it
	if err != nil {
		t.Fatal(err)
	}
	d := &daemon{dir: dir}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	d.start(t)
	t.Cleanup(func() { d.stop(t) })
	return d
}

func (d *daemon) address() string { return "unix://" + d.dir + "/sock" }

func (d *daemon) start(t *testing.T) {
	t.Helper()
	d.log = new(bytes.Buffer)
	d.Cmd = exec.Command("dockerd", "--bridge=none", "--iptables=false", "--ip-forward=false", "--containerd-namespace", "aqmlab-e2e", "--containerd-plugins-namespace", "aqmlab-e2e-plugins",
		"--data-root", d.dir+"/data", "--exec-root", d.dir+"/exec", "--pidfile", d.dir+"/pid", "--host", d.address())
	d.Stdout, d.Stderr = d.log, d.log
	if err := d.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return d.docker("version").Run() == nil })
}

func (d *daemon) stop(t *testing.T) {
	t.Helper()
	if err := d.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := d.Wait(); err != nil {
		t.Errorf("the Docker daemon: %v\n%s", err, d.log)
	}
}

func (d *daemon) docker(args ...string) *exec.Cmd {
	return exec.Command("docker", append([]string{"--host", d.address()}, args...)...)
}

// output is what a docker command prints.
func (d *daemon) output(t *testing.T, args ...string) string {
	t.Helper()
	out, err := d.docker(args...).CombinedOutput()
	if err != nil {
		t.Fatalf("docker %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// command is a command of aqmlab that uses this daemon, with a state of its own.
func (d *daemon) command(t *testing.T, state string, args ...string) *exec.Cmd {
	c := command(t, plainVar, args...)
	c.Env = append(c.Env, "DOCKER_HOST="+d.address(), stateVar+"="+state)
	return c
}

// container is the container of a host or a switch of the only lab below a state folder.
func (d *daemon) container(t *testing.T, state, name string) (id string, pid int) {
	t.Helper()
	found := strings.Fields(d.output(t, "ps", "--quiet", "--filter", "label=aqmlab.root="+state, "--filter", "name=-"+name+"$"))
	if len(found) != 1 {
		t.Fatalf("containers of %s: %v", name, found)
	}
	pid, err := strconv.Atoi(d.output(t, "inspect", "--format", "{{.State.Pid}}", found[0]))
	if err != nil {
		t.Fatal(err)
	}
	return found[0], pid
}

// TestDockerFaults: what befalls a container, or the Docker daemon, ends a run as
// [TestFaults] says, and the run can be completed afterwards.
func TestDockerFaults(t *testing.T) {
	t.Parallel()
	d := ownDaemon(t)
	finish(t, d.command(t, t.TempDir(), "image", "build"), 0)
	type fault struct {
		name    string
		inflict func(t *testing.T, state string)
		says    []string
		run     started
		state   string
	}
	begin := func(t *testing.T, f *fault) {
		f.state = newState(t)
		out := t.TempDir()
		c := d.command(t, f.state, "run", labFile(t, small), "--runtime", "docker", "--dilation", "4", "--set", "host.memory=256MB", "--out", out)
		f.run = startCommand(t, c, "[2/3]")
		f.run.out = out
		f.inflict(t, f.state)
	}
	end := func(t *testing.T, f fault) {
		_ = f.run.Wait() // the exit code says it
		if code := f.run.ProcessState.ExitCode(); code != 1 {
			t.Errorf("exit code %d, want 1", code)
		}
		keepsFirst(t, f.run.out, f.says...)
		finish(t, d.command(t, f.state, "lab", "list"), 0) // removes what could not be
		if left, err := os.ReadDir(f.state); err != nil || len(left) > 1 {
			t.Errorf("left behind: %v, %v", left, err)
		}
		if left := d.output(t, "ps", "--all", "--quiet", "--filter", "label=aqmlab.root="+f.state); left != "" {
			t.Errorf("containers left behind: %s", left)
		}
	}
	side := []fault{ // by side
		{name: "agent stopped", says: []string{"host h2", "T (stopped)"}, inflict: func(t *testing.T, state string) {
			_, join := d.container(t, state, "h2")
			for _, p := range host.Processes() {
				if p.Parent == join {
					send(t, started{Cmd: &exec.Cmd{Process: &os.Process{Pid: p.PID}}}, syscall.SIGSTOP)
				}
			}
		}},
		{name: "container paused", says: []string{"the switch", "docker pause"}, inflict: func(t *testing.T, state string) {
			id, _ := d.container(t, state, "s1")
			d.output(t, "pause", id)
		}},
		{name: "out of memory", says: []string{"host h2", "out of memory (host.memory is 256000000 bytes)"}, inflict: func(t *testing.T, state string) {
			_, pid := d.container(t, state, "h2")
			squeeze(t, pid)
		}},
	}
	for i := range side {
		begin(t, &side[i])
	}
	for _, f := range side {
		t.Run(f.name, func(t *testing.T) { end(t, f) })
	}
	t.Run("daemon restarted", func(t *testing.T) {
		f := fault{says: []string{"agent died", "somebody has stopped the container, or the Docker daemon"}, inflict: func(t *testing.T, _ string) {
			d.stop(t)
			d.start(t)
		}}
		begin(t, &f)
		end(t, f)
		finish(t, d.command(t, f.state, "run", "--resume", filepath.Join(f.run.out, "latest")), 0)
		if kept, err := store.List(f.run.out); err != nil || len(kept) != 1 || kept[0].State != results.Complete {
			t.Errorf("resumed: %+v, %v", kept, err)
		}
	})
	nothingLeft(t)
}

// squeeze leaves the memory cgroup of a process no room, until the process is gone.
func squeeze(t *testing.T, pid int) {
	t.Helper()
	groups, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		t.Fatal(err)
	}
	used, limit := "", "" // cgroups(7): NUMBER:CONTROLLERS:PATH
	for line := range strings.Lines(string(groups)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case fields[1] == "memory":
			dir := "/sys/fs/cgroup/memory" + fields[2]
			used, limit = dir+"/memory.usage_in_bytes", dir+"/memory.limit_in_bytes"
		case fields[1] == "" && limit == "":
			dir := "/sys/fs/cgroup" + fields[2]
			used, limit = dir+"/memory.current", dir+"/memory.max"
		}
	}
	if filepath.Dir(filepath.Dir(limit)) == "/" || !strings.Contains(limit, "docker") {
		t.Fatalf("the memory cgroup of process %d is %s", pid, limit)
	}
	waitFor(t, func() bool {
		text, err := os.ReadFile(used)
		now, _ := strconv.Atoi(string(bytes.TrimSpace(text)))
		for _, less := range []int{now / 2, now / 8, now / 32, 0} { // refused where too little can be given back
			if err == nil && os.WriteFile(limit, []byte(strconv.Itoa(now-less)), 0) == nil {
				break
			}
		}
		return err != nil || syscall.Kill(pid, 0) != nil
	})
}
