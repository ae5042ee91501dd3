package trafficgen

import "aqmlab/trafficgen/traffic"

// none is no flows at all, for labs whose traffic is that of programs.
type none struct{}

var _ Arrival = none{}

func newNone(none, Env) (Arrival, error) { return none{}, nil }

func (none) ByLoad() bool { return false }

func (none) check(*workload) error { return nil }

func (none) flows(*workload) []traffic.Flow { return nil }
