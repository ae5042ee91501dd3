package orchestrator

import (
	"fmt"
	"os"
	"strings"

	"aqmlab/labs"
	"aqmlab/orchestrator/uml"
	"aqmlab/transport"
)

// Runtime says where a lab's hosts run.
type Runtime string

// The runtimes.
const (
	Auto   Runtime = "auto"   // Netns with the rights for it, else UML where there is a guest kernel, else Sim
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

// choose settles on a runtime for a lab, and tells why unless it was asked for.
func (r Runtime) choose(lab *labs.Lab) (chosen Runtime, why string) {
	t, err := transport.Table().New(lab.Host.Transport, lab.Host.TransportParams, struct{}{})
	switch {
	case r != Auto && r != "":
		return r, ""
	case err == nil && t.Modelled:
		return Sim, "runtime sim: no real host speaks " + lab.Host.Transport
	case os.Geteuid() == 0:
		return Netns, "runtime netns: real hosts in network namespaces, as this is root"
	}
	k, err := uml.Find()
	if err != nil {
		return Sim, fmt.Sprintf("runtime sim: modelled hosts in virtual time, as real hosts need root (sudo) or a guest kernel (%v)", err)
	}
	return UML, fmt.Sprintf("runtime uml: the TCP of Linux %s in virtual time, as real hosts on this kernel need root", k.Release)
}

// runtime is the one that a testbed is of.
func (t *Testbed) runtime() Runtime {
	if t.engine != nil {
		return Docker
	}
	return Netns
}
