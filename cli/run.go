package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"aqmlab/kind"
	"aqmlab/labs"
	"aqmlab/orchestrator"
	"aqmlab/orchestrator/docker"
	"aqmlab/orchestrator/host/cc"
	"aqmlab/orchestrator/uml"
	"aqmlab/results"
	"aqmlab/switch/port"
)

// runsDir is where runs are stored unless --out says otherwise.
const runsDir = "results/runs"

// labFlags change a lab for one run.
type labFlags struct {
	schemes  []string
	loads    string
	seeds    string
	flows    string
	dilation string
	set      []string
}

func (f *labFlags) add(c *cobra.Command) {
	fs := c.Flags()
	fs.StringSliceVar(&f.schemes, "schemes", nil, "run only these schemes of the lab, by name: a,b")
	fs.StringVar(&f.loads, "loads", "", "offered loads instead of the lab's: 0.5,0.9")
	fs.StringVar(&f.seeds, "seeds", "", "seeds instead of the lab's: 1..3 or 1,2,3")
	fs.StringVar(&f.flows, "flows", "", "flows a point instead of the lab's")
	fs.StringVar(&f.dilation, "dilation", "", "how many times slower than lab time to run: auto, or a number from 1")
	fs.StringArrayVar(&f.set, "set", nil, "override any key of the lab: --set host.rto_min=5ms (repeatable)")
}

// load reads a lab of those kinds with the flags applied.
func (f *labFlags) load(ref string, kinds port.Kinds) (*labs.Lab, error) {
	set := slices.Clone(f.set)
	for _, o := range []struct{ key, value string }{
		{"workload.load", f.loads},
		{"workload.flows", f.flows},
		{"seeds", f.seeds},
		{"dilation", f.dilation},
	} {
		if o.value != "" {
			set = append(set, o.key+"="+o.value)
		}
	}
	lab, err := labs.Load(ref, labs.Options{Set: set, Kinds: kinds})
	if err != nil {
		return nil, usage(err)
	}
	if err := lab.Only(f.schemes); err != nil {
		return nil, usage(err)
	}
	return lab, nil
}

func newRun(kinds port.Kinds) *cobra.Command {
	var f labFlags
	var runtime, out string
	var jobs int
	var asJSON bool
	c := &cobra.Command{
		Use:   "run LAB",
		Short: "Run a lab and compare its schemes",
		Long: `Run brings up the lab's hosts and switch, replays the same flows under every
scheme, prints how the flow completion times compare, stores everything in a
folder below results/runs, and removes what it brought up.

LAB is a name of the lab book (aqmlab lab list) or a path to a lab file or to
a containerlab file (x.clab.yml), which gets defaults around it.`,
		Example: `  aqmlab run quickstart
  aqmlab run quickstart --schemes droptail,tcn --loads 0.5,0.9 --seeds 1..3
  aqmlab run mylab.yaml --set switch.buffer.per_port=200KB --json`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, names []string) error {
			on, err := orchestrator.ParseRuntime(runtime)
			if err != nil {
				return usage(fmt.Errorf("--runtime: %w", err))
			}
			if jobs < 0 {
				return usage(fmt.Errorf("--jobs %d: want 0 (one a CPU) or more", jobs))
			}
			lab, err := f.load(names[0], kinds)
			if err != nil {
				return err
			}
			w := newWatcher(c.ErrOrStderr())
			run, err := orchestrator.Run(c.Context(), lab, orchestrator.RunOptions{
				Options: orchestrator.Options{Log: c.ErrOrStderr()},
				Runtime: on,
				Jobs:    jobs,
				Out:     out,
				Watcher: w,
			})
			w.close()
			if run != nil {
				err = errors.Join(err, show(c, run, asJSON))
			}
			return explain(err)
		},
	}
	f.add(c)
	c.Flags().StringVar(&runtime, "runtime", "auto", "where the hosts run: "+strings.Join(orchestrator.Runtimes(), ", "))
	c.Flags().IntVar(&jobs, "jobs", 0, "points that run at once in virtual time; 0: one a CPU")
	c.Flags().StringVar(&out, "out", runsDir, "folder for the results")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// explain marks as the user's to mend what the machine lacks, and what it does
// not have of what was named.
func explain(err error) error {
	if errors.As(err, new(*cc.UnsupportedError)) || errors.As(err, new(*docker.UnavailableError)) {
		return usage(err)
	}
	for _, theirs := range []error{
		uml.ErrUnavailable, orchestrator.ErrNotRoot, orchestrator.ErrNoLab, orchestrator.ErrAmbiguous, orchestrator.ErrNoHost, kind.ErrUnknown, exec.ErrNotFound,
	} {
		if errors.Is(err, theirs) {
			return usage(err)
		}
	}
	if errors.Is(err, fs.ErrPermission) && os.Geteuid() != 0 {
		return usage(fmt.Errorf("%w: labs belong to root; run it with sudo", err))
	}
	return err
}

// show prints a run: its table, or JSON.
func show(c *cobra.Command, run *results.Run, asJSON bool) error {
	out := c.OutOrStdout()
	if asJSON {
		j, err := run.JSON()
		if err != nil {
			return err
		}
		return printJSON(out, j)
	}
	comparison, err := results.CompareRuns([]*results.Run{run}, "")
	if err != nil {
		return err
	}
	if err := results.Table(out, comparison, tableOptions(c)); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nStored in %s (report.html shows it in a browser).\n", run.Dir)
	return nil
}

// tableOptions asks for colour where it can be seen and is wanted
// (no-color.org).
func tableOptions(c *cobra.Command) results.TableOptions {
	return results.TableOptions{Color: isTerminal(c.OutOrStdout()) && os.Getenv("NO_COLOR") == ""}
}

// isTerminal tells whether a stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// plural counts things in words.
func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}
