package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"aqmlab/labs"
	"aqmlab/labs/clab"
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
		Args: cobra.ExactArgs(1),

		ValidArgsFunction: completeLabs,
		RunE: func(c *cobra.Command, names []string) error {
			lab, err := f.load(names[0], kinds)
			if err != nil {
				return err
			}
			data, err := containerlab(lab, cmp.Or(image, lab.Host.Container.Image))
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

// containerlab writes the network of a lab as a file that containerlab deploys,
// and that is a topology for labs. Without an image it is aqmlab's own, under the
// name aqmlab.
func containerlab(lab *labs.Lab, image string) ([]byte, error) {
	t, err := lab.Network()
	if err != nil {
		return nil, err
	}
	c := clab.Container{Image: image}
	if image == "" {
		c = clab.Container{Image: ownName, Command: agentCommand + " " + agentIdle}
	}
	setUpNodes(t, image == "")
	return t.YAML(c)
}

// ownName is what aqmlab's own image is called in exported files, and the only
// program in it.
const ownName = "aqmlab"

// What aqmlab does as a node of containerlab, as its command line has it.
const (
	agentCommand = "agent"
	agentIdle    = "idle"    // wait until stopped
	agentAddress = "address" // DEVICE PREFIX
	agentBridge  = "bridge"  // DEVICE...
)

// setUpNodes tells containerlab's nodes what to run: hosts take their addresses, and
// switches bridge those of their links that make a tree.
func setUpNodes(t *clab.Topology, own bool) {
	ports := make([][]string, len(t.Nodes))
	for _, link := range t.Tree() {
		for _, end := range []clab.End{link.A, link.B} {
			ports[end.Node] = append(ports[end.Node], end.Interface)
		}
	}
	for i := range t.Nodes {
		switch n := &t.Nodes[i]; {
		case n.Switch && own:
			n.Exec = []string{strings.Join(append([]string{ownName, agentCommand, agentBridge}, ports[i]...), " ")}
		case n.Switch:
			n.Exec = []string{"ip link add br0 type bridge", "ip link set br0 up"}
			for _, port := range ports[i] {
				n.Exec = append(n.Exec, "ip link set "+port+" master br0")
			}
		case own:
			n.Exec = []string{fmt.Sprintf("%s %s %s %s %v/16", ownName, agentCommand, agentAddress, ports[i][0], n.Addr)}
		default:
			n.Exec = []string{fmt.Sprintf("ip address add %v/16 dev %s", n.Addr, ports[i][0])}
		}
	}
}
