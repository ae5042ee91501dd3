package cli

import (
	"github.com/spf13/cobra"

	"aqmlab/trafficgen"
)

func newWorkload() *cobra.Command {
	return kindCommand("workload", "Flow-size distributions that a lab may draw from", "websearch", entries(trafficgen.Sizes()))
}
