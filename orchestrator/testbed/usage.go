package testbed

import (
	"fmt"
	"os"
	"time"

	"aqmlab/orchestrator/host"
)

// usage is what has been done so far on the hosts' CPUs. What other programs do
// there is no part of it: it makes a lab late, which is measured, and a dilation is
// no remedy for it.
type usage struct {
	lab   time.Duration // by the lab: its hosts' processes, and the kernel as packets come in
	total time.Duration // that there was
}

// used reads the usage. In virtual time nobody needs it, and to read takes time.
func (t *Testbed) used() (usage, error) {
	if t.virtual {
		return usage{}, nil
	}
	cpus, err := host.ReadCPUs(t.cpus.Hosts)
	if err != nil {
		return usage{}, err
	}
	u := usage{lab: time.Duration(cpus.Interrupts) * host.Tick, total: time.Duration(cpus.Total) * host.Tick}
	for _, c := range t.hosts {
		p, err := host.ReadProcess(c.PID())
		if err != nil {
			return usage{}, fmt.Errorf("reading what %s uses: %w", c.name, err)
		}
		u.lab += p.CPU
	}
	return u, nil
}

// since is the share of the CPUs that the lab has used since before.
func (u usage) since(before usage) float64 {
	if u.total <= before.total {
		return 0
	}
	return min(1, float64(u.lab-before.lab)/float64(u.total-before.total))
}

// watchOthers begins to watch for other programs that use the CPUs. The function
// that it returns says which have, see [host.Load.Others]; in virtual time they do
// not matter.
func (t *Testbed) watchOthers() (func() (string, error), error) {
	if t.virtual {
		return func() (string, error) { return "", nil }, nil
	}
	before, err := host.ReadLoad()
	return func() (string, error) {
		lab := []int{os.Getpid()}
		for _, c := range t.processes() {
			lab = append(lab, c.PID())
		}
		now, err := host.ReadLoad()
		return now.Others(before, lab...), err
	}, err
}
