// Package role is what a lab's helper processes do: the switch, and the hosts'
// traffic. Their exported methods are called by the lab's owner over net/rpc.
package role

import (
	"context"
	"errors"
	"runtime"

	"aqmlab/orchestrator/agent"
	"aqmlab/switch/port"
)

// The names of the roles, for [agent.Options].
const (
	SwitchRole = "switch"
	HostsRole  = "hosts"
)

// Roles lists them.
func Roles() []string { return []string{SwitchRole, HostsRole} }

// helperProcs is how many goroutines a helper process may run at once, beside
// a thread that spins or sleeps in the kernel: a process that is pinned to one
// CPU would get a single one, and notice its traffic late.
const helperProcs = 4

// Serve is the life of a helper process in a role. A switch is built of kinds.
func Serve(ctx context.Context, role string, kinds port.Kinds) error {
	runtime.GOMAXPROCS(max(helperProcs, runtime.NumCPU()))
	var service agent.Service
	err := agent.Serve(ctx, func(ctx context.Context) any {
		service = newService(ctx, role, Within{Kinds: kinds})
		return service
	})
	if service != nil {
		err = errors.Join(err, service.Close())
	}
	return err
}

// newService is what a helper in a role does, in whichever process.
func newService(ctx context.Context, role string, w Within) agent.Service {
	if role == SwitchRole {
		return &Switch{Kinds: w.Kinds, Namespace: w.Namespace}
	}
	return NewHosts(ctx)
}
