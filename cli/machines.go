package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"aqmlab/labs"
	"aqmlab/labs/inventory"
)

// addMachines adds the flag for the machines that a lab lies on.
func addMachines(c *cobra.Command, path *string) {
	c.Flags().StringVar(path, "machines", "", "file that lists the machines that the lab lies on, instead of the lab's own list")
}

// useMachines has a lab lie on the machines of a file, if one is given.
func useMachines(lab *labs.Lab, path string) error {
	if path == "" {
		return nil
	}
	v, err := inventory.Load(path)
	if err != nil {
		return usage(err)
	}
	lab.Rack = v
	return nil
}

func listsNoMachines(lab *labs.Lab) error {
	return fmt.Errorf("lab %s lists no machines: name a file with them (--machines rack.yaml), or list them in the lab (machines)", lab.Name)
}
