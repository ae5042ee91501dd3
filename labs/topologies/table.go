// Package topologies is the networks that labs have: kinds with parameters,
// containerlab files, and those of these files that ship with aqmlab.
package topologies

import "aqmlab/kind"

// Table lists every topology.
func Table() kind.Table[Env, Layout] {
	return kind.Table[Env, Layout]{
		kind.Row(Star, "hosts around one switch", struct{}{}, newStar),
		kind.Row("leaf-spine", "leaf switches with hosts, each linked to every spine switch", leafSpine{Leaves: 2, Spines: 2, HostsPerLeaf: 4}, newLeafSpine),
		kind.Row("tree", "racks of hosts, whose switches are linked to one core switch", tree{Racks: 2, HostsPerRack: 4}, newTree),
		kind.Row("fat-tree", "three layers of switches with k ports (Al-Fares et al., SIGCOMM 2008)", fatTree{K: 4}, newFatTree),
		kind.Row(OnFile, "the network of a containerlab file", containerlab{}, newContainerlab),
	}
}
