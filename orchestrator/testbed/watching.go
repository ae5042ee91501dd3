package testbed

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"

	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/host/cc"
	"aqmlab/orchestrator/role"
	"aqmlab/results"
)

// startWatching has the senders of a replay with that time zero sampled, if the
// lab asks for it.
func (t *Testbed) startWatching(ctx context.Context, zero int64) (fleet, error) {
	every := t.lab.Collect.Senders
	if every == 0 {
		return nil, nil
	}
	w := role.Watching{Every: every, Dilation: t.dilation, Zero: zero, States: t.statesShared}
	return t.hosts, t.hosts.each(func(_ int, c crew) error { return c.Call(ctx, "Watch", w, &agent.Nothing{}) })
}

// endWatching ends the look of crews that have begun one, and returns what they
// saw in the order of time.
func (f fleet) endWatching(ctx context.Context) ([]results.SenderSample, error) {
	shares := make([][]results.SenderSample, len(f))
	err := f.each(func(i int, c crew) error { return c.Call(ctx, "Watched", agent.Nothing{}, &shares[i]) })
	all := slices.Concat(shares...)
	slices.SortStableFunc(all, func(a, b results.SenderSample) int { return cmp.Compare(a.At, b.At) })
	return all, err
}

// shareStates is the file by which a hosts' process reads the states of DCTCP from
// eBPF, or nil where the kernel tells them by itself. The caller closes it.
func (t *Testbed) shareStates() (*os.File, error) {
	file, err := t.cc.StateFile()
	if errors.Is(err, cc.ErrStays) {
		return nil, nil
	}
	return file, err
}
