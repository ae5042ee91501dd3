package cli

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"aqmlab/kind"
	"aqmlab/switch/port"
)

func newScheme(kinds port.Kinds) *cobra.Command {
	return kindCommand("scheme", "AQM schemes that a lab may compare", "tcn", slices.Concat(kinds.Schemes().Entries(), port.Gates().Entries()))
}

func newScheduler(kinds port.Kinds) *cobra.Command {
	return kindCommand("scheduler", "Disciplines that share a port among its queues", "dwrr", kinds.Schedulers().Entries())
}

// kindCommand makes the list and show commands of a table's entries.
func kindCommand(use, short, example string, known []kind.Entry) *cobra.Command {
	show := showCommand(use, example, func(name string) (kind.Entry, error) { return find(known, name) })
	show.ValidArgsFunction = completeEntries(known)
	return group(use, short, listCommand(use, known), show)
}

// find returns the entry of that name; the error for an unknown one lists them.
func find(known []kind.Entry, name string) (kind.Entry, error) {
	names := make([]string, len(known))
	for i, e := range known {
		if e.Name == name {
			return e, nil
		}
		names[i] = e.Name
	}
	return kind.Entry{}, kind.Unknown("kind", name, names)
}

func listCommand(use string, entries []kind.Entry) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "list",
		Short:   "List every " + use,
		Example: "  aqmlab " + use + " list",
		Args:    args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if asJSON {
				return printJSON(c.OutOrStdout(), entries)
			}
			return printEntries(c.OutOrStdout(), entries)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func showCommand(use, example string, find func(string) (kind.Entry, error)) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "show NAME",
		Short:   "Show the parameters of one " + use,
		Example: "  aqmlab " + use + " show " + example,
		Args:    args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, names []string) error {
			e, err := find(names[0])
			if err != nil {
				return usage(err)
			}
			if asJSON {
				return printJSON(c.OutOrStdout(), e)
			}
			return printEntry(c.OutOrStdout(), e)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func printEntries(w io.Writer, entries []kind.Entry) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, e := range entries {
		fmt.Fprintf(tw, "%s\t%s\n", e.Name, e.Doc)
	}
	return tw.Flush()
}

func printEntry(w io.Writer, e kind.Entry) error {
	fmt.Fprintf(w, "%s: %s\n", e.Name, e.Doc)
	if e.Note != "" {
		fmt.Fprintln(w, e.Note)
	}
	if len(e.Params) == 0 {
		fmt.Fprintln(w, "It takes no parameters.")
		return nil
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "\nPARAMETER\tTYPE\tDEFAULT\tMEANING")
	for _, p := range e.Params {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", p.Name, p.Type, p.Default, p.Doc)
	}
	return tw.Flush()
}
