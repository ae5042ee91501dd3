// Package clab reads and writes the topology files of containerlab
// (containerlab.dev). Files are parsed with containerlab's own types, as
// strictly as its binary does it. What a file says of our own stands in labels,
// which the binary takes and does nothing with: the role of a node, and the
// rate, delay, jitter and loss of a link.
package clab

import (
	"net/netip"
	"time"

	"aqmlab/units"
)

// MaxFile is more bytes than any file has.
const MaxFile = 64 << 20

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

// Traits are what a link says of itself, in both directions. The tags are the
// labels that say it, less what all of ours begin with.
type Traits struct {
	Rate   units.Rate     `lab:"rate" range:"1Kbps..100000Gbps"` // zero: not said
	Delay  *time.Duration `lab:"delay" range:"0s..1s"`           // one way; nil: not said
	Jitter time.Duration  `lab:"jitter" range:"0s..1s"`          // zero: none
	Loss   Share          `lab:"loss"`                           // probability that a packet is lost; zero: none
}

// DelayOr is the delay that a link says is its own, or else that one.
func (t Traits) DelayOr(unsaid time.Duration) time.Duration {
	if t.Delay != nil {
		return *t.Delay
	}
	return unsaid
}

// Container is what the nodes of a written file run.
type Container struct {
	Image   string
	Command string // empty: that of the image
}

// linux is the kind of containerlab's plain containers.
const linux = "linux"

// Labels of ours begin with mine.
const (
	mine      = "aqmlab."
	roleLabel = mine + "role"
)

// The roles of nodes.
const (
	roleSwitch = "switch"
	roleHost   = "host"
)

// Tree is links that join all nodes without a circle: of those that the file has
// the first.
func (t *Topology) Tree() []Link {
	root := make([]int, len(t.Nodes)) // of the tree that a node is in
	for i := range root {
		root[i] = i
	}
	var tree []Link
	for _, l := range t.Links {
		a, b := root[l.A.Node], root[l.B.Node]
		if a == b {
			continue
		}
		tree = append(tree, l)
		for i := range root {
			if root[i] == b {
				root[i] = a
			}
		}
	}
	return tree
}
