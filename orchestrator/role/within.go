package role

import (
	"context"
	"runtime"

	"aqmlab/orchestrator/agent"
	"aqmlab/switch/port"
)

// Within has helpers run inside of this process rather than as processes of their own. In
// a guest kernel that saves the changes from one process to another.
type Within struct {
	Kinds     port.Kinds // that a switch is built of
	Namespace string     // where a switch finds its interfaces; empty: that of the process
}

var _ agent.Place = Within{}

// Launch starts a helper.
func (w Within) Launch(_ context.Context, c agent.Command) (agent.Body, error) {
	runtime.GOMAXPROCS(max(helperProcs, runtime.NumCPU()))
	role := c.Args[1] // after "agent"
	return agent.Within(c, func(ctx context.Context) agent.Service { return newService(ctx, role, w) })
}
