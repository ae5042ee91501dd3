//go:build linux

package wire

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// How much of the time the loop may run before all other programs. The kernel
// stops a real-time thread that leaves others less than 5 % of a second, for the
// rest of it, and what else belongs on the CPU must get its turn some time.
const (
	urgentPeriod = 100 * time.Millisecond
	urgentMost   = 90 * time.Millisecond // that it runs so in each period
)

// urgency is the priority of the loop's thread at its CPU: real-time
// (SCHED_FIFO), so that no other program keeps it waiting, except in what is left
// of a period after it has run for long enough. Then it has the highest priority
// of ordinary threads. Periods begin at the same time on the whole machine: the
// switches of two labs that share a CPU are ordinary threads at the same time.
type urgency struct {
	set   func(realTime bool) error // nil: the thread stays what it is
	on    bool
	begun time.Duration // of the period, on CLOCK_MONOTONIC
	slept time.Duration // wall time since then
	spent bool          // the share of the period is
	turns uint          // without work
	quiet bool          // the loop has nothing to do and lets others go first
}

// turn is told the time, of CLOCK_MONOTONIC, in every turn of the loop.
func (u *urgency) turn(now time.Duration) {
	switch {
	case u.set == nil:
	case now-u.begun >= urgentPeriod:
		u.begun, u.slept, u.spent = now.Truncate(urgentPeriod), 0, false
		u.become(!u.quiet)
	case now-u.begun-u.slept >= urgentMost:
		u.spent = true
		u.become(false)
	}
}

// calm lets all others go first while the loop polls without work.
func (u *urgency) calm() {
	if u.set != nil && !u.quiet {
		u.quiet = true
		u.become(false)
	}
}

// stir ends that.
func (u *urgency) stir() {
	if u.quiet {
		u.quiet = false
		u.become(!u.spent)
	}
}

// restAfter is how many turns without work a real-time thread takes at a time. One is
// about a fifth of a microsecond, and to yield takes more.
const restAfter = 16

// rest lets the switch of another lab have its turn on the CPU now and then, which an
// idle real-time thread would keep.
func (u *urgency) rest() {
	if u.turns++; u.on && u.turns%restAfter == 0 {
		_, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) // never fails
	}
}

// become changes the priority, or gives up where the rights for it are missing.
func (u *urgency) become(realTime bool) {
	if u.on == realTime || u.set == nil {
		return
	}
	if u.set(realTime) != nil {
		u.set = nil
		return
	}
	u.on = realTime
}

// setRealTime makes the calling thread a real-time one, or an ordinary one of the
// highest priority that it may have. Threads that it starts are neither.
func setRealTime(realTime bool) error {
	a := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL, Nice: highest, Flags: unix.SCHED_FLAG_RESET_ON_FORK}
	if realTime {
		a.Policy, a.Nice, a.Priority = unix.SCHED_FIFO, 0, 1
	}
	err := unix.SchedSetAttr(0, &a, 0)
	if errors.Is(err, unix.EPERM) && !realTime { // who may be real-time need not be allowed this
		a.Nice = 0
		err = unix.SchedSetAttr(0, &a, 0)
	}
	return os.NewSyscallError("sched_setattr", err)
}

// CanRealTime says why this process may have no real-time threads; nil if it may.
func CanRealTime() error {
	tried := make(chan error)
	go func() {
		runtime.LockOSThread() // which ends with this goroutine
		tried <- setRealTime(true)
	}()
	return <-tried
}

// highest is the nice value of the highest ordinary priority.
const highest = -20

// takeCPU pins the calling thread and raises its priority, if this process has the
// right to. Only the thread gets the priority: given to the whole process it would
// let the garbage collector starve the hosts.
//
// A thread without a CPU of its own has no priority either. The Go runtime lets
// it wait, spinning, for other threads of the process, which would not get the
// CPU for hundreds of milliseconds.
func takeCPU(cpu int) error {
	var one unix.CPUSet
	one.Set(cpu)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		return fmt.Errorf("pinning the switch to CPU %d: %w", cpu, err)
	}
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), highest) // else it is late, which is measured
	return nil
}

// threadTimes are what the kernel has counted of the calling thread: how long it
// ran, and how long it waited while others had its CPU. Zero where the kernel does
// not count.
func threadTimes() (ran, waited time.Duration) {
	text, _ := os.ReadFile("/proc/thread-self/schedstat")
	if _, err := fmt.Sscan(string(text), &ran, &waited); err != nil {
		return 0, 0
	}
	return ran, waited
}
