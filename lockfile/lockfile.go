// Package lockfile locks open files against other processes. The system lets go of a lock
// when its file is closed or its process ends, however it ends.
package lockfile

import "errors"

// ErrHeld says that another process has a lock that allows no other.
var ErrHeld = errors.New("another process has it locked")

// How a file is locked.
type How int

// A file has one lock that excludes all others, or any number of shared ones.
const (
	Exclusive How = iota
	Shared
)
