// Package check says whether machines can share a lab: what each has for it, and what the
// network between them is like. A container on each, in the network and among the processes
// of the machine itself, looks and measures; it is gone afterwards.
package check

import (
	"time"

	"aqmlab/orchestrator/doctor"
	"aqmlab/results"
)

// Report is what was found.
type Report struct {
	Machines []Machine `json:"machines"`
	Pairs    []Pair    `json:"pairs"`
	Ready    bool      `json:"ready"` // nothing that a lab needs is missing
}

// Machine is what one machine has.
type Machine struct {
	Name      string            `json:"name"`
	Endpoint  string            `json:"docker"`
	Address   string            `json:"address"`
	Docker    string            `json:"docker_version,omitempty"`
	Diagnosis *doctor.Diagnosis `json:"diagnosis,omitempty"` // nil: see Problem
	Problem   string            `json:"problem,omitempty"`   // why it could not be looked at, and what to do
}

// Ready tells whether it has all that a lab needs.
func (m Machine) Ready() bool { return m.Problem == "" && m.Diagnosis != nil && m.Diagnosis.Ready }

// lacks adds an error, if it is one, to what is wrong with it.
func (m *Machine) lacks(err error) {
	switch {
	case err == nil:
	case m.Problem == "":
		m.Problem = err.Error()
	default:
		m.Problem += "\n" + err.Error()
	}
}

// Pair is what the network between two machines is like. What could not be measured is
// zero.
type Pair struct {
	From    string         `json:"from"`
	To      string         `json:"to"`
	RTT     results.Micros `json:"rtt_us"`         // the least that was seen
	Ahead   time.Duration  `json:"clock_ahead_ns"` // of From's CLOCK_MONOTONIC before To's
	Bound   results.Micros `json:"clock_bound_us"` // how wrong that is at most
	MTU     int            `json:"mtu"`            // bytes of the largest packet that passes both ways
	HostMTU int            `json:"host_mtu"`       // the largest host.mtu of a lab that fits
	Forth   float64        `json:"forth_bps"`      // of one TCP connection from From to To
	Back    float64        `json:"back_bps"`       // and from To to From
	Notes   []string       `json:"notes,omitempty"`
	Problem string         `json:"problem,omitempty"` // what a lab would fail of, and what to do
}

// judge says whether a lab can use all that was looked at.
func (r *Report) judge() {
	r.Ready = true
	for _, m := range r.Machines {
		r.Ready = r.Ready && m.Ready()
	}
	for _, p := range r.Pairs {
		r.Ready = r.Ready && p.Problem == ""
	}
}
