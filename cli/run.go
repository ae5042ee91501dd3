package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"aqmlab/kind"
	"aqmlab/labs"
	"aqmlab/orchestrator"
	"aqmlab/orchestrator/backend"
	"aqmlab/orchestrator/sweep/cluster"
	"aqmlab/results"
	"aqmlab/results/compare"
	"aqmlab/results/report"
	"aqmlab/results/store"
	"aqmlab/switch/port"
)

// labFlags change a lab for one run.
type labFlags struct {
	schemes  []string
	loads    string
	seeds    string
	flows    string
	dilation string
	kernel   string
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

// addKernel adds the flag for the kernel of guests, to commands that choose a runtime.
func addKernel(c *cobra.Command, kernel *string) {
	c.Flags().StringVar(kernel, "kernel", "", "version of Linux of guests instead of the lab's, for --runtime uml: "+strings.Join(guestVersions(), ", "))
	completeFlag(c, "kernel", cobra.FixedCompletions(guestVersions(), cobra.ShellCompDirectiveNoFileComp))
}

// checkKernel refuses a kernel of guests on another runtime.
func checkKernel(kernel string, on orchestrator.Runtime) error {
	if kernel == "" || on.Facts().Guests {
		return nil
	}
	return fmt.Errorf("--kernel %s: hosts of runtime %s are no guests: want --runtime %s", kernel, on, guestRuntime())
}

// guestRuntime is the runtime of guests.
func guestRuntime() orchestrator.Runtime {
	return orchestrator.RuntimesWith(func(r backend.Facts) bool { return r.Guests })[0]
}

// changes tells whether any flag is given.
func (f *labFlags) changes() bool {
	return len(f.schemes)+len(f.set) > 0 || f.loads+f.seeds+f.flows+f.dilation+f.kernel != ""
}

// overrides are what the flags set of a lab: "key=value".
func (f *labFlags) overrides() []string {
	set := slices.Clone(f.set)
	for _, o := range []struct{ key, value string }{
		{"workload.load", f.loads},
		{"workload.flows", f.flows},
		{"seeds", f.seeds},
		{"dilation", f.dilation},
		{"host.kernel", f.kernel},
	} {
		if o.value != "" {
			set = append(set, o.key+"="+o.value)
		}
	}
	return set
}

// load reads a lab of those kinds with the flags applied.
func (f *labFlags) load(ref string, kinds port.Kinds) (*labs.Lab, error) {
	lab, err := labs.Load(ref, labs.Options{Set: f.overrides(), Kinds: kinds})
	if err != nil {
		return nil, usage(err)
	}
	if err := lab.Only(f.schemes); err != nil {
		return nil, usage(err)
	}
	return lab, nil
}

// runFlags are those of run.
type runFlags struct {
	labFlags
	runtime, out, resume string
	machines             string
	jobs                 int
	threads              int
	asJSON, plain        bool
}

func newRun(kinds port.Kinds) *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run LAB",
		Short: "Run a lab and compare its schemes",
		Long: `Run brings up the lab's hosts and switch, replays the same flows under every
scheme, prints how the flow completion times compare, stores everything in a
folder below results/runs, and removes what it brought up.

LAB is a name of the lab book (aqmlab lab list) or a path to a lab file or to
a containerlab file (x.clab.yml), which gets defaults around it.

With --resume, a run that ended early or was killed gets the points that it
lacks; those that it has are not run again. Its lab is the stored one. A LAB that
is given, too, must be the same; a program, kernel or runtime that is not the
run's is refused.

On a terminal, bars show how far the points are. Below that of the point that has run
longest, sparklines show what its bottleneck port has held and marked since the point
began, once a second. Elsewhere, and with --plain, there is a line now and then.`,
		Example: `  aqmlab run quickstart
  aqmlab run quickstart --schemes droptail,tcn --loads 0.5,0.9 --seeds 1..3
  aqmlab run mylab.yaml --set switch.buffer.per_port=200KB --json
  aqmlab run quickstart --kernel 6.12
  aqmlab run --resume latest`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeLabs,
		RunE:              func(c *cobra.Command, names []string) error { return f.run(c, names, kinds) },
	}
	f.add(c)
	c.Flags().StringVar(&f.runtime, "runtime", "auto", "where the hosts run: "+strings.Join(orchestrator.RuntimeNames(), ", "))
	addKernel(c, &f.kernel)
	addMachines(c, &f.machines)
	c.Flags().IntVar(&f.jobs, "jobs", 0, "points that run at once in virtual time; 0: one a CPU")
	c.Flags().IntVar(&f.threads, "threads", 0, "CPUs for one simulated point, which change no result; 0: those that points leave idle")
	c.Flags().StringVar(&f.out, "out", runsDir, "folder for the results")
	completeFlag(c, "runtime", cobra.FixedCompletions(orchestrator.RuntimeNames(), cobra.ShellCompDirectiveNoFileComp))
	completeFlag(c, "schemes", completeSchemes(kinds))
	c.Flags().StringVar(&f.resume, "resume", "", "run to go on with: a folder, or the name of one below --out")
	completeFlag(c, "resume", completeRuns(&f.out))
	c.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&f.plain, "plain", false, "print a line now and then instead of bars, as where standard error is no terminal")
	return c
}

func (f *runFlags) run(c *cobra.Command, names []string, kinds port.Kinds) error {
	on, err := orchestrator.ParseRuntime(f.runtime)
	if err != nil {
		return usage(fmt.Errorf("--runtime: %w", err))
	}
	if f.kernel != "" && on == orchestrator.Auto {
		on = guestRuntime()
	}
	if err := checkKernel(f.kernel, on); err != nil {
		return usage(err)
	}
	if f.jobs < 0 {
		return usage(fmt.Errorf("--jobs %d: want 0 (one a CPU) or more", f.jobs))
	}
	if f.threads < 0 {
		return usage(fmt.Errorf("--threads %d: want 0 (those that points leave idle) or more", f.threads))
	}
	lab, resumed, err := f.open(names, kinds)
	if err != nil {
		return err
	}
	if err := useMachines(lab, f.machines); err != nil {
		return err
	}
	o, lab, why := orchestrator.RunOptions{
		Log:     c.ErrOrStderr(),
		Runtime: on,
		Jobs:    f.jobs,
		Threads: f.threads,
		Out:     f.out,
		Resume:  resumed,
	}.Settle(c.Context(), lab)
	if done, err := inNamespaces(c, o.Runtime.Facts()); done {
		return err
	}
	w, release := newWatcher(c.ErrOrStderr(), f.plain), hold(c)
	if o.Watcher = w; why != "" {
		w.Note(why)
	}
	run, err := orchestrator.Run(c.Context(), lab, o)
	w.close()
	release()
	if run != nil { // it began: what it then lacks is no mistake of the user's
		return errors.Join(err, show(c, run, f.asJSON))
	}
	return explain(err)
}

// open finds the lab, and the run to go on with, if any.
func (f *runFlags) open(names []string, kinds port.Kinds) (*labs.Lab, *store.Run, error) {
	switch {
	case f.resume == "" && len(names) == 0:
		return nil, nil, usage(errors.New("want a lab to run (aqmlab lab list), or a run to go on with: usage: aqmlab run LAB, aqmlab run --resume RUN"))
	case f.resume == "":
		lab, err := f.load(names[0], kinds)
		return lab, nil, err
	}
	runs, err := openRuns(f.out, []string{f.resume})
	if err != nil {
		return nil, nil, err
	}
	if len(names) == 1 {
		lab, err := f.load(names[0], kinds)
		return lab, runs[0], err
	}
	if f.changes() {
		return nil, nil, usage(errors.New("--resume goes on with the lab of the run: flags that change it need the LAB to change"))
	}
	lab, err := orchestrator.LabOf(runs[0], kinds)
	if err != nil {
		return nil, nil, usage(err)
	}
	return lab, runs[0], nil
}

// explain marks as the user's to mend what the machine lacks, and what it does
// not have of what was named.
func explain(err error) error {
	if machineLacks(err) {
		return usage(err)
	}
	for _, theirs := range []error{orchestrator.ErrNotResumed, cluster.ErrUnfit, kind.ErrUnknown, exec.ErrNotFound} {
		if errors.Is(err, theirs) {
			return usage(err)
		}
	}
	if errors.Is(err, fs.ErrPermission) && os.Geteuid() != 0 || errors.As(err, new(labs.Errors)) || errors.As(err, new(*labs.Error)) {
		return usage(err)
	}
	return err
}

// show prints a run: its table, or JSON.
func show(c *cobra.Command, run *store.Run, asJSON bool) error {
	out := c.OutOrStdout()
	if asJSON {
		j, err := report.RunJSONOf(run)
		if err != nil {
			return err
		}
		return printJSON(out, j)
	}
	comparison, err := compare.Runs([]*store.Run{run}, "")
	if err != nil {
		return err
	}
	o := tableOptions(c)
	o.Notes = results.DerivedLines(run.Manifest.Derived)
	if err := report.Text(out, comparison, o); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nStored in %s (report.html shows it in a browser).\n", run.Dir)
	if run.Manifest.State == results.Partial {
		fmt.Fprintf(c.ErrOrStderr(), "The run is partial: aqmlab run --resume %s goes on with it.\n", run.Dir)
	}
	return nil
}

// tableOptions asks for colour where it can be seen and is wanted
// (no-color.org).
func tableOptions(c *cobra.Command) report.TextOptions {
	return report.TextOptions{Color: isTerminal(c.OutOrStdout()) && os.Getenv("NO_COLOR") == ""}
}
