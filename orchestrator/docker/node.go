package docker

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
)

// JoinRole is the subcommand of `aqmlab agent` that a container's first process
// is: `agent join SOCKET ARGS...` calls [agent.Join].
const JoinRole = "join"

// Node is what a container shall be.
type Node struct {
	Name   string   // of the container
	Host   string   // host name inside
	Image  string   // empty: aqmlab's own
	CPUSet []int    // CPUs that it may use; none: all
	CPUs   float64  // most CPU time over wall time; zero: no limit
	Memory int64    // most memory in bytes; zero: no limit
	Switch bool     // it is the switch, which raises the priority of a thread
	Owner  string   // who has it, on another machine; empty: this machine's lab alone
	Peers  []string // what its /etc/hosts holds beside itself: "NAME:ADDRESS"
}

// Where a container has what is mounted into it.
const (
	inside       = "/.aqmlab"
	innerSocket  = inside + "/owner.sock"
	innerFolder  = inside + "/bin" // of the program, in hosts of a named image
	innerProgram = innerFolder + "/aqmlab"
)

// Labels of a lab's containers.
const (
	labLabel   = "aqmlab.lab"   // the lab's id
	rootLabel  = "aqmlab.root"  // the folder of the state of all labs
	siteLabel  = "aqmlab.site"  // of a site's container: its name
	ownerLabel = "aqmlab.owner" // of what a lab has on another machine: whose it is
)

// capabilities are those that every container has: for what belongs to its own
// network namespace, and for packet sockets. The program itself needs the
// second alone, on the switch; with both, users set up and look at a host's
// network from inside. No slice of these is ever changed.
var capabilities = []string{"NET_ADMIN", "NET_RAW"}

// switchCapability is what raising a priority takes.
const switchCapability = "SYS_NICE"

// serviceCapabilities are what programs of a named image may need in addition:
// those that begin as root and become somebody else, and well-known ports.
var serviceCapabilities = []string{"CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "NET_BIND_SERVICE", "SETGID", "SETUID"}

// config is the part of a container's description that the image may have an
// opinion on.
func (n Node) config(ref string, args []string) *container.Config {
	program := ownProgram
	if n.Image != "" {
		program = innerProgram
	}
	return &container.Config{
		Hostname:    n.Host,
		User:        "0:0", // for capabilities, which other users would lose
		Image:       ref,
		Entrypoint:  []string{program},
		Cmd:         append([]string{"agent", JoinRole, innerSocket}, args...),
		WorkingDir:  "/",
		Healthcheck: &container.HealthConfig{Test: []string{"NONE"}}, // it would disturb
	}
}

// mostProcesses is how many processes and threads a container may have, so that one that
// forks without end does not stop the machine.
const mostProcesses = 4096

// mostShares is the largest weight of a container at the CPUs (cgroup's
// cpu.shares).
const mostShares = 1 << 18

// hostConfig is the other part. The socket is a path here, and the program a volume's name;
// root is the cgroup above all others.
func (n Node) hostConfig(socket, program, root string) *container.HostConfig {
	no, processes := false, int64(mostProcesses)
	h := &container.HostConfig{
		NetworkMode:    "none",
		RestartPolicy:  container.RestartPolicy{Name: container.RestartPolicyDisabled},
		LogConfig:      container.LogConfig{Type: "json-file", Config: map[string]string{"max-size": "1m"}},
		CapDrop:        []string{"ALL"},
		CapAdd:         slices.Clone(capabilities),
		SecurityOpt:    []string{"no-new-privileges"},
		ReadonlyRootfs: true,
		Tmpfs:          map[string]string{"/tmp": "", "/run": ""},
		ExtraHosts:     n.Peers,
		Init:           &no, // the program is one
		Mounts:         []mount.Mount{bind(socket, innerSocket)},
		Resources: container.Resources{
			CpusetCpus: list(n.CPUSet),
			NanoCPUs:   int64(n.CPUs * 1e9),
			Memory:     n.Memory,
			MemorySwap: n.Memory, // in all: no swap
			PidsLimit:  &processes,
		},
	}
	if n.Switch {
		h.CapAdd = append(h.CapAdd, switchCapability)
		// The priority counts inside the container only; at the CPUs its cgroup
		// competes as a whole, and all containers together as one.
		h.CgroupParent, h.CPUShares = root, mostShares
	}
	if n.Image != "" {
		h.CapAdd = append(h.CapAdd, serviceCapabilities...)
		h.Mounts = append(h.Mounts, mount.Mount{Type: mount.TypeVolume, Source: program, Target: innerFolder, ReadOnly: true})
	}
	return h
}

func bind(from, to string) mount.Mount {
	return mount.Mount{Type: mount.TypeBind, Source: from, Target: to, ReadOnly: true}
}

// list writes numbers as the kernel reads them.
func list(numbers []int) string {
	words := make([]string, len(numbers))
	for i, n := range numbers {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, ",")
}

// labels are those of what a lab whose state is in dir has, which may have an owner on another
// machine.
func labels(dir, owner string) map[string]string {
	all := map[string]string{labLabel: filepath.Base(dir), rootLabel: filepath.Dir(dir)}
	if owner != "" {
		all[ownerLabel] = owner
	}
	return all
}

// OwnerFilter is what finds all that an owner has on a machine, for the docker command.
func OwnerFilter(owner string) string { return "label=" + ownerLabel + "=" + owner }
