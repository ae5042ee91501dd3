package cli

import (
	"cmp"

	"github.com/spf13/cobra"

	"aqmlab/switch/port"
)

func newLabExport(kinds port.Kinds) *cobra.Command {
	var f labFlags
	var image string
	c := &cobra.Command{
		Use:   "export LAB",
		Short: "Print a lab's network as a containerlab file",
		Long: `Export prints the hosts, switches and links of a lab as a topology file of
containerlab (containerlab.dev), which deploys it: hosts with their addresses,
switches as plain bridges, since containerlab knows no rates, delays and
schemes. Those stand in labels, so that the file is a topology for aqmlab, too.

Nodes run aqmlab's own image under the name aqmlab, or that of --image or of the
lab's host.image, which must not end by itself and needs iproute2's ip.`,
		Example: `  aqmlab lab export quickstart > quickstart.clab.yml
  aqmlab image build --tag aqmlab && containerlab deploy -t quickstart.clab.yml
  aqmlab lab up quickstart.clab.yml`,
		Args: args(cobra.ExactArgs(1)),

		ValidArgsFunction: completeLabs,
		RunE: func(c *cobra.Command, names []string) error {
			lab, err := f.load(names[0], kinds)
			if err != nil {
				return err
			}
			data, err := lab.Containerlab(cmp.Or(image, lab.Host.Container.Image))
			if err != nil {
				return err
			}
			_, err = c.OutOrStdout().Write(data)
			return err
		},
	}
	f.add(c)
	c.Flags().StringVar(&image, "image", "", "another image than aqmlab's own, for all nodes")
	return c
}
