package role

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"aqmlab/trafficgen/live"
)

// spareDescriptors are for what a replay opens beside its connections: namespaces, probes,
// programs.
const spareDescriptors = 256

// makeRoom has this process be allowed as many descriptors as the connections of a replay
// take, and more where it may: busy hosts open some for flows. Without it a server that finds
// no descriptor left stops accepting, in the middle of a replay.
func (e ends) makeRoom(r live.Config) error {
	ahead, ours := 0, 0
	for _, server := range r.Ahead(e.Transports()) {
		ahead += r.Connections
		if ours += r.Connections; server < len(e) && !e[server].Elsewhere {
			ours += r.Connections // both ends
		}
	}
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("counting open descriptors: %w", err)
	}
	need := len(open) + ours + spareDescriptors
	most, err := allowDescriptors(uint64(need + 2*len(r.Flows)))
	if err != nil {
		return err
	}
	if uint64(need) > most {
		return fmt.Errorf("%d connections that are opened ahead take %d descriptors, and this process may have %d (ulimit -n): raise its limit, or choose fewer flows, or fewer workload.connections", ahead, need, most)
	}
	return nil
}

// allowDescriptors has this process be allowed as many descriptors, or as many as it may
// be, and returns how many it is.
func allowDescriptors(want uint64) (most uint64, err error) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 0, fmt.Errorf("reading the limit of descriptors: %w", err)
	}
	if limit.Cur >= want {
		return limit.Cur, nil
	}
	raised := unix.Rlimit{Cur: want, Max: max(want, limit.Max)}
	if unix.Setrlimit(unix.RLIMIT_NOFILE, &raised) == nil {
		return raised.Cur, nil
	}
	raised = unix.Rlimit{Cur: limit.Max, Max: limit.Max} // more is for root alone
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &raised); err != nil {
		return 0, fmt.Errorf("raising the limit of descriptors to %d: %w", raised.Cur, err)
	}
	return raised.Cur, nil
}
