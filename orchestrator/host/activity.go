package host

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Activity is what a process and its children do.
type Activity struct {
	State string        // as /proc has it: "T (stopped)" if one of them is, or else that of the first
	Ready bool          // a thread runs, or would if it had a processor
	Used  time.Duration // of all processors so far
	Turns int64         // how often the first one has waited for something so far
}

// ActivityOf looks at a process and its children.
func ActivityOf(pid int) (a Activity) {
	a.State = StateOf(pid)
	for _, p := range Processes() {
		if p.PID != pid && p.Parent != pid {
			continue
		}
		a.Used += p.CPU
		a.Ready = a.Ready || ready(p.PID)
		if state := StateOf(p.PID); strings.HasPrefix(state, "T") {
			a.State = state
		}
	}
	a.Turns, _ = strconv.ParseInt(statusOf(pid, "voluntary_ctxt_switches:"), 10, 64) // of one that has ended: none
	return a
}

// StillFor says what became of a process that has not run for so long, for its user.
func (a Activity) StillFor(d time.Duration) string {
	return fmt.Sprintf("it has not run for %v (its state is %s), and was killed; look for what stops processes here, such as kill -STOP, docker pause or a debugger, and run again", d, a.State)
}

// StateOf is the state of a process, as /proc has it; empty if there is no such process.
func StateOf(pid int) string { return statusOf(pid, "State:") }

// statusOf is a value of /proc/PID/status, or empty.
func statusOf(pid int, key string) string {
	status, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	for line := range bytes.Lines(status) {
		if value, ok := bytes.CutPrefix(line, []byte(key)); ok {
			return string(bytes.TrimSpace(value))
		}
	}
	return ""
}

// ready tells whether a thread of a process wants a processor.
func ready(pid int) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid)) // its pattern is good
	return slices.ContainsFunc(threads, func(file string) bool {
		stat, _ := os.ReadFile(file) // of one that has ended: nothing
		_, fields, _ := bytes.Cut(stat, []byte(") "))
		return bytes.HasPrefix(fields, []byte("R"))
	})
}
