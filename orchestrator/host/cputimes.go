package host

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// CPUTimes is what some CPUs have done since boot, in clock ticks.
type CPUTimes struct{ Busy, Interrupts, Total int64 }

// ReadCPUs adds up /proc/stat (proc(5)) over the CPUs of those numbers.
func ReadCPUs(cpus []int) (CPUTimes, error) {
	f, err := os.Open("/proc/stat")
	if err != nil {
		return CPUTimes{}, fmt.Errorf("reading CPU times: %w", err)
	}
	defer f.Close()
	var sum CPUTimes
	for s := bufio.NewScanner(f); s.Scan(); {
		number, line, ok := strings.Cut(strings.TrimPrefix(s.Text(), "cpu"), " ")
		cpu, err := strconv.Atoi(number)
		if !ok || err != nil || !slices.Contains(cpus, cpu) {
			continue
		}
		times, err := parseCPU(line)
		if err != nil {
			return CPUTimes{}, fmt.Errorf("reading CPU times of CPU %d: %w", cpu, err)
		}
		sum.Busy += times.Busy
		sum.Interrupts += times.Interrupts
		sum.Total += times.Total
	}
	return sum, nil
}

// parseCPU reads the columns user, nice, system, idle, iowait, irq, softirq and
// steal; guest time is part of user time.
func parseCPU(line string) (CPUTimes, error) {
	const idle, iowait, irq, softirq, steal = 3, 4, 5, 6, 7
	var t CPUTimes
	for i, field := range strings.Fields(line) {
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return CPUTimes{}, err
		}
		if i > steal {
			break
		}
		t.Total += ticks
		if i != idle && i != iowait {
			t.Busy += ticks
		}
		if i == irq || i == softirq {
			t.Interrupts += ticks
		}
	}
	return t, nil
}
