//go:build linux

package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"aqmlab/labs"
	"aqmlab/orchestrator"
	"aqmlab/orchestrator/backend"
	"aqmlab/orchestrator/testbed"
	"aqmlab/switch/port"
)

func newLabUp(kinds port.Kinds) *cobra.Command {
	var f labFlags
	var scheme, runtime, machines string
	var lab *labs.Lab
	c := shown(&cobra.Command{
		Use:   "up LAB",
		Short: "Bring a lab up and leave it running",
		Long: `Up brings up the lab's hosts and switch, without traffic, and leaves them for
you: run your own programs on the hosts with aqmlab lab exec, remove them with
aqmlab lab down.`,
		Example: `  aqmlab lab up quickstart --scheme tcn
  aqmlab lab up mine.clab.yml --set topology.rate=10Gbps
  aqmlab lab up quickstart --machines rack.yaml
  aqmlab lab exec h2 -- ping -c 3 h1
  aqmlab lab down --all`,
		Args: cobra.ExactArgs(1),

		ValidArgsFunction: completeLabs,
	}, func(c *cobra.Command, names []string) (s testbed.Standing, err error) {
		if lab, err = f.load(names[0], kinds); err != nil {
			return s, err
		}
		if err := useMachines(lab, machines); err != nil {
			return s, err
		}
		if len(lab.Rack.Machines) > 0 && !c.Flags().Changed("runtime") {
			runtime = containerRuntime()
		}
		on, err := staying(runtime, "hosts that stay are in")
		if err != nil {
			return s, err
		}
		first := cmp.Or(scheme, lab.Baseline)
		f.schemes = nil // lab use may take the others all the same
		rack := lab.Rack
		if lab, err = f.load(names[0], kinds); err != nil {
			return s, err
		}
		lab.Rack = rack
		defer hold(c)()
		o := testbed.Options{Log: c.ErrOrStderr(), Runtime: on.Name, Containers: on.Containers}
		s, err = testbed.Keep(c.Context(), lab, first, o)
		return s, explain(err)
	}, func(w io.Writer, s testbed.Standing) error {
		fmt.Fprintf(w, "Lab %s is up as %s: %s, scheme %s, congestion control %s.\nTry: %s\nRemove it with: aqmlab lab down %s\n",
			s.Lab, s.ID, plural(len(s.Network.Hosts), "host"), s.Scheme, s.Congestion(), ping(lab, s), s.ID)
		return nil
	})
	f.add(c)
	addMachines(c, &machines)
	addStaying(c, &runtime)
	confined(c, func() backend.Facts { return orchestrator.Runtime(runtime).Facts() })
	c.Flags().StringVar(&scheme, "scheme", "", "scheme that the switch runs (default: the lab's baseline)")
	return c
}

// stayRuntimes are the runtimes whose hosts can be left up without a run.
func stayRuntimes() (names []string) {
	for _, r := range orchestrator.RuntimesWith(func(f backend.Facts) bool { return f.Stays }) {
		names = append(names, string(r))
	}
	return names
}

// containerRuntime is the one whose hosts are containers.
func containerRuntime() string {
	return string(orchestrator.RuntimesWith(func(f backend.Facts) bool { return f.Containers })[0])
}

// addStaying adds a flag for one of them.
func addStaying(c *cobra.Command, runtime *string) {
	all := stayRuntimes()
	c.Flags().StringVar(runtime, "runtime", all[0], "what the hosts are: "+strings.Join(all, ", "))
}

// staying is what the flag says, if it is one of them; want begins the list of them
// in the error.
func staying(runtime, want string) (backend.Row, error) {
	all := stayRuntimes()
	if !slices.Contains(all, runtime) {
		return backend.Row{}, usage(fmt.Errorf("--runtime %s: %s %s", runtime, want, strings.Join(all, " or ")))
	}
	return orchestrator.Runtime(runtime).Row(), nil
}

// ping is a command that shows that the hosts of a lab reach each other.
func ping(lab *labs.Lab, s testbed.Standing) string {
	to, from := s.Network.Hosts[0], s.Network.Hosts[1]
	if len(s.Nodes) > 0 && lab.Host.Container.Image == "" {
		return "aqmlab lab stats " + s.ID // nothing that runs here reaches another machine's hosts
	}
	if orchestrator.Runtime(s.Runtime).Facts().Containers && lab.Host.Container.Image == "" { // which has no ping
		return fmt.Sprintf("ip netns exec %s ping -c 3 %s", from.Namespace, to.Addr)
	}
	return fmt.Sprintf("aqmlab lab exec %s -- ping -c 3 %s", from.Name, to.Name)
}

func newLabDown() *cobra.Command {
	var all, forget bool
	c := &cobra.Command{
		Use:   "down [LAB]",
		Short: "Remove a lab that was brought up",
		Long: `Down removes the lab of that id or name, the only one when none is named, or all of
them, and whatever killed runs have left. Labs that a run is using stay.

A lab on several machines, one of which never comes back, is removed from the others
with --forget, also one that a killed run has left. What the machine still has is named.`,
		Example: `  aqmlab lab down
  aqmlab lab down --all
  aqmlab lab down 12ab --forget`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, names []string) error {
			if all && len(names) > 0 {
				return usage(errors.New("name a lab or say --all, not both"))
			}
			if all && forget {
				return usage(errors.New("--forget is for one lab: name it in place of --all"))
			}
			var o testbed.Options
			if forget {
				return forgetLab(c.OutOrStdout(), names, o)
			}
			down, err := toTakeDown(all, names, o)
			if err != nil {
				return err
			}
			var errs []error
			for _, s := range down {
				if err := takeDown(c.Context(), s); err != nil {
					errs = append(errs, fmt.Errorf("removing lab %s (%s): %w", s.ID, s.Lab, err))
					continue
				}
				fmt.Fprintf(c.OutOrStdout(), "Removed lab %s (%s).\n", s.ID, s.Lab)
			}
			return errors.Join(errs...)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "remove all labs")
	c.Flags().BoolVar(&forget, "forget", false, "remove a lab from the machines that answer, and forget what it has on those that do not")
	return c
}

// forgetLab removes a lab from the machines that answer, and names what the others have.
func forgetLab(w io.Writer, names []string, o testbed.Options) error {
	s, err := testbed.FindLeft(append(names, "")[0], o) // without a name, the only one
	if err != nil {
		return explain(err)
	}
	forgotten, err := testbed.Forget(s.ID, o)
	if err != nil {
		return explain(fmt.Errorf("removing lab %s (%s): %w", s.ID, s.Lab, err))
	}
	fmt.Fprintf(w, "Removed lab %s (%s).\n", s.ID, s.Lab)
	for _, f := range forgotten {
		fmt.Fprintln(w, f)
	}
	return nil
}

func toTakeDown(all bool, names []string, o testbed.Options) ([]testbed.Standing, error) {
	if all {
		return testbed.Kept(o)
	}
	s, err := testbed.Find(append(names, "")[0], o) // without a name, the only one
	return []testbed.Standing{s}, explain(err)
}

func newLabStatus() *cobra.Command {
	return shown(&cobra.Command{
		Use:   "status",
		Short: "List the labs of this machine",
		Long: `Status lists the labs of this machine: those that were left up, with the scheme that
runs, what was changed since and still holds, and all names of the congestion control,
and those of runs.`,
		Example: "  aqmlab lab status --json",
	}, func(*cobra.Command, []string) ([]testbed.Standing, error) {
		all, err := testbed.Labs(testbed.Options{})
		return all, explain(err)
	}, func(w io.Writer, all []testbed.Standing) error {
		if len(all) == 0 {
			fmt.Fprintln(w, "No lab is up.")
			return nil
		}
		return columns(w, func(w io.Writer) {
			fmt.Fprintln(w, "ID\tLAB\tSTATE\tSCHEME\tHOSTS\tCONGESTION CONTROL\tUP SINCE")
			for _, s := range all {
				hosts := 0
				if s.Network != nil {
					hosts = len(s.Network.Hosts)
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\t%s\n", s.ID, s.Lab, s.State, s.Scheme, hosts, s.Congestion(), s.Created.Local().Format(time.DateTime))
				if changes := s.Changes(); len(changes) > 0 {
					fmt.Fprintf(w, "  changed: %s\n", strings.Join(changes, "; "))
				}
				if s.Problem != "" {
					fmt.Fprintf(w, "  %s; aqmlab lab down %s removes it\n", strings.ReplaceAll(s.Problem, "\n", "; "), s.ID)
				}
			}
		})
	})
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
		Args: cobra.MinimumNArgs(2),
		RunE: func(c *cobra.Command, words []string) error {
			var o testbed.Options
			s, err := testbed.Find(ref, o)
			if err != nil {
				return explain(err)
			}
			if err := enter(c, s); err != nil {
				return err
			}
			o.Containers = orchestrator.Runtime(s.Runtime).Facts().Containers
			defer hold(c)()
			status, err := s.Exec(c.Context(), words[0], words[1:], o)
			if err == nil && status != 0 {
				err = exitStatus(status)
			}
			return explain(err)
		},
	}
	c.Flags().StringVar(&ref, "lab", "", "id or name of the lab, when several are up")
	return c
}
