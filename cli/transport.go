package cli

import (
	"github.com/spf13/cobra"

	"aqmlab/trafficgen/transport"
)

func newTransport() *cobra.Command {
	return kindCommand("transport", "Transports that a lab's hosts may use", "dctcp", transport.Table().Entries())
}
