package host

import (
	"os"

	"golang.org/x/sys/unix"
)

// CPUs lists the processors that the calling thread may use, in rising order.
func CPUs() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, os.NewSyscallError("sched_getaffinity", err)
	}
	var all []int
	for cpu := range len(set) * 64 {
		if set.IsSet(cpu) {
			all = append(all, cpu)
		}
	}
	return all, nil
}

// UseCPU keeps the calling, locked thread and what it starts on one processor.
func UseCPU(cpu int) error {
	var one unix.CPUSet
	one.Set(cpu)
	return os.NewSyscallError("sched_setaffinity", unix.SchedSetaffinity(0, &one))
}
