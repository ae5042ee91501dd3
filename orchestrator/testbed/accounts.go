package testbed

import (
	"context"

	"aqmlab/orchestrator/agent"
	"aqmlab/results"
	"aqmlab/trafficgen/live"
)

// account adds what the servers sent again for the flows of a replay that is over
// to what their clients did.
func (f fleet) account(ctx context.Context, flows []results.Flow) error {
	shares := make([][]live.Account, len(f))
	err := f.each(func(i int, c crew) error { return c.Call(ctx, "Accounts", agent.Nothing{}, &shares[i]) })
	if err != nil {
		return err
	}
	byFlow := make(map[int64]live.Account)
	for _, share := range shares {
		for _, a := range share {
			byFlow[a.Flow] = a
		}
	}
	for i := range flows {
		r := &flows[i]
		a := byFlow[r.ID] // none where no request arrived: its server sent nothing
		r.Retransmits = plus(r.Retransmits, a.Retransmits)
		r.Timeouts = plus(r.Timeouts, a.Timeouts)
	}
	return nil
}

// plus is the sum of two counts, if both were made.
func plus(a, b int64) int64 {
	if a == results.Unknown || b == results.Unknown {
		return results.Unknown
	}
	return a + b
}
