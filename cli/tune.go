package cli

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"aqmlab/kind"
	"aqmlab/orchestrator"
	"aqmlab/orchestrator/backend"
	"aqmlab/orchestrator/sweep"
	"aqmlab/orchestrator/tune"
	"aqmlab/switch/port"
)

// tuneFlags are those of tune.
type tuneFlags struct {
	tune.Options
	labFlags
	runtime, minimise, store string
	subjectTo                []string
}

func newTune(kinds port.Kinds) *cobra.Command {
	f := tuneFlags{Options: tune.Options{Kinds: kinds}}
	c := shown(&cobra.Command{
		Use:   "tune LAB",
		Short: "Search the parameters of a scheme for a lab",
		Long: `Tune tries settings of a scheme's parameters on a lab, and tests the best with seeds
that the search never saw. Which parameters, and in which range, is what the table of
schemes says (aqmlab scheme show), or --param.

A budget is spent in points: many settings are tried with one seed, the better half
with two, the better half of these with four. A metric is minimised relative to the
scheme as the lab has it, seed by seed, under constraints. The gain that is reported
is that of the test.`,
		Example: `  aqmlab tune quickstart --scheme tcn --minimise small.p99 --subject-to 'large.avg <= 1.03 * baseline' --budget 60
  aqmlab tune mylab.yaml --scheme codel --minimise all.avg --param target=5us..100us`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeLabs,
	}, func(c *cobra.Command, names []string) (*tune.Result, error) { return f.run(c, names[0]) }, printTuned)
	fs := c.Flags()
	fs.StringVar(&f.Scheme, "scheme", "", "the scheme of the lab, by name")
	fs.StringVar(&f.minimise, "minimise", "small.p99", "metric that is to become small")
	fs.StringArrayVar(&f.subjectTo, "subject-to", nil, "what must hold: 'large.avg <= 1.03 * baseline' (repeatable)")
	fs.StringArrayVar(&f.Ranges, "param", nil, "a parameter and its range: threshold=50us..500us or 0.1rtt..4rtt (repeatable)")
	fs.IntVar(&f.Budget, "budget", 60, "points to spend")
	fs.StringVar(&f.loads, "loads", "", "offered loads instead of the lab's: 0.5,0.9")
	fs.StringVar(&f.seeds, "seeds", "", "the first seed of the search instead of the lab's")
	fs.StringVar(&f.flows, "flows", "", "flows a point instead of the lab's")
	fs.StringArrayVar(&f.set, "set", nil, "override any key of the lab: --set host.rto_min=5ms (repeatable)")
	fs.StringVar(&f.runtime, "runtime", string(orchestrator.Simulator()), "where the hosts run: "+strings.Join(storedRuntimes(), ", "))
	addKernel(c, &f.kernel)
	fs.IntVar(&f.Jobs, "jobs", 0, "points that run at once in virtual time; 0: one a CPU")
	fs.StringVar(&f.store, "store", sweepsStore, "folder of the points")
	confined(c, func() backend.Facts { return orchestrator.Runtime(f.runtime).Facts() })
	completeFlag(c, "runtime", cobra.FixedCompletions(storedRuntimes(), cobra.ShellCompDirectiveNoFileComp))
	completeFlag(c, "scheme", completeSchemes(kinds))
	return c
}

func (f *tuneFlags) run(c *cobra.Command, ref string) (*tune.Result, error) {
	var err error
	if f.Scheme == "" {
		return nil, usage(errors.New("--scheme: want the name of a scheme of the lab"))
	}
	if f.Runtime, err = storedRuntime(f.runtime); err != nil {
		return nil, usage(err)
	}
	if err := checkKernel(f.kernel, f.Runtime); err != nil {
		return nil, usage(err)
	}
	if f.Jobs < 0 {
		return nil, usage(fmt.Errorf("--jobs %d: want 0 (one a CPU) or more", f.Jobs))
	}
	if f.Objective, err = tune.ParseObjective(f.minimise); err != nil {
		return nil, usage(fmt.Errorf("--minimise: %w", err))
	}
	for _, text := range f.subjectTo {
		constraint, err := tune.ParseConstraint(text)
		if err != nil {
			return nil, usage(fmt.Errorf("--subject-to: %w", err))
		}
		f.Constraints = append(f.Constraints, constraint)
	}
	w := c.ErrOrStderr()
	f.Lab, f.Set, f.Store, f.Log = ref, f.overrides(), sweepStore(c, f.store, f.Kinds), w
	f.Note = func(text string) { fmt.Fprintln(w, text) }
	f.Watch = func(p sweep.Progress) { printProgress(w, p) }
	release := hold(c)
	r, err := tune.Run(c.Context(), f.Options)
	release()
	if errors.Is(err, kind.ErrUnknown) || errors.Is(err, tune.ErrAsked) {
		err = usage(err)
	}
	return r, explain(err)
}

// printTuned prints the trials, the best last, and what the test says of it.
func printTuned(w io.Writer, r *tune.Result) error {
	trials := slices.Clone(r.Trials)
	slices.SortStableFunc(trials, func(a, b tune.Trial) int { return a.Compare(b) })
	fmt.Fprintf(w, "%s of lab %s: %s over that of the scheme as it is, by setting\n", r.Scheme, r.Lab, r.Objective.Metric)
	err := columns(w, func(w io.Writer) {
		fmt.Fprintln(w, "SETTING\tSEEDS\tRATIO\tCONSTRAINTS")
		for _, t := range trials {
			if t.Invalid {
				fmt.Fprintf(w, "%s\t\t\tthe lab does not hold together with it\n", setting(t.Setting))
				continue
			}
			fmt.Fprintf(w, "%s\t%d\tx%.3f\t%s\n", setting(t.Setting), t.Seeds, t.Objective, held(t.Excess, r.Constraints))
		}
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%s spent. Stored in %s.\n", plural(r.Spent, "point"), r.File)
	switch {
	case r.Winner == nil:
		fmt.Fprintln(w, "No setting is better than the scheme as it is.")
		return nil
	case !r.Improves:
		fmt.Fprintf(w, "Keep the scheme as it is: on other seeds %s has x%.3f (95 %% interval %.3f to %.3f)%s.\n",
			setting(r.Winner), r.Ratio, r.CI95[0], r.CI95[1], broken(r.Excess, r.Constraints))
		return nil
	}
	fmt.Fprintf(w, "On other seeds %s of %s is x%.3f (95 %% interval %.3f to %.3f) with\n  --set %s\n",
		r.Objective.Metric, r.Scheme, r.Ratio, r.CI95[0], r.CI95[1], strings.Join(r.Winner, " --set "))
	return nil
}

func setting(s tune.Setting) string {
	if s == nil {
		return "as it is"
	}
	return strings.Join(s, " ")
}

// held says how far each constraint is kept or broken.
func held(excess []float64, constraints []tune.Constraint) string {
	if len(constraints) == 0 {
		return "none"
	}
	if text := broken(excess, constraints); text != "" {
		return strings.TrimPrefix(text, ", and ")
	}
	return "hold"
}

func broken(excess []float64, constraints []tune.Constraint) string {
	text := ""
	for i, e := range excess {
		if e > 0 {
			text += fmt.Sprintf(", and %s is off by %.1f %%", constraints[i].Text, 100*math.Expm1(e))
		}
	}
	return text
}
