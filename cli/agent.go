//go:build linux

package cli

import (
	"fmt"
	"net/netip"

	"github.com/spf13/cobra"

	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/docker"
	"aqmlab/orchestrator/doctor"
	"aqmlab/orchestrator/guests"
	"aqmlab/orchestrator/machines/check"
	"aqmlab/orchestrator/netns"
	"aqmlab/orchestrator/program"
	"aqmlab/orchestrator/role"
	"aqmlab/orchestrator/rootless"
	"aqmlab/orchestrator/testbed"
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
			Use:                rootless.Role + " [ARGS...]",
			Args:               cobra.ArbitraryArgs,
			DisableFlagParsing: true, // they are those of the command that it becomes
			RunE:               func(_ *cobra.Command, words []string) error { return rootless.Begin(words) },
		},
		&cobra.Command{
			Use:                rootless.JoinRole + " FOLDER ARGS...",
			Args:               cobra.MinimumNArgs(2),
			DisableFlagParsing: true,
			RunE:               func(_ *cobra.Command, words []string) error { return rootless.Join(words[0], words[1:]) },
		},
		&cobra.Command{
			Use:  testbed.SiteRole,
			RunE: func(c *cobra.Command, _ []string) error { return testbed.ServeSite(c.Context(), kinds) },
		},
		&cobra.Command{
			Use:  check.Role,
			RunE: func(c *cobra.Command, _ []string) error { return check.Serve(c.Context()) },
		},
		&cobra.Command{
			Use:  doctor.Role,
			RunE: func(c *cobra.Command, _ []string) error { return printJSON(c.OutOrStdout(), doctor.HostParts()) },
		},
		&cobra.Command{
			Use:  program.Role,
			RunE: func(*cobra.Command, []string) error { return program.Become() },
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
