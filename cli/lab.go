package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"aqmlab/labs"
	"aqmlab/results"
	"aqmlab/switch/port"
)

func newLab(kinds port.Kinds) *cobra.Command {
	c := group("lab", "List, check, bring up, watch, change and take down labs",
		newLabList(), newLabShow(kinds), newLabSchema(kinds), newLabCheck(kinds), newLabExport(kinds))
	c.AddCommand(ofKept(kinds)...)
	return c
}

func newLabList() *cobra.Command {
	return shown(&cobra.Command{
		Use:     "list",
		Short:   "List the lab book",
		Example: "  aqmlab lab list",
	}, func(*cobra.Command, []string) ([]labs.Entry, error) { return labs.Book() }, func(w io.Writer, book []labs.Entry) error {
		return columns(w, func(w io.Writer) {
			for _, e := range book {
				fmt.Fprintf(w, "%s\t%s\n", e.Name, e.Title)
			}
		})
	})
}

func newLabShow(kinds port.Kinds) *cobra.Command {
	var f labFlags
	var schema, machines string
	var placement bool
	c := &cobra.Command{
		Use:   "show LAB",
		Short: "Print a lab as it would run, with every default and override filled in",
		Long: `Show prints a lab as it would run, with every default and override filled in. The
first line tells editors where the JSON Schema of labs is, which aqmlab lab schema
prints. Comments at the end say what schemes compute from the base RTTs, and what
follows from it.

With --placement it prints instead which hosts and switches are on which of the lab's
machines, and how many links leave each. It asks no machine: how many cores they have
is what the key cpus of each says, and unless all say it, all count alike.`,
		Example: `  aqmlab lab show quickstart
  aqmlab lab show quickstart --set workload.flows=100 > mylab.yaml
  aqmlab lab show quickstart --placement --machines rack.yaml`,
		Args: cobra.ExactArgs(1),

		ValidArgsFunction: completeLabs,
		RunE: func(c *cobra.Command, names []string) error {
			lab, err := f.load(names[0], kinds)
			if err != nil {
				return err
			}
			if err := useMachines(lab, machines); err != nil {
				return err
			}
			if placement {
				return showPlacement(c.OutOrStdout(), lab)
			}
			yaml, err := lab.YAML()
			if err != nil {
				return err
			}
			derived, err := lab.Derived()
			if err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "# yaml-language-server: $schema=%s\n%s", schema, yaml)
			for _, line := range results.DerivedLines(derived) {
				fmt.Fprintln(c.OutOrStdout(), "# derived:", line)
			}
			return nil
		},
	}
	f.add(c)
	addMachines(c, &machines)
	c.Flags().BoolVar(&placement, "placement", false, "print what is on which machine, instead of the lab")
	c.Flags().StringVar(&schema, "schema", "aqmlab.schema.json", "where editors find the JSON Schema, from the folder of the lab's file")
	return c
}

func newLabSchema(kinds port.Kinds) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of lab files, for editors",
		Long: `Schema prints the JSON Schema of lab files (draft 2020-12), with every scheme and
scheduler of this program. Editors that know yaml-language-server take it for
completion and checks in files whose first line names it.`,
		Example: `  aqmlab lab schema > aqmlab.schema.json
  aqmlab lab show quickstart > mylab.yaml`,
		RunE: func(c *cobra.Command, _ []string) error {
			data, err := labs.JSONSchema(kinds)
			if err != nil {
				return err
			}
			_, err = c.OutOrStdout().Write(data)
			return err
		},
	}
}

func newLabCheck(kinds port.Kinds) *cobra.Command {
	return &cobra.Command{
		Use:     "check FILE",
		Short:   "Check a lab file",
		Example: "  aqmlab lab check mylab.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, names []string) error {
			lab, err := labs.Load(names[0], labs.Options{Kinds: kinds})
			if err != nil {
				return usage(err)
			}
			fmt.Fprintf(c.OutOrStdout(), "%s: lab %s is fine: %s, %s a point\n", names[0], lab.Name,
				plural(len(lab.Schemes)*len(lab.Workload.Load)*len(lab.Seeds), "point"), plural(lab.Workload.Flows, "flow"))
			derived, err := lab.Derived()
			for _, line := range results.DerivedLines(derived) {
				fmt.Fprintln(c.OutOrStdout(), line)
			}
			return err
		},
	}
}
