package cli

import (
	"github.com/spf13/cobra"

	"aqmlab/orchestrator/host/cc"
)

func newTransport() *cobra.Command {
	return kindCommand("transport", "Transports that a lab's hosts may use", "dctcp", cc.Transports())
}
