//go:build !linux

package clab

import (
	"errors"
	"fmt"
)

// errElsewhere: containerlab's own types, by which files are read and written, are made
// for Linux alone.
var errElsewhere = errors.New("containerlab files are read and written on Linux only")

// Parse would read a file of that name.
func Parse(name string, _ []byte) (*Topology, error) {
	return nil, fmt.Errorf("%s: %w", name, errElsewhere)
}

// YAML would write the topology.
func (t *Topology) YAML(Container) ([]byte, error) {
	return nil, fmt.Errorf("writing topology %s: %w", t.Name, errElsewhere)
}
