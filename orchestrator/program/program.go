// Package program runs the programs of labs on their hosts: it starts them at their
// lab times, keeps what they write, stops them, and says how they ended. Both sides are
// here: whoever runs programs, and the process that becomes one.
package program

import (
	"fmt"
	"slices"
	"time"
)

// Spec is one program, with its placeholders filled in.
type Spec struct {
	Name    string
	Host    int
	Run     []string // the program and its arguments
	Env     []string
	Stdin   string
	At      time.Duration // lab time of its start
	Stop    time.Duration // lab time of its end; zero: it ends by itself
	Serves  bool          // it is stopped when all others have ended
	Listens []int         // TCP or UDP ports; it starts at once, and is waited for
	Figures bool          // it gets a descriptor 3
	File    string        // in its folder, that it writes figures into, if it does
}

// Place is where the programs of a host run.
type Place struct {
	Namespace string // of its network, by name; empty: that of the caller
	Hosts     string // path of its /etc/hosts, within Root; empty: that of the file system
	Root      string // its file system; empty: that of the caller
}

// Config is what is run at a point.
type Config struct {
	Programs []Spec
	Dilation float64 // wall time over lab time
	Others   []int   // TCP ports of the hosts that are not programs'
}

// Ended is how a program ended.
type Ended struct {
	Name       string
	Start, End int64 // CLOCK_MONOTONIC, nanoseconds; both zero for one that never began
	Exit       int32 // [results.Unknown] if a signal ended it, or if it never began
	Signal     string
	Stopped    bool   // as the lab says
	Overdue    bool   // it had not ended by [Longest], and was stopped
	Error      string // why it could not begin, or had to be killed; empty otherwise
	Stdout     []byte
	Stderr     []byte
	Figures    []byte
	Unread     string        // why its file of figures could not be read
	Cut        bool          // it wrote more than is kept
	CPU        time.Duration // that it and its children used
	Sockets    Sockets       // its connections, if these were counted
	Counted    bool
}

// Sockets adds up TCP connections that have ended.
type Sockets struct {
	Sent        int64 // payload bytes, each counted once
	Received    int64 // payload bytes; the end of a connection counts as one
	Retransmits int64 // packets
}

func (s *Sockets) add(o Sockets) {
	s.Sent += o.Sent
	s.Received += o.Received
	s.Retransmits += o.Retransmits
}

// Longest is the lab time in which programs end that the lab does not stop.
const Longest = 1000 * time.Second

const (
	// grace is the wall time between the signal to end and the one that kills.
	grace = time.Second
	// readyWithin is the wall time in which a program listens.
	readyWithin = 30 * time.Second
	// kept bounds what is kept of each stream.
	kept = 16 << 20
)

// lookEvery is the wall time between two looks at whether a program listens.
const lookEvery = 2 * time.Millisecond

// wall is a lab time on the wall.
func (c Config) wall(lab time.Duration) time.Duration {
	return time.Duration(float64(lab) * c.Dilation)
}

// others tells whether a port is not the programs'.
func (c Config) others(port int) bool { return slices.Contains(c.Others, port) }

// name is how errors call a program.
func (s Spec) name() string { return fmt.Sprintf("program %s (%s)", s.Name, s.Run[0]) }
