package orchestrator

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"aqmlab/labs"
	"aqmlab/orchestrator/uml"
	"aqmlab/units"
)

// Runtime says where a lab's hosts run.
type Runtime string

// The runtimes.
const (
	Auto   Runtime = "auto"   // Netns for root and a lab that fits into real time, else UML where there is a guest kernel, else Netns or Sim
	Netns  Runtime = "netns"  // network namespaces of this machine, on the wall clock
	Docker Runtime = "docker" // Docker containers of this machine, on the wall clock
	UML    Runtime = "uml"    // a guest kernel for each point, in virtual time
	Sim    Runtime = "sim"    // modelled hosts in virtual time
)

// Runtimes lists the runtimes.
func Runtimes() []string {
	return []string{string(Auto), string(Netns), string(Docker), string(UML), string(Sim)}
}

// ParseRuntime checks a name.
func ParseRuntime(name string) (Runtime, error) {
	for _, known := range Runtimes() {
		if name == known {
			return Runtime(name), nil
		}
	}
	return "", fmt.Errorf("unknown runtime %q: want one of %s", name, strings.Join(Runtimes(), ", "))
}

// What a machine does in real time: one switch process carries that much traffic,
// and what it and the hosts add to a round trip is well below that.
const (
	realRate = units.Gbps
	realRTT  = 200 * time.Microsecond
)

// slowed says why a lab cannot be expected to run in real time; it is empty for
// one that can, and for one whose user has settled on a dilation.
func slowed(lab *labs.Lab) string {
	offered := units.Rate(float64(lab.Topology.Rate) * slices.Max(lab.Workload.Load))
	if lab.Workload.Pattern != "many-to-one" {
		offered *= units.Rate(lab.Topology.Hosts)
	}
	switch {
	case lab.Dilation != 0:
		return ""
	case offered > realRate:
		return fmt.Sprintf("%v of traffic are more than %v", offered, units.Rate(realRate))
	case lab.RTT.Min > 0 && lab.RTT.Min < realRTT:
		return fmt.Sprintf("a base RTT of %v is less than %v", lab.RTT.Min, realRTT)
	}
	return ""
}

// machine is what the choice of a runtime depends on beside the lab.
type machine struct {
	root  bool
	guest func() (uml.Kernel, error)
}

// choose settles on a runtime for a lab, and tells why unless it was asked for.
func (r Runtime) choose(lab *labs.Lab, m machine) (chosen Runtime, why string) {
	t, err := lab.Host.BuildTransport()
	switch {
	case r != Auto && r != "":
		return r, ""
	case err == nil && t.Modelled:
		return Sim, "runtime sim: no real host speaks " + lab.Host.Transport
	}
	slow := slowed(lab)
	if m.root && slow == "" {
		return Netns, "runtime netns: real hosts in network namespaces, as this is root and the lab fits into real time"
	}
	k, err := m.guest()
	switch {
	case err == nil && m.root:
		return UML, fmt.Sprintf("runtime uml: the TCP of Linux %s in virtual time, as the lab does not fit into real time (%s)", k.Release, slow)
	case err == nil:
		return UML, fmt.Sprintf("runtime uml: the TCP of Linux %s in virtual time, as real hosts on this kernel need root", k.Release)
	case m.root:
		return Netns, fmt.Sprintf("runtime netns: real hosts in network namespaces, slowed down if need be (%s); a guest kernel would do without (%v)", slow, err)
	}
	return Sim, fmt.Sprintf("runtime sim: modelled hosts in virtual time, as real hosts need root (sudo) or a guest kernel (%v)", err)
}

// runtime is the one that a testbed is of.
func (t *Testbed) runtime() Runtime {
	if t.engine != nil {
		return Docker
	}
	return Netns
}
