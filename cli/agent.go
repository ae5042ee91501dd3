package cli

import (
	"github.com/spf13/cobra"

	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/docker"
	"aqmlab/orchestrator/guests"
	"aqmlab/orchestrator/role"
	"aqmlab/switch/port"
)

// newAgent is how aqmlab starts its own helper processes.
func newAgent(kinds port.Kinds) *cobra.Command {
	c := group(agentCommand, "Be a helper process of a lab")
	c.Hidden = true
	c.AddCommand(
		&cobra.Command{
			Use: guests.Role,
			RunE: func(c *cobra.Command, _ []string) error {
				return guests.Serve(c.Context(), kinds)
			},
		},
		&cobra.Command{
			Use:  docker.JoinRole + " SOCKET ARGS...",
			Args: cobra.MinimumNArgs(2),
			RunE: func(c *cobra.Command, words []string) error {
				status, err := agent.Join(c.Context(), words[0], words[1:])
				if err == nil && status != 0 {
					err = exitStatus(status)
				}
				return err
			},
		},
	)
	for _, name := range role.Roles() {
		c.AddCommand(&cobra.Command{
			Use:  name,
			RunE: func(c *cobra.Command, _ []string) error { return role.Serve(c.Context(), name, kinds) },
		})
	}
	c.AddCommand(nodeCommands()...)
	return c
}
