package foreign

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"aqmlab/results"
)

// Match returns the flows of a trace as another simulator saw them, and how far their
// completion times may be off, as that simulator rounds what it writes. Those that it did
// not complete are not complete here, either. The error says which flow is not of the
// trace: another number of flows, another start, other ends.
func Match(trace []results.Flow, seen []Seen) (flows []results.Flow, exact time.Duration, err error) {
	flows = slices.Clone(trace)
	slices.SortStableFunc(flows, func(a, b results.Flow) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.ID, b.ID)) })
	for i := range flows {
		if flows[i].Stops {
			return nil, 0, fmt.Errorf("flow %d of the trace stops at a time, whatever it has sent by then: only flows of fixed sizes can be matched", flows[i].ID)
		}
		flows[i].Sent, flows[i].FCT, flows[i].Received, flows[i].Error = flows[i].Start, 0, 0, "it did not end in that simulation"
		flows[i].Retransmits, flows[i].Timeouts = results.Unknown, results.Unknown
	}
	place, err := places(flows, seen)
	if err != nil {
		return nil, 0, err
	}
	late := offset(flows, seen, place)
	hosts := make(map[string]int32)
	for i, s := range seen {
		f := &flows[place[i]]
		if err := same(f, s, late, hosts); err != nil {
			return nil, 0, err
		}
		exact = max(exact, s.Exact)
		if f.Received = min(max(s.Bytes, 0), f.Bytes); f.Received < f.Bytes {
			continue
		}
		f.Error, f.FCT = "", s.End-late-f.Start
		if f.FCT <= 0 {
			return nil, 0, fmt.Errorf("flow %d ends at %v, and starts at %v in the trace", f.ID, s.End-late, f.Start)
		}
	}
	slices.SortFunc(flows, func(a, b results.Flow) int { return cmp.Compare(a.ID, b.ID) })
	return flows, exact, nil
}

// places says which flow of the trace each is: by its number, or by its place in the order of
// starts.
func places(flows []results.Flow, seen []Seen) ([]int, error) {
	byID := make(map[int64]int)
	for i, f := range flows {
		byID[f.ID] = i
	}
	place, taken := make([]int, len(seen)), make(map[int]bool)
	for i, s := range seen {
		at, ok := i, true
		if s.ID != Unnumbered {
			at, ok = byID[s.ID]
		} else if len(seen) != len(flows) {
			return nil, fmt.Errorf("it has %d flows with data, and the trace has %d", len(seen), len(flows))
		}
		if !ok {
			return nil, fmt.Errorf("the trace has no flow %d: it has those from 0 to %d", s.ID, len(flows)-1)
		}
		if taken[at] {
			return nil, fmt.Errorf("flow %d ends twice", s.ID)
		}
		place[i], taken[at] = at, true
	}
	return place, nil
}

// offset is how much later than the trace the other simulator begins: what its first flow
// shows, unless that is within what was rounded.
func offset(flows []results.Flow, seen []Seen, place []int) time.Duration {
	if len(seen) == 0 || seen[0].Start < 0 {
		return 0
	}
	late := seen[0].Start - flows[place[0]].Start
	if max(late, -late) <= seen[0].Exact+time.Microsecond {
		return 0
	}
	return late
}

var errOther = errors.New("it did not replay this trace")

// same refuses a flow that has another start or other ends than that of the trace. Hosts
// collects who is which host.
func same(f *results.Flow, s Seen, late time.Duration, hosts map[string]int32) error {
	if s.Start < 0 && s.Bytes < f.Bytes { // it says that it ended
		return fmt.Errorf("%w: flow %d ended with %d bytes, and has %d in the trace", errOther, f.ID, s.Bytes, f.Bytes)
	}
	if s.Start >= 0 {
		off := s.Start - late - f.Start
		if max(off, -off) > 2*s.Exact+time.Microsecond {
			return fmt.Errorf("%w: flow %d starts at %v, and at %v in the trace", errOther, f.ID, s.Start-late, f.Start)
		}
	}
	for name, host := range map[string]int32{s.From: f.Server, s.To: f.Client} {
		if name == "" {
			continue
		}
		if before, ok := hosts[name]; ok && before != host {
			return fmt.Errorf("%w: %s is host %d for flow %d, and host %d for earlier ones", errOther, name, host, f.ID, before)
		}
		hosts[name] = host
	}
	return nil
}
