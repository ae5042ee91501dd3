package testbed

import (
	"context"
	"net/netip"
	"time"

	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/underlay"
	"aqmlab/results"
)

// A lab on several machines tells time by the clock of the first of them. The others' are
// compared with it before each point, so that all start their flows together, and after it,
// so that it is known how far they went apart meanwhile. A flow is timed by one clock.

// Reflect begins to answer other machines at an address of this one, and tells where.
func (s *Site) Reflect(addr netip.Addr, at *netip.AddrPort) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reflector == nil {
		r, err := underlay.Reflect(netip.AddrPortFrom(addr, 0))
		if err != nil {
			return err
		}
		s.reflector = r
	}
	*at = s.reflector.Addr()
	return nil
}

// Compare compares this machine's clock with that of one that answers at an address.
func (s *Site) Compare(with netip.AddrPort, o *underlay.Offset) (err error) {
	*o, err = underlay.Compare(s.ctx, with)
	return err
}

// reflect has the machine answer others, and tells where.
func (r *remote) reflect(ctx context.Context) (at netip.AddrPort, err error) {
	return at, r.call(ctx, "Reflect", r.Address, &at)
}

// compare compares the machine's clock with that of one that answers at an address.
func (r *remote) compare(ctx context.Context, with netip.AddrPort) (o underlay.Offset, err error) {
	return o, r.call(ctx, "Compare", with, &o)
}

// compareClocks compares the clocks of all machines but the first with that one's, and has
// all processes be told times by their own.
func (t *Testbed) compareClocks(ctx context.Context) ([]results.Clock, error) {
	if len(t.remotes) < 2 {
		return nil, nil
	}
	at, err := t.remotes[0].reflect(ctx)
	if err != nil {
		return nil, err
	}
	var all []results.Clock
	ahead := map[string]time.Duration{}
	for i, r := range t.remotes[1:] { // one after another: their probes would meet
		o, err := r.compare(ctx, at)
		if err != nil {
			return nil, err
		}
		t.ahead[i+1], ahead[r.Name] = o.Ahead, o.Ahead
		all = append(all, results.Clock{Machine: r.Name, Ahead: o.Ahead, Bound: results.Micros(o.Bound())})
	}
	for i := range t.switches {
		t.switches[i].ahead = ahead[t.switches[i].machine]
	}
	for i := range t.hosts {
		t.hosts[i].ahead = ahead[t.hosts[i].machine]
	}
	return all, nil
}

// apart is how far the clocks may have been apart during a point: how wrong each
// comparison can be, and how much the clocks drifted in between.
func apart(before, after []results.Clock) []results.Clock {
	for i := range after {
		after[i].Drift = results.Micros(after[i].Ahead - before[i].Ahead)
		after[i].Bound = max(after[i].Bound, before[i].Bound)
		after[i].Ahead = before[i].Ahead // by which it started
	}
	return after
}

// startLead is what telling processes of other machines takes more than telling those of
// this one.
func (t *Testbed) startLead(ctx context.Context) (time.Duration, error) {
	longest := time.Duration(0)
	for _, r := range t.remotes {
		begun := time.Now()
		if err := r.call(ctx, "Clock", agent.Nothing{}, new(int64)); err != nil {
			return 0, err
		}
		longest = max(longest, time.Since(begun))
	}
	const calls = 10 // one after another may have to wait for others on the way
	return calls * longest, nil
}
