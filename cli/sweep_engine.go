package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"aqmlab/kind"
	"aqmlab/orchestrator/sweep"
	"aqmlab/orchestrator/sweep/engine"
	"aqmlab/switch/port"
)

// engineFlags are --engine and the parameters of all engines: --ENGINE-PARAMETER.
type engineFlags struct {
	name  string
	texts map[string]*string   // of flags that take one value
	lists map[string]*[]string // of those that may be repeated
}

// add adds the flags to a command.
func (f *engineFlags) add(c *cobra.Command) {
	rows := engine.Table()
	f.texts, f.lists = make(map[string]*string), make(map[string]*[]string)
	fs := c.Flags()
	fs.StringVar(&f.name, "engine", rows[0].Name, "who measures: "+strings.Join(rows.Names(), ", "))
	completeFlag(c, "engine", cobra.FixedCompletions(rows.Names(), cobra.ShellCompDirectiveNoFileComp))
	for _, row := range rows {
		for _, p := range row.Params {
			flag := row.Name + "-" + p.Name
			if strings.HasPrefix(p.Type, "list") {
				f.lists[flag] = fs.StringArray(flag, nil, p.Doc)
			} else {
				f.texts[flag] = fs.String(flag, p.Default, p.Doc)
			}
		}
	}
}

// engine is the one that the flags describe.
func (f *engineFlags) engine(c *cobra.Command) (sweep.Engine, error) {
	params := make(map[string]any)
	for _, row := range engine.Table() {
		for _, p := range row.Params {
			flag := row.Name + "-" + p.Name
			switch {
			case !c.Flags().Changed(flag):
			case row.Name != f.name:
				return sweep.Engine{}, fmt.Errorf("--%s: the engine is %s: want it beside --engine %s", flag, f.name, row.Name)
			case f.texts[flag] != nil:
				params[p.Name] = kind.Text(*f.texts[flag])
			default:
				var list []any
				for _, text := range *f.lists[flag] {
					list = append(list, kind.Text(text))
				}
				params[p.Name] = list
			}
		}
	}
	e, err := engine.New(f.name, params)
	var bad *kind.ParamError
	switch {
	case errors.As(err, &bad):
		return e, fmt.Errorf("--%s-%s: %w", f.name, bad.Param, bad.Err)
	case err != nil:
		return e, fmt.Errorf("--engine: %w", err)
	}
	return e, nil
}

// attach follows a sweep of the store that was given to an engine earlier.
func (f *sweepFlags) attach(c *cobra.Command, kinds port.Kinds) error {
	var others []string
	c.Flags().Visit(func(given *pflag.Flag) {
		if !slices.Contains([]string{"attach", "store", "retry"}, given.Name) {
			others = append(others, "--"+given.Name)
		}
	})
	if others != nil {
		return usage(fmt.Errorf("--attach: the sweep keeps what it was begun with: want no %s", strings.Join(others, ", ")))
	}
	s := sweepStore(c, f.store, kinds)
	w, e, jobs, err := engineOf(s, f.attached)
	if err != nil {
		return err
	}
	f.jobs = jobs
	return f.measure(c, s, w, e)
}

// engineOf finds a sweep of a store that was given to an engine.
func engineOf(s sweep.Store, name string) (*sweep.Sweep, sweep.Engine, int, error) {
	w, err := s.Sweep(name)
	if err != nil {
		return nil, sweep.Engine{}, 0, usage(fmt.Errorf("%w (aqmlab sweep list --store %s lists them)", err, s.Dir))
	}
	e, jobs, err := engine.Of(w)
	if errors.Is(err, engine.ErrNone) {
		err = usage(fmt.Errorf("%w; the command that began it goes on where it was", err))
	}
	return w, e, jobs, err
}

// newSweepCancel ends what goes on for a sweep.
func newSweepCancel(kinds port.Kinds) *cobra.Command {
	c := &cobra.Command{
		Use: "cancel SWEEP", Short: "Cancel the jobs that a sweep has on a cluster",
		Long: `Cancel ends the jobs of a sweep that wait or run. What is stored stays: the command
that began the sweep goes on with the rest.`,
		Example: `  aqmlab sweep cancel quickstart-1a2b3c4d --store /shared/sweeps`,
		Args:    cobra.ExactArgs(1),
	}
	dir := c.Flags().String("store", sweepsStore, "folder of the points")
	return shown(c, func(c *cobra.Command, words []string) (sweep.Cancelled, error) {
		s := sweepStore(c, *dir, kinds)
		w, e, _, err := engineOf(s, words[0])
		if err != nil {
			return sweep.Cancelled{}, err
		}
		cancelled, err := s.Cancel(c.Context(), e, w)
		return cancelled, explain(err)
	}, func(w io.Writer, done sweep.Cancelled) error {
		_, err := fmt.Fprintf(w, "cancelled %s; %d of %s are stored\n", plural(done.Jobs, "job"), done.Stored, plural(done.Points, "measurement"))
		return err
	})
}
