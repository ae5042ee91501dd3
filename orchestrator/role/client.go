package role

import (
	"context"

	"aqmlab/collectors"
	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/program"
	"aqmlab/results"
	"aqmlab/switch/port"
	"aqmlab/switch/wire"
	"aqmlab/trafficgen/live"
)

// Caller is a helper process, as [agent.Process] and [agent.Client] are.
type Caller interface {
	Call(ctx context.Context, method string, args, reply any) error
}

// ask calls a method and returns its reply.
func ask[R any](ctx context.Context, c Caller, method string, args any) (reply R, err error) {
	err = c.Call(ctx, method, args, &reply)
	return reply, err
}

// tell calls a method that has no reply.
func tell(ctx context.Context, c Caller, method string, args any) error {
	return c.Call(ctx, method, args, &agent.Nothing{})
}

// SwitchClient calls a process that is a [Switch]. Its methods do what the service's
// of the same names do.
type SwitchClient struct{ Process Caller }

// Open attaches the switch to its interfaces.
func (c SwitchClient) Open(ctx context.Context, ports wire.Config) error {
	return tell(ctx, c.Process, "Open", ports)
}

// ReceiveNear lets it choose where its hosts receive.
func (c SwitchClient) ReceiveNear(ctx context.Context, n Near) error {
	return tell(ctx, c.Process, "ReceiveNear", n)
}

// Start runs a fabric until Finish.
func (c SwitchClient) Start(ctx context.Context, f Fabric) error {
	return tell(ctx, c.Process, "Start", f)
}

// Begin begins the timeline of the fabric.
func (c SwitchClient) Begin(ctx context.Context, zero int64) error {
	return tell(ctx, c.Process, "Begin", zero)
}

// Recent returns the samples of the queues from the given one on.
func (c SwitchClient) Recent(ctx context.Context, from int) ([]results.QueueSample, error) {
	return ask[[]results.QueueSample](ctx, c.Process, "Recent", from)
}

// Finish ends the fabric.
func (c SwitchClient) Finish(ctx context.Context) (Measured, error) {
	return ask[Measured](ctx, c.Process, "Finish", agent.Nothing{})
}

// Look looks at the fabric.
func (c SwitchClient) Look(ctx context.Context) (collectors.Look, error) {
	return ask[collectors.Look](ctx, c.Process, "Look", agent.Nothing{})
}

// Change has all ports go on as spec says.
func (c SwitchClient) Change(ctx context.Context, spec port.Spec) error {
	return tell(ctx, c.Process, "Change", spec)
}

// Follow has the fabric follow another timeline.
func (c SwitchClient) Follow(ctx context.Context, course Course) error {
	return tell(ctx, c.Process, "Follow", course)
}

// FollowRates has hosts send at rates, which a process of either service does.
func FollowRates(ctx context.Context, process Caller, r Rates) error {
	return tell(ctx, process, "FollowRates", r)
}

// HostsClient calls a process that is [Hosts], in the same way.
type HostsClient struct{ Process Caller }

// Serve starts a server on every host that the process carries.
func (c HostsClient) Serve(ctx context.Context, ends []End) error {
	return tell(ctx, c.Process, "Serve", ends)
}

// BaseRTT measures round-trip times between pairs of a sender and a receiver.
func (c HostsClient) BaseRTT(ctx context.Context, pairs [][2]int) ([]RTT, error) {
	return ask[[]RTT](ctx, c.Process, "BaseRTT", pairs)
}

// Open opens the connections of a replay.
func (c HostsClient) Open(ctx context.Context, r live.Config) error {
	return tell(ctx, c.Process, "Open", r)
}

// Start replays the trace that is open, from a time of CLOCK_MONOTONIC on.
func (c HostsClient) Start(ctx context.Context, zero int64) error {
	return tell(ctx, c.Process, "Start", zero)
}

// Progress says how far the replay is.
func (c HostsClient) Progress(ctx context.Context) (State, error) {
	return ask[State](ctx, c.Process, "Progress", agent.Nothing{})
}

// Finish waits for the end of the replay.
func (c HostsClient) Finish(ctx context.Context) (Replayed, error) {
	return ask[Replayed](ctx, c.Process, "Finish", agent.Nothing{})
}

// Accounts returns what the servers sent again for the flows of a replay.
func (c HostsClient) Accounts(ctx context.Context) ([]live.Account, error) {
	return ask[[]live.Account](ctx, c.Process, "Accounts", agent.Nothing{})
}

// Probe sends probes from now on.
func (c HostsClient) Probe(ctx context.Context, p Probing) error {
	return tell(ctx, c.Process, "Probe", p)
}

// Probed ends the probes.
func (c HostsClient) Probed(ctx context.Context) ([]results.ProbeSample, error) {
	return ask[[]results.ProbeSample](ctx, c.Process, "Probed", agent.Nothing{})
}

// Watch samples the senders from now on.
func (c HostsClient) Watch(ctx context.Context, w Watching) error {
	return tell(ctx, c.Process, "Watch", w)
}

// Watched ends the sampling.
func (c HostsClient) Watched(ctx context.Context) ([]results.SenderSample, error) {
	return ask[[]results.SenderSample](ctx, c.Process, "Watched", agent.Nothing{})
}

// Launch readies programs, and starts those that listen.
func (c HostsClient) Launch(ctx context.Context, p program.Config) error {
	return tell(ctx, c.Process, "Launch", p)
}

// BeginPrograms starts the programs at their times.
func (c HostsClient) BeginPrograms(ctx context.Context, zero int64) error {
	return tell(ctx, c.Process, "BeginPrograms", zero)
}

// ProgramsLeft counts the programs that have not ended and do not serve.
func (c HostsClient) ProgramsLeft(ctx context.Context) (int, error) {
	return ask[int](ctx, c.Process, "ProgramsLeft", agent.Nothing{})
}

// EndPrograms stops programs that serve, and says how all ended.
func (c HostsClient) EndPrograms(ctx context.Context) ([]program.Ended, error) {
	return ask[[]program.Ended](ctx, c.Process, "EndPrograms", agent.Nothing{})
}
