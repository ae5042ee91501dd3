package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"aqmlab/labs"
	"aqmlab/orchestrator"
	"aqmlab/orchestrator/backend"
	"aqmlab/orchestrator/testbed"
	"aqmlab/switch/port"
)

func newLab(kinds port.Kinds) *cobra.Command {
	return group("lab", "List, check, bring up and take down labs",
		newLabList(), newLabShow(kinds), newLabCheck(kinds), newLabExport(kinds), newLabUp(kinds), newLabDown(), newLabStatus(), newLabExec())
}

// bookEntry is a lab of the lab book, for printing.
type bookEntry struct {
	Name  string `json:"name"`
	Title string `json:"title"`
}

func newLabList() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "list",
		Short:   "List the lab book",
		Example: "  aqmlab lab list",
		Args:    args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			book, err := labs.Book()
			if err != nil {
				return err
			}
			entries := make([]bookEntry, len(book))
			for i, e := range book {
				entries[i] = bookEntry(e)
			}
			if asJSON {
				return printJSON(c.OutOrStdout(), entries)
			}
			tw := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, e := range entries {
				fmt.Fprintf(tw, "%s\t%s\n", e.Name, e.Title)
			}
			return tw.Flush()
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func newLabShow(kinds port.Kinds) *cobra.Command {
	var f labFlags
	c := &cobra.Command{
		Use:   "show LAB",
		Short: "Print a lab as it would run, with every default and override filled in",
		Example: `  aqmlab lab show quickstart
  aqmlab lab show quickstart --set workload.flows=100 > mylab.yaml`,
		Args: args(cobra.ExactArgs(1)),

		ValidArgsFunction: completeLabs,
		RunE: func(c *cobra.Command, names []string) error {
			lab, err := f.load(names[0], kinds)
			if err != nil {
				return err
			}
			yaml, err := lab.YAML()
			if err != nil {
				return err
			}
			_, err = c.OutOrStdout().Write(yaml)
			return err
		},
	}
	f.add(c)
	return c
}

func newLabCheck(kinds port.Kinds) *cobra.Command {
	return &cobra.Command{
		Use:     "check FILE",
		Short:   "Check a lab file",
		Example: "  aqmlab lab check mylab.yaml",
		Args:    args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, names []string) error {
			lab, err := labs.Load(names[0], labs.Options{Kinds: kinds})
			if err != nil {
				return usage(err)
			}
			fmt.Fprintf(c.OutOrStdout(), "%s: lab %s is fine: %s, %s a point\n", names[0], lab.Name,
				plural(len(lab.Schemes)*len(lab.Workload.Load)*len(lab.Seeds), "point"), plural(lab.Workload.Flows, "flow"))
			return nil
		},
	}
}

func newLabUp(kinds port.Kinds) *cobra.Command {
	var f labFlags
	var scheme, runtime string
	var asJSON bool
	c := &cobra.Command{
		Use:   "up LAB",
		Short: "Bring a lab up and leave it running",
		Long: `Up brings up the lab's hosts and switch, without traffic, and leaves them for
you: run your own programs on the hosts with aqmlab lab exec, remove them with
aqmlab lab down.`,
		Example: `  aqmlab lab up quickstart --scheme tcn
  aqmlab lab up mine.clab.yml --set topology.rate=10Gbps
  aqmlab lab exec h2 -- ping -c 3 h1
  aqmlab lab down --all`,
		Args: args(cobra.ExactArgs(1)),

		ValidArgsFunction: completeLabs,
		RunE: func(c *cobra.Command, names []string) error {
			lab, err := f.load(names[0], kinds)
			if err != nil {
				return err
			}
			if scheme == "" {
				scheme = lab.Baseline
			}
			on, err := staying(runtime, "hosts that stay are in")
			if err != nil {
				return err
			}
			o := testbed.Options{Log: c.ErrOrStderr(), Runtime: on.Name, Containers: on.Containers}
			s, err := testbed.Keep(c.Context(), lab, scheme, o)
			if err != nil {
				return explain(err)
			}
			if asJSON {
				return printJSON(c.OutOrStdout(), s)
			}
			fmt.Fprintf(c.OutOrStdout(), "Lab %s is up as %s: %s, scheme %s, congestion control %s.\nTry: %s\nRemove it with: aqmlab lab down %s\n",
				s.Lab, s.ID, plural(len(s.Network.Hosts), "host"), s.Scheme, s.Congctl, ping(lab, s), s.ID)
			return nil
		},
	}
	f.add(c)
	addStaying(c, &runtime)
	c.Flags().StringVar(&scheme, "scheme", "", "scheme that the switch runs (default: the lab's baseline)")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// stayRuntimes are the runtimes whose hosts can be left up without a run.
func stayRuntimes() []orchestrator.Runtime {
	return orchestrator.RuntimesWith(func(f backend.Facts) bool { return f.Stays })
}

// addStaying adds a flag for one of them.
func addStaying(c *cobra.Command, runtime *string) {
	all := stayRuntimes()
	c.Flags().StringVar(runtime, "runtime", string(all[0]), "what the hosts are: "+join(all, ", "))
}

// staying is what the flag says, if it is one of them; want begins the list of them
// in the error.
func staying(runtime, want string) (backend.Row, error) {
	all := stayRuntimes()
	if !slices.Contains(all, orchestrator.Runtime(runtime)) {
		return backend.Row{}, usage(fmt.Errorf("--runtime %s: %s %s", runtime, want, join(all, " or ")))
	}
	return orchestrator.Runtime(runtime).Row(), nil
}

// join lists runtimes.
func join(runtimes []orchestrator.Runtime, between string) string {
	names := make([]string, len(runtimes))
	for i, r := range runtimes {
		names[i] = string(r)
	}
	return strings.Join(names, between)
}

// ping is a command that shows that the hosts of a lab reach each other.
func ping(lab *labs.Lab, s testbed.Standing) string {
	to, from := s.Network.Hosts[0], s.Network.Hosts[1]
	if orchestrator.Runtime(s.Runtime).Facts().Containers && lab.Host.Container.Image == "" { // which has no ping
		return fmt.Sprintf("ip netns exec %s ping -c 3 %s", from.Namespace, to.Addr)
	}
	return fmt.Sprintf("aqmlab lab exec %s -- ping -c 3 %s", from.Name, to.Name)
}

func newLabDown() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:   "down [LAB]",
		Short: "Remove a lab that was brought up",
		Long:  `Down removes the lab of that id or name, the only one when none is named, or all of them, and whatever killed runs have left. Labs that a run is using stay.`,
		Example: `  aqmlab lab down
  aqmlab lab down --all`,
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, names []string) error {
			if all && len(names) > 0 {
				return usage(errors.New("name a lab or say --all, not both"))
			}
			var o testbed.Options
			down, err := toTakeDown(all, names, o)
			if err != nil {
				return err
			}
			var errs []error
			for _, s := range down {
				if err := testbed.TakeDown(s.ID, o); err != nil {
					errs = append(errs, fmt.Errorf("removing lab %s (%s): %w", s.ID, s.Lab, err))
					continue
				}
				fmt.Fprintf(c.OutOrStdout(), "Removed lab %s (%s).\n", s.ID, s.Lab)
			}
			return errors.Join(errs...)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "remove all labs")
	return c
}

func toTakeDown(all bool, names []string, o testbed.Options) ([]testbed.Standing, error) {
	if all {
		return testbed.Kept(o)
	}
	ref := ""
	if len(names) > 0 {
		ref = names[0]
	}
	s, err := testbed.Find(ref, o)
	return []testbed.Standing{s}, explain(err)
}

func newLabStatus() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "status",
		Short:   "List the labs of this machine",
		Example: "  aqmlab lab status --json",
		Args:    args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			all, err := testbed.Labs(testbed.Options{})
			if err != nil {
				return explain(err)
			}
			if asJSON {
				return printJSON(c.OutOrStdout(), all)
			}
			if len(all) == 0 {
				fmt.Fprintln(c.OutOrStdout(), "No lab is up.")
				return nil
			}
			tw := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(tw, "ID\tLAB\tSTATE\tSCHEME\tHOSTS\tUP SINCE")
			for _, s := range all {
				hosts := 0
				if s.Network != nil {
					hosts = len(s.Network.Hosts)
				}
				fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%d\t%s\n", s.ID, s.Lab, s.State, s.Scheme, hosts, s.Created.Local().Format(time.DateTime))
			}
			return tw.Flush()
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func newLabExec() *cobra.Command {
	var ref string
	c := &cobra.Command{
		Use:   "exec HOST -- COMMAND [ARG...]",
		Short: "Run a command on a host of a lab",
		Long: `Exec runs a command on a host: in its network namespace, with an /etc/hosts
that knows the lab's hosts by name, or, where hosts are containers, in the
container, where the command must be in the host's image (host.image). Its exit
status is the command's.`,
		Example: `  aqmlab lab exec h2 -- ping -c 3 h1
  aqmlab lab exec h1 -- iperf3 -s`,
		Args: args(cobra.MinimumNArgs(2)),
		RunE: func(c *cobra.Command, words []string) error {
			var o testbed.Options
			s, err := testbed.Find(ref, o)
			if err != nil {
				return explain(err)
			}
			o.Containers = orchestrator.Runtime(s.Runtime).Facts().Containers
			status, err := testbed.Exec(c.Context(), s, words[0], words[1:], o)
			if err == nil && status != 0 {
				err = exitStatus(status)
			}
			return explain(err)
		},
	}
	c.Flags().StringVar(&ref, "lab", "", "id or name of the lab, when several are up")
	return c
}
