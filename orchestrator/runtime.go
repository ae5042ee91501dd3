package orchestrator

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"aqmlab/labs"
	"aqmlab/orchestrator/backend"
	"aqmlab/orchestrator/guests"
	"aqmlab/orchestrator/simulated"
	"aqmlab/orchestrator/testbed"
	"aqmlab/units"
)

// Runtime is the name of a row of [Runtimes], or [Auto].
type Runtime string

// Auto has [Run] choose a runtime by what the lab and the machine are.
const Auto Runtime = "auto"

// Runtimes is the table of runtimes. Auto takes the first of those that suit it.
func Runtimes() []backend.Row {
	return []backend.Row{
		{
			Name:  "netns",
			Doc:   "real hosts in network namespaces",
			Facts: backend.Facts{OwnKernel: true, Stays: true},
			Open:  testbed.OpenNamespaces,
		},
		{
			Name:  "docker",
			Doc:   "real hosts in Docker containers",
			Facts: backend.Facts{OwnKernel: true, Stays: true, Hosts: labs.Hosts{Containers: true}},
			Open:  testbed.OpenContainers,
		},
		{
			Name:  "uml",
			Doc:   "a guest kernel for each point, in virtual time",
			Facts: backend.Facts{Virtual: true},
			Find:  guests.FindKernel,
			Open:  guests.Open,
		},
		{
			Name:  "sim",
			Doc:   "modelled hosts in virtual time",
			Facts: backend.Facts{Virtual: true, Hosts: labs.Hosts{Modelled: true}},
			Open:  simulated.Open,
		},
	}
}

// RuntimeNames lists what a user may ask for.
func RuntimeNames() []string {
	names := []string{string(Auto)}
	for _, row := range Runtimes() {
		names = append(names, row.Name)
	}
	return names
}

// ParseRuntime checks a name.
func ParseRuntime(name string) (Runtime, error) {
	if names := RuntimeNames(); !slices.Contains(names, name) {
		return "", fmt.Errorf("unknown runtime %q: want one of %s", name, strings.Join(names, ", "))
	}
	return Runtime(name), nil
}

// Row is the runtime's row; the zero Row of a name that no row has.
func (r Runtime) Row() backend.Row { return first(Runtimes(), r.names) }

// Facts are those of its row.
func (r Runtime) Facts() backend.Facts { return r.Row().Facts }

// RuntimesWith lists the runtimes whose facts are as wanted.
func RuntimesWith(wanted func(backend.Facts) bool) []Runtime {
	var names []Runtime
	for _, row := range Runtimes() {
		if wanted(row.Facts) {
			names = append(names, Runtime(row.Name))
		}
	}
	return names
}

// Simulator is the runtime of modelled hosts.
func Simulator() Runtime {
	return RuntimesWith(func(f backend.Facts) bool { return f.Modelled })[0]
}

// names tells whether a row is the one of that name.
func (r Runtime) names(row backend.Row) bool { return row.Name == string(r) }

// first is the first row that fits, or the zero Row.
func first(rows []backend.Row, fits func(backend.Row) bool) backend.Row {
	if i := slices.IndexFunc(rows, fits); i >= 0 {
		return rows[i]
	}
	return backend.Row{}
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

// choose settles on a row for a lab, and tells why: real hosts in real time where
// the user may have them and the lab fits, else those of a guest kernel in virtual
// time, else real ones that are slowed down, else models.
func choose(rows []backend.Row, lab *labs.Lab, root bool) (chosen backend.Row, why string) {
	real := first(rows, func(r backend.Row) bool { return !r.Modelled && !r.Virtual })
	guest := first(rows, func(r backend.Row) bool { return !r.Modelled && r.Virtual })
	models := first(rows, func(r backend.Row) bool { return r.Modelled })
	take := func(r backend.Row, what, because string) (backend.Row, string) {
		return r, fmt.Sprintf("runtime %s: %s%s", r.Name, what, because)
	}
	if t, err := lab.Host.BuildTransport(); err == nil && t.Modelled {
		return take(models, "no real host speaks "+lab.Host.Transport, "")
	}
	if err := lab.CheckReal(); err != nil {
		return take(models, models.Doc, ", as the switches cannot serve real hosts")
	}
	slow := slowed(lab)
	if root && slow == "" {
		return take(real, real.Doc, ", as this is root and the lab fits into real time")
	}
	kernel, err := guest.Find()
	switch {
	case err == nil && root:
		return take(guest, kernel, fmt.Sprintf(" in virtual time, as the lab does not fit into real time (%s)", slow))
	case err == nil:
		return take(guest, kernel, " in virtual time, as real hosts on this kernel need root")
	case root:
		return take(real, real.Doc, fmt.Sprintf(", slowed down if need be (%s); a guest kernel would do without (%v)", slow, err))
	}
	return take(models, models.Doc, fmt.Sprintf(", as real hosts need root (sudo) or a guest kernel (%v)", err))
}
