package orchestrator

import (
	"fmt"
	"slices"
	"strings"

	"aqmlab/labs"
	"aqmlab/orchestrator/backend"
	"aqmlab/orchestrator/simulated"
)

// Runtimes is the table of runtimes. Auto takes the first of those that suit it. Where there
// is no Linux, those that need it say so.
func Runtimes() []backend.Row {
	return []backend.Row{
		{
			Name:  "netns",
			Doc:   "real hosts in network namespaces",
			Facts: backend.Facts{OwnKernel: true, Stays: true, Rootless: true},
			Open:  openNamespaces,
		},
		{
			Name:  "docker",
			Doc:   "real hosts in Docker containers",
			Facts: backend.Facts{OwnKernel: true, Stays: true, Hosts: labs.Hosts{Containers: true}},
			Open:  openContainers,
		},
		{
			Name:  "uml",
			Doc:   "a guest kernel for each point, in virtual time",
			Facts: backend.Facts{Virtual: true, Hosts: labs.Hosts{Guests: true}},
			Find:  findKernel,
			Open:  openGuests,
		},
		{
			Name:  "sim",
			Doc:   "modelled hosts in virtual time",
			Facts: backend.Facts{Virtual: true, Hosts: labs.Hosts{Modelled: true}},
			Open:  simulated.Open,
		},
	}
}

// Runtime is the name of a row of [Runtimes], or [Auto].
type Runtime string

// Auto has [Run] choose a runtime by what the lab and the machine are.
const Auto Runtime = "auto"

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
func (r Runtime) Row() backend.Row { return backend.First(Runtimes(), r.names) }

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
