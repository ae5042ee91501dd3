package cli

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"aqmlab/kind"
	"aqmlab/switch/port"
	"aqmlab/trafficgen/transport"
)

func newScheme(kinds port.Kinds) *cobra.Command {
	return kindCommand("scheme", "AQM schemes that a lab may compare", "tcn", slices.Concat(kinds.Schemes().Entries(), port.Gates().Entries()))
}

func newScheduler(kinds port.Kinds) *cobra.Command {
	return kindCommand("scheduler", "Disciplines that share a port among its queues", "dwrr", kinds.Schedulers().Entries())
}

func newTransport() *cobra.Command {
	return kindCommand("transport", "Transports that a lab's hosts may use", "dctcp", transport.Table().Entries())
}

// kindCommand makes the list and show commands of a table's entries.
func kindCommand(use, short, example string, known []kind.Entry) *cobra.Command {
	return group(use, short, listCommand(use, known), showCommand(use, example, known))
}

// find returns the entry of that name; the usage error for an unknown one lists them.
func find(known []kind.Entry, name string) (kind.Entry, error) {
	names := make([]string, len(known))
	for i, e := range known {
		if e.Name == name {
			return e, nil
		}
		names[i] = e.Name
	}
	return kind.Entry{}, usage(kind.Unknown("kind", name, names))
}

func listCommand(use string, entries []kind.Entry) *cobra.Command {
	return shown(&cobra.Command{
		Use:     "list",
		Short:   "List every " + use,
		Example: "  aqmlab " + use + " list",
	}, func(*cobra.Command, []string) ([]kind.Entry, error) { return entries, nil }, printEntries)
}

func showCommand(use, example string, known []kind.Entry) *cobra.Command {
	return shown(&cobra.Command{
		Use:               "show NAME",
		Short:             "Show the parameters of one " + use,
		Example:           "  aqmlab " + use + " show " + example,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeEntries(known),
	}, func(_ *cobra.Command, names []string) (kind.Entry, error) { return find(known, names[0]) }, printEntry)
}

func printEntries(w io.Writer, entries []kind.Entry) error {
	return columns(w, func(w io.Writer) {
		for _, e := range entries {
			fmt.Fprintf(w, "%s\t%s\n", e.Name, e.Doc)
		}
	})
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
	return columns(w, func(w io.Writer) {
		fmt.Fprintln(w, "\nPARAMETER\tTYPE\tDEFAULT\tMEANING")
		for _, p := range e.Params {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", p.Name, p.Type, p.Default, p.Doc)
		}
	})
}
