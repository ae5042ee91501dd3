package host

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// Process is what the kernel says of a process (proc(5)).
type Process struct {
	PID    int
	Parent int
	Name   string
	Start  uint64        // in clock ticks since boot: with the id it names the process uniquely
	CPU    time.Duration // that all its threads have used
}

// Tick is the unit of CPU times in /proc, whatever the kernel's own is.
const Tick = time.Second / 100

// ReadProcess reads /proc/PID/stat.
func ReadProcess(pid int) (Process, error) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Process{}, err
	}
	p, err := parseProcess(raw)
	if err != nil {
		return Process{}, fmt.Errorf("process %d: %w", pid, err)
	}
	p.PID = pid
	return p, nil
}

// parseProcess reads the second field, the program's name in parentheses, which
// may hold anything. From the last parenthesis on there are plain fields, the state
// (field 3) first.
func parseProcess(raw []byte) (p Process, err error) {
	const fieldState, fieldParent, fieldUser, fieldSystem, fieldStart = 3, 4, 14, 15, 22
	begin, end := bytes.IndexByte(raw, '('), bytes.LastIndexByte(raw, ')')
	fields := bytes.Fields(raw[end+1:])
	if begin < 0 || end < begin || len(fields) <= fieldStart-fieldState {
		return Process{}, fmt.Errorf("%d fields after its name", len(fields))
	}
	p.Name = string(raw[begin+1 : end])
	for _, f := range []int{fieldUser, fieldSystem} {
		ticks, err := strconv.ParseInt(string(fields[f-fieldState]), 10, 64)
		if err != nil {
			return Process{}, err
		}
		p.CPU += time.Duration(ticks) * Tick
	}
	if p.Parent, err = strconv.Atoi(string(fields[fieldParent-fieldState])); err != nil {
		return Process{}, err
	}
	p.Start, err = strconv.ParseUint(string(fields[fieldStart-fieldState]), 10, 64)
	return p, err
}

// Processes reads what all processes have used so far.
func Processes() []Process {
	var all []Process
	folders, _ := filepath.Glob("/proc/[0-9]*") // its pattern is good
	for _, folder := range folders {
		pid, err := strconv.Atoi(filepath.Base(folder))
		if err != nil {
			continue
		}
		if p, err := ReadProcess(pid); err == nil { // else it has ended meanwhile
			all = append(all, p)
		}
	}
	return all
}

// Used is what processes have used since before, the busiest first, without those
// that have used nothing or ended.
func Used(before, after []Process) []Process {
	then := make(map[Process]time.Duration, len(before))
	key := func(p Process) Process { return Process{PID: p.PID, Start: p.Start} }
	for _, p := range before {
		then[key(p)] = p.CPU
	}
	var used []Process
	for _, p := range after {
		if p.CPU -= then[key(p)]; p.CPU > 0 {
			used = append(used, p)
		}
	}
	slices.SortFunc(used, func(a, b Process) int { return cmp.Compare(b.CPU, a.CPU) })
	return used
}
