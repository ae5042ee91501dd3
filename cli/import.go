package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"aqmlab/kind"
	"aqmlab/results"
	"aqmlab/results/foreign"
	"aqmlab/results/report"
)

// importFlags are those of results import.
type importFlags struct {
	in, out, like, format string
	scheme, transport     string
	load                  float64
	seed                  uint64
}

func importResults() *cobra.Command {
	var f importFlags
	c := shown(&cobra.Command{
		Use:   "import FILE --like RUN --format FORMAT",
		Short: "Store what another simulator said of the flows of a run, to be compared",
		Long: `Import reads the flow completion times that another simulator wrote when it replayed
the trace of a run, and stores them as a run of its own, which compare and report take
beside those of aqmlab.

RUN is the run whose trace was replayed (results export RUN --csv --table flows prints it).
Flows are matched with those of the trace, and refused where they are others. Formats:

` + formatLines() + `
FlowMonitor does not number flows as the trace does: every flow must be one connection that
begins when the trace says, or all of them must be later by the same time. In htsim's
connection matrix the id of a flow must be its flow_id and one. Both write six digits of a
time: the command says how far completion times may be off.`,
		Example: `  aqmlab results import flowmon.xml --format flowmonitor --like latest
  aqmlab results import htsim.log --format htsim --like latest --scheme htsim-dctcp
  aqmlab compare latest results/runs/20260101T000000Z-quickstart-0123abcd`,
		Args: cobra.ExactArgs(1),
	}, f.run, func(w io.Writer, i imported) error {
		_, err := fmt.Fprintf(w, "Stored in %s: %d flows; completion times are exact to %v.\n", i.Dir, i.Flows, i.Exact)
		return err
	})
	c.Flags().StringVar(&f.like, "like", "", "run whose trace was replayed: a folder, or the name of one below --in")
	c.Flags().StringVar(&f.format, "format", "", "what wrote the file: "+strings.Join(formatNames(), ", "))
	c.Flags().StringVar(&f.scheme, "scheme", "", "name of the scheme in comparisons (default: that of the simulator)")
	c.Flags().StringVar(&f.transport, "transport", "unknown", "what the hosts of the simulation spoke, for readers")
	c.Flags().Float64Var(&f.load, "load", 0, "load of the trace, where the run has several")
	c.Flags().Uint64Var(&f.seed, "seed", 0, "seed of the trace, where the run has several")
	c.Flags().StringVar(&f.out, "out", runsDir, "folder for the run")
	addRunsFlag(c, &f.in)
	completeFlag(c, "like", completeRuns(&f.in))
	completeFlag(c, "format", cobra.FixedCompletions(formatNames(), cobra.ShellCompDirectiveNoFileComp))
	return c
}

func formatNames() (names []string) {
	for _, f := range foreign.Formats() {
		names = append(names, f.Name)
	}
	return names
}

func formatLines() string {
	var b strings.Builder
	for _, f := range foreign.Formats() {
		fmt.Fprintf(&b, "  %-12s %s\n", f.Name, f.Doc)
	}
	return b.String()
}

// formatOf is the format of a name.
func formatOf(name string) (foreign.Format, error) {
	for _, f := range foreign.Formats() {
		if f.Name == name {
			return f, nil
		}
	}
	return foreign.Format{}, fmt.Errorf("--format: %w", kind.Unknown("format", name, formatNames()))
}

// imported is what was stored.
type imported struct {
	Dir   string         `json:"dir"`
	Flows int            `json:"flows"`
	Exact results.Micros `json:"exact_us"` // how far completion times may be off
}

func (f *importFlags) run(c *cobra.Command, files []string) (done imported, err error) {
	format, err := formatOf(f.format)
	if err != nil {
		return done, usage(err)
	}
	if f.like == "" {
		return done, usage(errors.New("--like: want the run whose trace was replayed"))
	}
	runs, err := openRuns(f.in, []string{f.like})
	if err != nil {
		return done, err
	}
	var load *float64
	var seed *uint64
	if c.Flags().Changed("load") {
		load = &f.load
	}
	if c.Flags().Changed("seed") {
		seed = &f.seed
	}
	stored, err := foreign.TraceOf(runs[0], load, seed)
	if err != nil {
		return done, usage(err)
	}
	trace, err := stored.ReadFlows()
	if err != nil {
		return done, err
	}
	seen, err := format.ReadFile(files[0])
	if err != nil {
		return done, usage(err)
	}
	origin := foreign.Origin{Format: format, Scheme: cmp.Or(f.scheme, format.Simulator), Transport: f.transport}
	dir, exact, err := origin.Store(f.out, runs[0], trace, seen, report.Describe)
	if err != nil {
		return done, usage(fmt.Errorf("importing %s: %w", files[0], err))
	}
	return imported{dir, len(trace.Flows), results.Micros(exact)}, nil
}
