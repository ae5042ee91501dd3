package cli

import (
	"fmt"
	"net/netip"

	"github.com/spf13/cobra"

	"aqmlab/orchestrator/netns"
)

// nodeCommands are what exported labs run in containerlab's nodes, where
// aqmlab's image holds no other program.
func nodeCommands() []*cobra.Command {
	return []*cobra.Command{
		{
			Use: agentIdle,
			RunE: func(c *cobra.Command, _ []string) error {
				<-c.Context().Done()
				return nil
			},
		},
		{
			Use:  agentAddress + " DEVICE PREFIX",
			Args: cobra.ExactArgs(2),
			RunE: func(_ *cobra.Command, words []string) error {
				addr, err := netip.ParsePrefix(words[1])
				if err != nil {
					return usage(fmt.Errorf("%q is not an address such as 10.77.0.1/16: %w", words[1], err))
				}
				return netns.AddAddress(words[0], addr)
			},
		},
		{
			Use:  agentBridge + " DEVICE...",
			Args: cobra.MinimumNArgs(1),
			RunE: func(_ *cobra.Command, words []string) error { return netns.Bridge(words...) },
		},
	}
}
