package host

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Load looks for programs that keep this machine's CPUs busy beside a lab.
type Load struct {
	Begun     time.Time
	processes []Process
	cpus      CPUTimes
}

// ReadLoad reads what programs have used so far.
func ReadLoad() (l Load, err error) {
	l.Begun, l.processes = time.Now(), Processes()
	l.cpus, err = ReadCPUs(allCPUs())
	return l, err
}

func allCPUs() []int {
	all := make([]int, runtime.NumCPU())
	for i := range all {
		all[i] = i
	}
	return all
}

// What is worth naming.
const (
	manyCPUs  = 0.10 // share of all CPUs that others use
	muchOfOne = 0.10 // share of one CPU that a process uses
	mostNamed = 3    // processes
)

// Others says which programs but the lab's processes and their children have used much of
// the CPUs since before, and nothing if it was little.
func (l Load) Others(before Load, lab ...int) string {
	during, total := l.Begun.Sub(before.Begun), l.cpus.Total-before.cpus.Total
	// What the kernel does as packets come in it mostly does for the lab.
	sum := time.Duration(l.cpus.Busy-before.cpus.Busy-(l.cpus.Interrupts-before.cpus.Interrupts)) * Tick
	var named []string
	for _, p := range Used(before.processes, l.processes) {
		// The first process of a container has the lab's as its child.
		if slices.Contains(lab, p.PID) || slices.Contains(lab, p.Parent) {
			sum -= p.CPU
		} else if share := float64(p.CPU) / float64(during); share >= muchOfOne && len(named) < mostNamed {
			named = append(named, fmt.Sprintf("%s (process %d) %.0f %%", p.Name, p.PID, 100*share))
		}
	}
	share := float64(sum) / float64(time.Duration(max(total, 1))*Tick)
	if share < manyCPUs {
		return ""
	}
	text := fmt.Sprintf("other programs use %.0f %% of the CPUs", 100*share)
	if len(named) > 0 {
		text += ": " + strings.Join(named, ", ") + " of one"
	}
	return text
}
