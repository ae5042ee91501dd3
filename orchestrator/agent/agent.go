// Package agent runs our own helper processes (the switch, traffic clients
// and servers) inside a lab's namespaces, and talks to them.
//
// An agent is this program again, started as `EXE agent ROLE ARGS...`. Both
// ends of the arrangement are here: Spawn starts one and yields a Process;
// Serve, in the agent, answers its calls. They speak JSON-RPC (net/rpc) over a
// Unix socket.
//
// An agent has a session of its own, so that a Ctrl-C on the terminal reaches
// the owner alone, who ends the agents in order. It holds the reading end of a
// pipe whose writing end is its owner's, and reads it all the time:
//
//	owner writes attached    begin; end when the pipe ends, which the kernel
//	                         makes happen however the owner dies
//	owner writes detached    begin, and stay when the pipe ends
//	pipe ends before either  the owner died before it had recorded the agent:
//	                         do nothing and end
//
// The kernel's own "signal me when my parent dies" is of no use to a Go
// program: it fires when the thread dies that made the child.
package agent

import (
	"errors"
	"time"
)

// File descriptors that an agent inherits, after the three standard ones.
const (
	ownerFD   = 3 // reading end of the owner's pipe
	controlFD = 4 // connected or listening Unix socket
	firstFD   = 5 // Options.Files
)

// The owner's first and only byte on the pipe.
const (
	attached = 'a'
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

// ErrOwnerDied is returned by Serve when the agent's owner ended without
// saying so.
var ErrOwnerDied = errors.New("owner died")

// Nothing is the argument or reply of a call that has none.
type Nothing struct{}
