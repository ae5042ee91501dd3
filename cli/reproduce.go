package cli

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"aqmlab/orchestrator"
	"aqmlab/orchestrator/backend"
	"aqmlab/reproduce"
	"aqmlab/reproduce/card"
	"aqmlab/results"
	"aqmlab/switch/port"
)

// reproductionDir is where the card of published experiments is unless --out says
// otherwise.
const reproductionDir = "reproduce/record"

// chosenScale is the one scale whose flag is set.
func chosenScale(c *cobra.Command) (reproduce.Scale, error) {
	var chosen []reproduce.Scale
	for _, s := range reproduce.Scales() {
		if set, _ := c.Flags().GetBool(string(s.Scale)); set {
			chosen = append(chosen, s.Scale)
		}
	}
	if len(chosen) > 1 {
		return "", fmt.Errorf("--%s and --%s: want one of them", chosen[0], chosen[1])
	}
	return append(chosen, reproduce.Standard)[0], nil
}

// reproduceFlags are what the user of reproduce wants.
type reproduceFlags struct {
	reproduce.Options
	since                      string
	cardOnly, planOnly, asJSON bool
}

func (f *reproduceFlags) add(c *cobra.Command) {
	fs := c.Flags()
	for _, s := range reproduce.Scales() {
		fs.Bool(string(s.Scale), false, s.Doc)
	}
	fs.StringVar((*string)(&f.Runtime), "runtime", string(orchestrator.Simulator()), "where the hosts run: "+strings.Join(reproduce.Runtimes(), ", "))
	completeFlag(c, "runtime", cobra.FixedCompletions(reproduce.Runtimes(), cobra.ShellCompDirectiveNoFileComp))
	addKernel(c, &f.Kernel)
	fs.IntVar(&f.Jobs, "jobs", 0, "points that run at once in virtual time; 0: one a CPU")
	fs.StringVar(&f.Out, "out", reproductionDir, "folder of the card, its records and runs")
	fs.Float64SliceVar(&f.Loads, "loads", nil, "only these of the scale's loads: 0.6,0.9")
	fs.Lookup("loads").DefValue = "" // the help would show an empty list
	fs.IntVar(&f.Flows, "flows", 0, "flows a point instead of the scale's, at most the published number")
	fs.IntVar(&f.Seeds, "seeds", 0, "seeds a point instead of the scale's: 3 is 1, 2 and 3")
	fs.StringVar(&f.since, "since", "", "run anew what was measured before: a date, or a time such as 2026-11-20T15:04:05Z")
	fs.BoolVar(&f.planOnly, "plan", false, "list what would be run, with the time that it takes, and run nothing")
	fs.BoolVar(&f.cardOnly, "card", false, "print the score card of what is stored, and run nothing")
	fs.BoolVar(&f.asJSON, "json", false, "print the card as JSON")
}

// plan is of the experiments that the names stand for. Its errors are the user's.
func (f *reproduceFlags) plan(c *cobra.Command, names []string) (*reproduce.Plan, error) {
	if len(names) == 0 {
		names = []string{reproduce.All}
	}
	if f.planOnly && (f.cardOnly || f.asJSON) {
		return nil, errors.New("--plan lists what would be run: want it without --card and --json")
	}
	if err := checkKernel(f.Kernel, f.Runtime); err != nil {
		return nil, err
	}
	if err := checkGuestVersion(f.Kernel); err != nil {
		return nil, err
	}
	if f.Jobs < 0 {
		return nil, fmt.Errorf("--jobs %d: want 0 (one a CPU) or more", f.Jobs)
	}
	if f.Flows < 0 || c.Flags().Changed("flows") && f.Flows == 0 {
		return nil, fmt.Errorf("--flows %d: want 1 or more", f.Flows)
	}
	if f.Seeds < 0 || f.Seeds > reproduce.MostSeeds || c.Flags().Changed("seeds") && f.Seeds == 0 {
		return nil, fmt.Errorf("--seeds %d: want 1 to %d", f.Seeds, reproduce.MostSeeds)
	}
	var err error
	if f.Scale, err = chosenScale(c); err != nil {
		return nil, err
	}
	if f.Since, err = moment(f.since); err != nil {
		return nil, fmt.Errorf("--since: %w", err)
	}
	f.Log = c.ErrOrStderr()
	return reproduce.New(names, f.Options)
}

// measuredBy is the command as records have it: without what changes nothing of what is
// measured, such as where the records of this machine lie.
func measuredBy(args []string) string {
	words := []string{"aqmlab"}
	for i := 0; i < len(args); i++ {
		name, _, whole := strings.Cut(args[i], "=")
		if name != "--out" && name != "--jobs" {
			words = append(words, args[i])
		} else if !whole {
			i++ // the value
		}
	}
	return strings.Join(words, " ")
}

func newReproduce(kinds port.Kinds) *cobra.Command {
	f := reproduceFlags{Options: reproduce.Options{Kinds: kinds, Command: measuredBy(os.Args[1:])}}
	c := &cobra.Command{
		Use:   "reproduce [EXPERIMENT|CLAIM|PAPER|all]...",
		Args:  cobra.ArbitraryArgs,
		Short: "Re-run published experiments and score the papers' claims",
		Long: `Reproduce runs the labs of published experiments with the papers' parameters,
and prints each claim beside what was measured here. A claim is reproduced when
the direction is the same and the difference within 10 percentage points of the
published one, or better. It is established when the difference is also near the
published one on the other side, and not by chance.

Every point is stored as soon as it is done, and every experiment recorded in the
folder of the card (--out), with a page of all claims. After an interruption the
same command goes on where it was, and what the records hold is not run again
unless its lab has changed, or it was measured before --since. --card prints what
there is without running anything, --plan what would be run, with the time that it takes
on this machine. Real hosts (--runtime other than sim) run the experiments that the paper
ran on a testbed. An experiment is named as tcn-fig3 or tcn/fig3. The name of a claim,
tcn-fig3-c1, runs of its experiment the points that this claim needs. Without a name, all
experiments of all papers are meant.`,
		Example: `  aqmlab reproduce tcn --quick
  aqmlab reproduce tcn-fig6 --full --jobs 4
  aqmlab reproduce all --headline
  aqmlab reproduce mqecn-fig7 --runtime uml --loads 0.5,0.9 --flows 5000
  aqmlab reproduce tcn-fig10-c7 --full --loads 0.9 --seeds 4
  sudo aqmlab reproduce tcn-fig6 --runtime netns
  aqmlab reproduce all --plan
  aqmlab reproduce tcn --since 2026-11-20
  aqmlab reproduce all --card --json`,
		RunE: func(c *cobra.Command, names []string) error {
			plan, err := f.plan(c, names)
			if err != nil {
				return usage(err)
			}
			if !f.cardOnly {
				for _, text := range plan.Warnings {
					fmt.Fprintln(c.ErrOrStderr(), "warning:", text)
				}
			}
			switch {
			case f.planOnly:
				return explain(showPlan(c, plan))
			case !f.cardOnly:
				err = runPlan(c, plan)
			}
			return errors.Join(explain(err), showCard(c, plan, f.asJSON))
		},
	}
	f.add(c)
	return confined(c, func() backend.Facts {
		if f.cardOnly || f.planOnly {
			return backend.Facts{}
		}
		return f.Runtime.Facts()
	})
}

// moment reads a date or a time; none is the zero time.
func moment(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q: want a date like 2026-11-20, or a time like 2026-11-20T15:04:05Z", text)
}

// todo is what is not stored yet, with the time that it takes.
func todo(c *cobra.Command, plan *reproduce.Plan) (reproduce.Todo, error) {
	t, err := plan.Todo()
	if err != nil {
		return t, err
	}
	return t, plan.Calibrate(c.Context(), &t)
}

// showPlan lists the experiments that have points to run, the dearest first.
func showPlan(c *cobra.Command, plan *reproduce.Plan) error {
	t, err := todo(c, plan)
	if err != nil {
		return err
	}
	out := c.OutOrStdout()
	err = numbers(out, func(w io.Writer) {
		fmt.Fprintln(w, "experiment\tpoints\ttime\t")
		papers := make(map[string]time.Duration)
		for _, s := range t.ByExperiment() {
			fmt.Fprintf(w, "%s\t%d\t%s\t\n", s.Experiment, s.Points, roughly(s.Takes))
			papers[s.Paper] += s.Takes
		}
		for _, paper := range slices.Sorted(maps.Keys(papers)) {
			fmt.Fprintf(w, "all of %s\t\t%s\t\n", paper, roughly(papers[paper]))
		}
	})
	if err != nil {
		return fmt.Errorf("printing the plan: %w", err)
	}
	printTodo(out, plan, t)
	return nil
}

// printTodo prints how much there is to run.
func printTodo(w io.Writer, plan *reproduce.Plan, t reproduce.Todo) {
	fmt.Fprintf(w, "%s scale, runtime %s: %s to run, %d stored; about %s\n", plan.Scale, plan.Runtime, plural(t.Points, "point"), t.Stored, roughly(t.Takes))
}

// runPlan runs what is not stored yet.
func runPlan(c *cobra.Command, plan *reproduce.Plan) error {
	w := c.ErrOrStderr()
	todo, err := todo(c, plan)
	if err != nil {
		return err
	}
	printTodo(w, plan, todo)
	warnOfRevision(w, plan, todo)
	defer hold(c)()
	return plan.Run(c.Context(), todo, func(p reproduce.Progress) { printProgress(w, p) })
}

// warnOfRevision says that records will not name what measured them. Those of the quick scale
// are no results.
func warnOfRevision(w io.Writer, plan *reproduce.Plan, t reproduce.Todo) {
	if _, revision := results.ThisBuild(); revision == results.UnknownRevision && t.Points > 0 && plan.Scale != reproduce.Quick {
		fmt.Fprintln(w, "warning: this program does not know its git revision, so records cannot name it: build it in a clone, by make build")
	}
}

// roughly drops digits that an estimate does not have.
func roughly(d time.Duration) string {
	switch {
	case d > 10*time.Hour:
		return fmt.Sprintf("%.0f hours", d.Hours())
	case d > 10*time.Minute:
		return fmt.Sprintf("%.0f minutes", d.Minutes())
	}
	return d.Round(time.Second).String()
}

func showCard(c *cobra.Command, plan *reproduce.Plan, asJSON bool) error {
	scores, err := plan.Card()
	if err != nil {
		return err
	}
	out := c.OutOrStdout()
	if asJSON {
		return printJSON(out, card.ToJSON(scores, string(plan.Scale)))
	}
	fmt.Fprintf(out, "Score card, %s scale. Differences are from the baseline; intervals are of 95 %%.\n", plan.Scale)
	if plan.Scale == reproduce.Quick {
		fmt.Fprintln(out, "QUICK: few flows, few loads, one seed. This shows that everything runs, and which way")
		fmt.Fprintln(out, "the larger differences point; it is no reproduction. Use --standard or --full for that.")
	}
	fmt.Fprintln(out)
	return card.WriteText(out, scores)
}
