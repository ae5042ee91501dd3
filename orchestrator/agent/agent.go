// Package agent runs our own helper processes (the switch, traffic clients
// and servers) inside a lab's namespaces, and talks to them.
//
// An agent is this program again, started as `EXE agent ROLE ARGS...`. Both
// ends of the arrangement are here: Spawn starts one and yields a Process;
// Serve, in the agent, answers its calls. They speak JSON-RPC (net/rpc) over a
// Unix socket.
//
// An agent has a session of its own, so that a Ctrl-C on the terminal reaches
// the owner alone, who ends the agents in order. It holds one end of a socket pair
// whose other end is its owner's, and reads it all the time:
//
//	owner writes attached    begin, and write a byte a second; end when the pair ends,
//	                         which the kernel makes happen however the owner dies
//	owner writes quiet       the same without these bytes, where time is virtual
//	owner writes detached    begin, and stay when the pair ends
//	pair ends before these   the owner died before it had recorded the agent:
//	                         do nothing and end
//
// The owner kills an agent whose bytes stay away because it was stopped.
//
// The kernel's own "signal me when my parent dies" is of no use to a Go
// program: it fires when the thread dies that made the child.
package agent

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"aqmlab/orchestrator/journal"
)

// File descriptors that an agent inherits, after the three standard ones.
const (
	ownerFD   = 3 // an end of the socket pair
	controlFD = 4 // connected or listening Unix socket
	firstFD   = 5 // Options.Files
)

// The owner's first and only byte on the pair.
const (
	attached = 'a'
	quiet    = 'q'
	detached = 'd'
)

// Names that calls are addressed to.
const (
	serviceName = "Service" // the object given to Serve
	controlName = "Agent"   // our own
)

// grace is how long an agent may take to end after it was asked to, or after
// its owner's death, before it is killed.
const grace = 3 * time.Second

// ErrDied is wrapped by the errors of calls to an agent that ended on its own.
var ErrDied = errors.New("agent died")

// errTold is in the cause of an end that somebody else asked for, and so in what calls
// return then.
var errTold = errors.New("somebody had the agent end")

// ErrOwnerDied is returned by Serve when the agent's owner ended without
// saying so.
var ErrOwnerDied = errors.New("owner died")

// Nothing is the argument or reply of a call that has none.
type Nothing struct{}

// Options says what agent to start, and where.
type Options struct {
	Exe       string     // program; "": this one
	Role      string     // what it shall be
	Args      []string   // its further arguments
	Namespace string     // by name in /run/netns; "": the caller's
	CPUs      []int      // that it may use; none: the caller's
	Nice      int        // its nice value, as far as the caller's rights go; zero: the caller's
	Place     Place      // where it runs, which then sees to Exe, Namespace and CPUs; nil: as a child of the caller
	Files     []*os.File // that it inherits; see File. The caller may close its own after Spawn.
	Log       io.Writer  // gets a copy of its stderr; may be nil. Unused when it is detached.
	Quiet     bool       // its time is virtual: nobody watches that it runs
	Detached  *Detached  // it stays after its owner's end; nil: it ends with it
	// Record is told, before the agent begins its work, what to remove should
	// its owner die. Nil for an agent that nobody else needs to know of.
	Record func(...journal.Entry) error
}

// Detached is what an agent needs that outlives its owner. Its stdin and
// stdout are /dev/null, as any agent's.
type Detached struct {
	Socket string // path of the control socket, for Dial; it must not exist
	Log    string // path of the file that its stderr goes to
}

// Command is how an agent's process is started.
type Command struct {
	Args   []string   // of this program
	Stderr *os.File   // its stdin and stdout are /dev/null
	Files  []*os.File // its descriptors from 3 on
}

// Place is somewhere that an agent can run but as a child of this process, such
// as a container.
type Place interface {
	// Launch starts the command and returns when it has its files. When it fails,
	// or ctx ends first, nothing runs.
	Launch(ctx context.Context, c Command) (Body, error)
}

// Body is an agent's process.
type Body interface {
	// PID is its process id, as this process sees it.
	PID() int
	// Wait waits for its end, and says how it ended unless all went well. It is
	// called once.
	Wait() error
	// Kill ends it at once. That it has ended is no error.
	Kill() error
}
