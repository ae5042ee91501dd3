// Package clab reads and writes the topology files of containerlab
// (containerlab.dev). Files are parsed with containerlab's own types, as
// strictly as its binary does it. What a file says of our own stands in labels,
// which the binary takes and does nothing with: the role of a node, and the
// rate, delay, jitter and loss of a link.
package clab

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"aqmlab/units"
)

// Topology is the network of a file.
type Topology struct {
	Name  string // of the lab; may be anything, and empty
	Nodes []Node // in the order of the file
	Links []Link // in the order of the file
}

// Node is a host or a switch.
type Node struct {
	Name   string // 1 to 15 letters, digits and hyphens
	Switch bool   // else it is a host, which has one link
	// Addr is that of a host where a lab says it: files have none.
	Addr netip.Addr
	// Exec is what containerlab runs in the node's container. It is only written.
	Exec []string
}

// Link is a full-duplex link between two nodes, at most one of which is a host.
type Link struct {
	A, B End
	Traits
}

// End is where a link begins.
type End struct {
	Node      int    // place in the topology's nodes
	Interface string // in its container
}

// Traits are what a link says of itself, in both directions.
type Traits struct {
	Rate   units.Rate     // zero: not said
	Delay  *time.Duration // one way; nil: not said
	Jitter time.Duration  // zero: none
	Loss   float64        // probability that a packet is lost, below 1; zero: none
}

// DelayOr is the delay that a link says is its own, or else that one.
func (t Traits) DelayOr(unsaid time.Duration) time.Duration {
	if t.Delay != nil {
		return *t.Delay
	}
	return unsaid
}

// Error is one thing that is wrong with a file.
type Error struct {
	Line  int    // 0 where there is none
	Field string // such as topology.links[2].type; empty when the file as a whole is to blame
	Err   error
}

func (e *Error) Error() string {
	var b strings.Builder
	if e.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", e.Line)
	}
	if e.Field != "" {
		b.WriteString(e.Field + ": ")
	}
	return b.String() + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Errors is everything that is wrong with a file, by line.
type Errors []*Error

// Error prints one line an error.
func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.Is and errors.As look at each.
func (es Errors) Unwrap() []error {
	all := make([]error, len(es))
	for i, e := range es {
		all[i] = e
	}
	return all
}

// orNil is the errors by line, or nil when there are none.
func (es Errors) orNil() error {
	if len(es) == 0 {
		return nil
	}
	slices.SortStableFunc(es, func(a, b *Error) int { return cmp.Compare(a.Line, b.Line) })
	return es
}

// linux is the kind of containerlab's plain containers.
const linux = "linux"

// Labels of ours begin with mine.
const (
	mine        = "aqmlab."
	roleLabel   = mine + "role"
	rateLabel   = mine + "rate"
	delayLabel  = mine + "delay"
	jitterLabel = mine + "jitter"
	lossLabel   = mine + "loss"
)

// The roles of nodes.
const (
	roleSwitch = "switch"
	roleHost   = "host"
)
