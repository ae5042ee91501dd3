package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"aqmlab/labs"
	"aqmlab/orchestrator"
	"aqmlab/orchestrator/backend"
	"aqmlab/orchestrator/sweep"
	"aqmlab/orchestrator/sweep/engine"
	"aqmlab/switch/port"
)

// sweepsStore is where sweeps are stored unless the user says otherwise.
var sweepsStore = filepath.Join("results", "sweeps")

// sweepStore is a store that warns on standard error of what is damaged.
func sweepStore(c *cobra.Command, dir string, kinds port.Kinds) sweep.Store {
	return sweep.Store{Dir: dir, Kinds: kinds, Warn: func(text string) { fmt.Fprintln(c.ErrOrStderr(), "warning:", text) }}
}

// groupFlag collects axes in the order in which their flags stand.
type groupFlag struct {
	groups *sweep.Groups
	take   func(groups *sweep.Groups, text string) error
}

// String is empty: there is no default.
func (groupFlag) String() string { return "" }

// Type is what help calls the value.
func (groupFlag) Type() string { return "key=values" }

// Set takes one flag.
func (f groupFlag) Set(text string) error { return f.take(f.groups, text) }

// sweepFlags are those of sweep.
type sweepFlags struct {
	labFlags
	groups          sweep.Groups
	engines         engineFlags
	runtime, store  string
	attached        string
	jobs            int
	retry, planOnly bool
}

func newSweep(kinds port.Kinds) *cobra.Command {
	var f sweepFlags
	c := &cobra.Command{
		Use:   "sweep LAB",
		Short: "Measure a lab at many settings: any key of it is an axis",
		Long: `Sweep measures every scheme of a lab, with every seed, at every combination of
settings, and shows how the results follow from them.

An axis is a key of the lab with several values: a list (50us,78us), whole numbers
(1..5), a range with a step (0.1..0.9/0.1) or with a factor (10us..640us*2). Axes
are crossed; one given by --with changes together with the one before. --point
lists single combinations. A lab may have its axes in its section sweep.

Every point is stored below --store as soon as it is measured, under a hash of all
that its result depends on. A point that is stored, by this sweep or another, is
not measured again: after an interruption the same command goes on where it was.`,
		Example: `  aqmlab sweep quickstart --over workload.load=0.3..0.9/0.2 --seeds 1..5
  aqmlab sweep quickstart --over schemes.tcn.threshold=50us..400us*2 --schemes tcn
  aqmlab sweep mylab.yaml --over rtt.min=100us,200us --with schemes.tcn.threshold=120us,240us
  aqmlab sweep show`,
		Args:              func(c *cobra.Command, names []string) error { return cobra.ExactArgs(f.labs())(c, names) },
		ValidArgsFunction: completeLabs,
		RunE: func(c *cobra.Command, names []string) error {
			if f.attached != "" {
				return f.attach(c, kinds)
			}
			return f.run(c, names[0], kinds)
		},
	}
	f.add(c)
	fs := c.Flags()
	fs.Var(groupFlag{&f.groups, (*sweep.Groups).Over}, "over", "an axis, crossed with the others (repeatable)")
	fs.Var(groupFlag{&f.groups, (*sweep.Groups).With}, "with", "an axis that changes together with the one before (repeatable)")
	fs.Var(groupFlag{&f.groups, (*sweep.Groups).Point}, "point", `a point: --point "key=value key=value" (repeatable)`)
	runtimes := storedRuntimes()
	fs.StringVar(&f.runtime, "runtime", string(orchestrator.Simulator()), "where the hosts run: "+strings.Join(runtimes, ", "))
	addKernel(c, &f.kernel)
	f.engines.add(c)
	fs.IntVar(&f.jobs, "jobs", 0, "points that run at once in virtual time; 0: one a CPU here, and one in a job of a cluster")
	fs.BoolVar(&f.retry, "retry", false, "measure points again that failed")
	fs.BoolVar(&f.planOnly, "plan", false, "say what would be measured, and measure nothing")
	fs.StringVar(&f.attached, "attach", "", "follow a sweep again, by its name, whose jobs are on a cluster")
	fs.StringVar(&f.store, "store", sweepsStore, "folder of the points")
	completeFlag(c, "runtime", cobra.FixedCompletions(runtimes, cobra.ShellCompDirectiveNoFileComp))
	completeFlag(c, "schemes", completeSchemes(kinds))
	confined(c, f.needs)
	c.AddCommand(newSweepList(kinds), newSweepShow(kinds), newSweepCancel(kinds), newSweepWork(kinds))
	return c
}

// needs is what the sweep's own runtime needs, if this machine is to measure.
func (f *sweepFlags) needs() backend.Facts {
	if f.planOnly || f.attached != "" || f.engines.name != engine.Table()[0].Name {
		return backend.Facts{}
	}
	return orchestrator.Runtime(f.runtime).Facts()
}

// points counts those of a sweep, and how many measurements they are.
func points(w *sweep.Sweep) string {
	all, measured := len(w.Points), len(w.Measurements())
	if all == measured {
		return plural(all, "point")
	}
	return fmt.Sprintf("%s (%s, as settings of one scheme do not concern the others)", plural(all, "point"), plural(measured, "measurement"))
}

// storedRuntimes lists the runtimes whose points can be stored by what they depend on.
func storedRuntimes() []string {
	return slices.DeleteFunc(orchestrator.RuntimeNames(), func(name string) bool { return name == string(orchestrator.Auto) })
}

// storedRuntime checks the name of one.
func storedRuntime(name string) (orchestrator.Runtime, error) {
	if !slices.Contains(storedRuntimes(), name) {
		return "", fmt.Errorf("--runtime: unknown runtime %q: want one of %s", name, strings.Join(storedRuntimes(), ", "))
	}
	return orchestrator.Runtime(name), nil
}

// labs is how many labs the command line has to name.
func (f *sweepFlags) labs() int {
	if f.attached != "" {
		return 0
	}
	return 1
}

// spec is the sweep that the flags and the lab describe.
func (f *sweepFlags) spec(ref string, kinds port.Kinds) (sweep.Spec, error) {
	on, err := storedRuntime(f.runtime)
	if err != nil {
		return sweep.Spec{}, err
	}
	if err := checkKernel(f.kernel, on); err != nil {
		return sweep.Spec{}, err
	}
	if f.jobs < 0 {
		return sweep.Spec{}, fmt.Errorf("--jobs %d: want 0 (one a CPU) or more", f.jobs)
	}
	s := sweep.Spec{Lab: ref, Set: f.overrides(), Schemes: f.schemes, Runtime: on, Kinds: kinds, Groups: f.groups}
	if len(f.groups) > 0 {
		return s, nil
	}
	lab, err := labs.Load(ref, labs.Options{Set: s.Set, Kinds: kinds})
	if err != nil {
		return s, err
	}
	s.Groups, err = sweep.GroupsOf(lab)
	return s, err
}

func (f *sweepFlags) run(c *cobra.Command, ref string, kinds port.Kinds) error {
	engine, err := f.engines.engine(c)
	if err != nil {
		return usage(err)
	}
	spec, err := f.spec(ref, kinds)
	if err != nil {
		return usage(err)
	}
	w, err := spec.Expand()
	if err != nil {
		return usage(err)
	}
	return f.measure(c, sweepStore(c, f.store, kinds), w, engine)
}

// measure says what there is to do, and has it done.
func (f *sweepFlags) measure(c *cobra.Command, s sweep.Store, w *sweep.Sweep, engine sweep.Engine) error {
	measurements := w.Measurements()
	todo := len(measurements)
	if !f.retry {
		left, err := s.Todo(w, measurements)
		if err != nil {
			return err
		}
		todo = len(left)
	}
	fmt.Fprintf(c.ErrOrStderr(), "sweep %s: %s, %d to measure and %d stored\n", w.Name, points(w), todo, len(measurements)-todo)
	if f.planOnly {
		return nil
	}
	release := hold(c)
	err := s.Run(c.Context(), engine, w, sweep.Options{
		Jobs: f.jobs, Log: c.ErrOrStderr(), Retry: f.retry,
		Watch: func(p sweep.Progress) { printProgress(c.ErrOrStderr(), p) },
	})
	release()
	if errors.Is(err, sweep.ErrFailed) {
		err = errors.Join(listFailures(c.ErrOrStderr(), s, w), err)
	}
	return explain(err)
}

// listFailures prints the points that failed, with their reasons.
func listFailures(w io.Writer, s sweep.Store, sw *sweep.Sweep) error {
	failed, err := s.Failures(sw)
	for _, f := range failed {
		fmt.Fprintf(w, "failed: %v on %s: %s\n", f.Coord, f.Host, f.Reason)
	}
	return err
}

// newSweepList lists what a store has.
func newSweepList(kinds port.Kinds) *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "List the sweeps of a store, and how far they are", Example: `  aqmlab sweep list --store /shared/sweeps`}
	dir := c.Flags().String("store", sweepsStore, "folder of the points")
	return shown(c, func(*cobra.Command, []string) ([]sweep.Status, error) {
		return sweep.Store{Dir: *dir, Kinds: kinds}.List()
	}, func(w io.Writer, all []sweep.Status) error {
		return columns(w, func(w io.Writer) {
			fmt.Fprintln(w, "sweep\tlab\truntime\tpoints\tstored\tfailed")
			for _, s := range all {
				fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%d\n", s.Name, s.Lab, s.Runtime, s.Points, s.Stored, s.Failed)
			}
		})
	})
}
