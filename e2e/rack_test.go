//go:build linux

package e2e

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"aqmlab/labs/inventory"
)

// rack is machines of a test's own, on this one. Each has its own network, which a bridge
// joins with those of the others, its own processes, mounts, name and /run, a Docker daemon,
// and an ssh server. This machine reaches them all by the bridge.
type rack struct {
	t        testing.TB
	id, dir  string
	prefix   netip.Prefix
	machines []*rackMachine

	inventory string // the file that lists them, by their sockets
}

// rackMachine is a machine of a rack.
type rackMachine struct {
	inventory.Machine
	dir, namespace string

	init *exec.Cmd      // its first process
	stay io.WriteCloser // its first process, and so every one, ends when this is closed
	log  bytes.Buffer
}

// rackMTU is that of the rack's network: room for a lab's packets inside VXLAN's.
const rackMTU = 1600

// newRack starts one of n machines m1, m2, ..., which ends with the test.
func newRack(t testing.TB, n int) *rack {
	t.Helper()
	needRoot(t)
	for _, program := range []string{"dockerd", "docker", "sshd", "ssh", "ssh-keygen"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("no rack on this machine (Debian's packages docker.io, openssh-server and openssh-client)")
		}
	}
	dir, err := os.MkdirTemp("/tmp", "aqmlab-rack-") // short: sockets are below it
	if err != nil {
		t.Fatal(err)
	}
	r := &rack{t: t, dir: dir, inventory: filepath.Join(dir, "rack.yaml")}
	t.Cleanup(r.gone)
	r.join()
	t.Cleanup(func() { r.ip("link", "del", r.bridge()) })
	r.ip("address", "add", r.prefix.String(), "dev", r.bridge())
	r.ip("link", "set", r.bridge(), "up")
	r.forward()
	r.makeKeys()
	for i := range n {
		r.add(i + 1)
	}
	for _, m := range r.machines {
		waitUpTo(t, time.Minute, func() bool { return listens(m.Address, 22) && m.docker("version").Run() == nil })
	}
	r.write(r.inventory, func(m inventory.Machine) inventory.Machine { return m })
	return r
}

// join makes the bridge. Its name, and so its addresses, are of no other rack.
func (r *rack) join() {
	r.t.Helper()
	var out []byte
	for range 100 {
		var b [2]byte
		_, _ = rand.Read(b[:]) // never fails
		b[0] &= 1
		r.id = fmt.Sprintf("%x", b)
		r.prefix = netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 18 + b[0], b[1], 254}), 24) // for benchmarks (RFC 2544)
		var err error
		if out, err = exec.Command("ip", "link", "add", r.bridge(), "mtu", fmt.Sprint(rackMTU), "type", "bridge").CombinedOutput(); err == nil {
			return
		}
	}
	r.t.Fatalf("no bridge can be made: %s", out)
}

// forward has this machine pass on what its machines send each other. A Docker daemon makes
// it drop that, where bridges ask iptables.
func (r *rack) forward() {
	if _, err := exec.LookPath("iptables"); err != nil {
		return
	}
	rule := []string{"FORWARD", "-i", r.bridge(), "-o", r.bridge(), "-j", "ACCEPT"}
	r.run("iptables", append([]string{"-w", "-I"}, rule...)...)
	r.t.Cleanup(func() { r.run("iptables", append([]string{"-w", "-D"}, rule...)...) })
}

func (r *rack) bridge() string { return "rack-" + r.id }

// ip runs the ip command, whose failure fails the test.
func (r *rack) ip(args ...string) { r.run("ip", args...) }

func (r *rack) run(name string, args ...string) {
	r.t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		r.t.Errorf("%s %v: %v\n%s", name, args, err, out)
	}
}

// add starts a machine.
func (r *rack) add(number int) {
	r.t.Helper()
	name := fmt.Sprintf("m%d", number)
	m := &rackMachine{dir: filepath.Join(r.dir, name), namespace: r.bridge() + "-" + name}
	a := r.prefix.Addr().As4()
	a[3] = byte(number)
	m.Machine = inventory.Machine{Name: name, Docker: "unix://" + m.dir + "/docker.sock", Address: netip.AddrFrom4(a)}
	r.machines = append(r.machines, m)
	r.connect(m, fmt.Sprintf("rk-%s-%d", r.id, number))
	if err := os.Mkdir(m.dir, 0o755); err != nil {
		r.t.Fatal(err)
	}
	for file, text := range map[string]string{"start": m.script(), "sshd_config": r.sshd(m), "daemon.json": "{}"} {
		if err := os.WriteFile(filepath.Join(m.dir, file), []byte(text), 0o600); err != nil {
			r.t.Fatal(err)
		}
	}
	r.makeServerKey(m)
	// The first process of a namespace takes all others with it.
	m.init = exec.Command("nsenter", "--net=/run/netns/"+m.namespace, "unshare", "--time", "--monotonic", fmt.Sprint(m.ahead().Seconds()),
		"sh", "-e", filepath.Join(m.dir, "start"))
	m.init.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC}
	m.init.Stdout, m.init.Stderr = &m.log, &m.log
	var err error
	if m.stay, err = m.init.StdinPipe(); err != nil {
		r.t.Fatal(err)
	}
	if err := m.init.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { r.end(m) })
}

// ahead is how much the machine's CLOCK_MONOTONIC is ahead of this machine's: machines that
// were started at different times have different ones.
func (m *rackMachine) ahead() time.Duration {
	return time.Duration(m.Address.As4()[3]) * 1000 * time.Second
}

// connect makes the network of a machine, and links it to the bridge.
func (r *rack) connect(m *rackMachine, port string) {
	r.t.Helper()
	r.ip("netns", "add", m.namespace)
	r.t.Cleanup(func() { r.ip("netns", "del", m.namespace) })
	mtu := fmt.Sprint(rackMTU)
	r.ip("link", "add", port, "mtu", mtu, "master", r.bridge(), "type", "veth", "peer", "name", "eth0", "mtu", mtu, "netns", m.namespace)
	// With its namespace it would go in its own time.
	r.t.Cleanup(func() { r.ip("link", "del", port) })
	r.ip("link", "set", port, "up")
	r.ip("-n", m.namespace, "address", "add", netip.PrefixFrom(m.Address, r.prefix.Bits()).String(), "dev", "eth0")
	r.ip("-n", m.namespace, "link", "set", "eth0", "up")
	r.ip("-n", m.namespace, "link", "set", "lo", "up")
}

// cgroup is above those of the machine's containers.
func (m *rackMachine) cgroup() string { return m.namespace }

// script is what the first process does. Its own /run keeps the daemon from a containerd
// of this machine, whose containers would be in this machine's network. It has Docker's
// usual socket in it.
func (m *rackMachine) script() string {
	return fmt.Sprintf(`mount --make-rprivate /
mount -t proc proc /proc
mount -t tmpfs -o mode=755 tmpfs /run
mkdir /run/sshd
hostname %[2]s
dockerd --config-file %[1]s/daemon.json --data-root %[1]s/data --cgroup-parent /%[3]s --exec-opt native.cgroupdriver=cgroupfs \
	--bridge=none --iptables=false --ip-forward=false --host unix:///run/docker.sock --host unix://%[1]s/docker.sock \
	--host tcp://%[4]s:2376 --tlsverify --tlscacert %[1]s/../tls/ca.pem --tlscert %[1]s/cert.pem --tlskey %[1]s/key.pem >%[1]s/docker.log 2>&1 &
$(command -v sshd) -D -e -f %[1]s/sshd_config >%[1]s/sshd.log 2>&1 &
read end || true
`, m.dir, m.Name, m.cgroup(), m.Address)
}

// on is a command on the machine.
func (m *rackMachine) on(args ...string) *exec.Cmd {
	return exec.Command("nsenter", append([]string{"--target", fmt.Sprint(m.init.Process.Pid), "--net", "--mount", "--uts", "--ipc", "--pid", "--"}, args...)...)
}

// listens tells whether somebody listens at a TCP port.
func listens(at netip.Addr, port uint16) bool {
	c, err := net.Dial("tcp", netip.AddrPortFrom(at, port).String())
	return err == nil && c.Close() == nil
}

// docker is a docker command for the machine's daemon.
func (m *rackMachine) docker(args ...string) *exec.Cmd {
	return exec.Command("docker", append([]string{"--host", m.Docker}, args...)...)
}

// output is what a docker command prints.
func (m *rackMachine) output(t testing.TB, args ...string) string {
	t.Helper()
	out, err := m.docker(args...).CombinedOutput()
	if err != nil {
		t.Fatalf("docker %v on %s: %v\n%s", args, m.Name, err, out)
	}
	return strings.TrimSpace(string(out))
}

// write writes an inventory of the machines as change makes them.
func (r *rack) write(path string, change func(inventory.Machine) inventory.Machine) {
	r.t.Helper()
	text := "machines:\n"
	for _, own := range r.machines {
		m := change(own.Machine)
		text += fmt.Sprintf("  - {name: %s, docker: %q, address: %s", m.Name, m.Docker, m.Address)
		if m.TLS != "" {
			text += fmt.Sprintf(", tls: %q", m.TLS)
		}
		if m.Interface != "" {
			text += ", interface: " + m.Interface
		}
		if len(m.CPUs) > 0 {
			text += fmt.Sprintf(", cpus: %s", strings.Trim(strings.ReplaceAll(fmt.Sprint(m.CPUs), " ", ","), "[]"))
		}
		text += "}\n"
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// end ends a machine with all its processes and mounts, and removes its cgroups.
func (r *rack) end(m *rackMachine) {
	r.t.Helper()
	if r.t.Failed() {
		for _, file := range []string{"docker.log", "sshd.log"} {
			log, _ := os.ReadFile(filepath.Join(m.dir, file))
			r.t.Logf("%s of %s:\n%s%s", file, m.Name, log, m.log.String())
		}
	}
	if err := m.stay.Close(); err != nil {
		r.t.Error(err)
	}
	_ = m.init.Wait() // nothing of it lives once it has ended; how it ended tells nothing
	for _, group := range r.cgroups(m) {
		if err := os.Remove(group); err != nil {
			r.t.Error(err)
		}
	}
}

// cgroups lists those of a machine, the innermost first.
func (r *rack) cgroups(m *rackMachine) (found []string) {
	for _, pattern := range []string{"/sys/fs/cgroup/*/", "/sys/fs/cgroup/"} { // of version 1, of version 2
		tops, _ := filepath.Glob(pattern + m.cgroup())
		for _, top := range tops {
			_ = filepath.WalkDir(top, func(path string, d os.DirEntry, err error) error {
				if err == nil && d.IsDir() {
					found = append([]string{path}, found...)
				}
				return nil // what is gone needs no removal
			})
		}
	}
	return found
}

// gone removes the rack's folder, and fails the test unless that was the last of it.
func (r *rack) gone() {
	r.t.Helper()
	if err := os.RemoveAll(r.dir); err != nil {
		r.t.Error(err)
	}
	var left []string
	for _, pattern := range []string{"/run/netns/rack-" + r.id + "*", "/sys/class/net/rack-" + r.id + "*", "/sys/class/net/rk-" + r.id + "*"} {
		found, _ := filepath.Glob(pattern)
		left = append(left, found...)
	}
	for _, m := range r.machines {
		left = append(left, r.cgroups(m)...)
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil || bytes.Contains(mounts, []byte(r.dir)) {
		r.t.Errorf("mounts are left: %v\n%s", err, mounts)
	}
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range lines {
		if line, err := os.ReadFile(path); err == nil && bytes.Contains(line, []byte(r.dir)) {
			left = append(left, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	if len(left) > 0 {
		r.t.Errorf("left behind: %v", left)
	}
}
