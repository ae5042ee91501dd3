// Package inventory reads lists of machines that a lab may lie on: how the Docker daemon
// of each is reached, and the address that its links go by. A list stands in a file of its
// own, or in a lab.
package inventory

import (
	"fmt"
	"path/filepath"
	"reflect"

	"aqmlab/bounded"
	"aqmlab/labs/schema"
)

// maxFile is more than the list of any rack has.
const maxFile = 64 << 10

// Load reads the inventory of a file. What is wrong with the file gives [schema.Errors],
// all of them at once.
func Load(path string) (Inventory, error) {
	data, err := bounded.ReadFile(path, maxFile)
	if err != nil {
		return Inventory{}, fmt.Errorf("reading an inventory: %w", err)
	}
	return read(schema.Source{File: path, Dir: filepath.Dir(path), Data: data})
}

func read(at schema.Source) (Inventory, error) {
	keys := schema.Of(reflect.TypeFor[Inventory](), schema.Rules{
		File:  schema.Content{What: "list of machines", Keys: machinesKey},
		Forms: Forms(),
	})
	r, err := keys.Open(at, nil, schema.Overrides{})
	if err != nil {
		return Inventory{}, err
	}
	var v Inventory
	r.Decode(&v)
	if len(v.Machines) == 0 && r.Sound(machinesKey) && !r.InFile(machinesKey) {
		r.Fail(machinesKey, "missing: want at least one {name: m1, docker: ssh://root@192.0.2.1, address: 192.0.2.1}")
	}
	v.Check(r)
	if err := r.Err(); err != nil {
		return Inventory{}, err
	}
	return v, nil
}
