// Package uml builds a guest kernel and runs a program under it: User-Mode
// Linux (ARCH=um), the Linux kernel as an ordinary process, in its time-travel
// mode. The guest's clock stands still while anything in it can run, and jumps
// to the next timer when nothing can. So the kernel's own TCP runs with exact
// timing, however slow the machine, without root.
//
// The program is process 1 of its guest. There it is the only file but for the
// libraries that one built with cgo needs. Package [aqmlab/orchestrator/uml/guest] is its half of the work.
//
// What can make two runs differ is taken out: the guest has one processor, its
// kernel gets its randomness from a seed alone, nothing from outside interrupts
// it, and its calendar begins at a fixed date.
package uml

import "errors"

// ErrUnavailable is wrapped by errors for want of a guest kernel, or of what
// is needed to build one. They say what to do.
var ErrUnavailable = errors.New("no guest kernel")
