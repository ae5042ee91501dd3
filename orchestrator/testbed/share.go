package testbed

import (
	"aqmlab/orchestrator/netns"
	"aqmlab/results"
)

// Share is what one machine brings up of a lab that lies on several.
type Share struct {
	Lab    []byte       // as YAML
	Owner  string       // who brings it up: the name of his machine, and the id of the lab's state there
	Spread netns.Spread // which nodes are on which machine
	CPUs   []int        // of this machine, that the lab may use; none: all
	Stays  bool         // it is left up when the owner ends
}

// info is what the machine's state folder says of a share; of nil, of a whole lab.
func (s *Share) info(lab string) Info {
	if s == nil {
		return Info{Lab: lab}
	}
	return Info{Lab: lab, Owner: s.Owner, Machine: s.Spread.Here}
}

// owner is who has a share; of nil, nobody elsewhere.
func (s *Share) owner() string {
	if s == nil {
		return ""
	}
	return s.Owner
}

// Part is what a machine has brought up of a lab.
type Part struct {
	ID       string // of the lab's state on the machine
	Network  *netns.Lab
	Speaks   []Congestion // by the transport of flows
	Machine  results.Machine
	Switches []int // by their numbers
	Hosts    []int // so, too
}
