package cli

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"aqmlab/kind"
	"aqmlab/switch/port"
	"aqmlab/trafficgen"
	"aqmlab/trafficgen/traffic"
	"aqmlab/trafficgen/transport"
	"aqmlab/units"
)

func newScheme(kinds port.Kinds) *cobra.Command {
	return kindCommand("scheme", "AQM schemes that a lab may compare", "tcn", slices.Concat(kinds.Schemes().Entries(), port.Gates().Entries()))
}

func newScheduler(kinds port.Kinds) *cobra.Command {
	return kindCommand("scheduler", "Disciplines that share a port among its queues", "dwrr", kinds.Schedulers().Entries())
}

func newTransport() *cobra.Command {
	return kindCommand("transport", "Transports that a lab's hosts may use", "dctcp", transport.Table().Entries())
}

// kindCommand makes the list and show commands of a table's entries.
func kindCommand(use, short, example string, known []kind.Entry) *cobra.Command {
	return group(use, short, listCommand(use, known), showCommand(use, example, known))
}

// find returns the entry of that name; the usage error for an unknown one lists them.
func find(known []kind.Entry, name string) (kind.Entry, error) {
	names := make([]string, len(known))
	for i, e := range known {
		if e.Name == name {
			return e, nil
		}
		names[i] = e.Name
	}
	return kind.Entry{}, usage(kind.Unknown("kind", name, names))
}

func listCommand(use string, entries []kind.Entry) *cobra.Command {
	return shown(&cobra.Command{
		Use:     "list",
		Short:   "List every " + use,
		Example: "  aqmlab " + use + " list",
	}, func(*cobra.Command, []string) ([]kind.Entry, error) { return entries, nil }, printEntries)
}

func showCommand(use, example string, known []kind.Entry) *cobra.Command {
	return shown(&cobra.Command{
		Use:               "show NAME",
		Short:             "Show the parameters of one " + use,
		Example:           "  aqmlab " + use + " show " + example,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeEntries(known),
	}, func(_ *cobra.Command, names []string) (kind.Entry, error) { return find(known, names[0]) }, printEntry)
}

func printEntries(w io.Writer, entries []kind.Entry) error {
	return columns(w, func(w io.Writer) {
		for _, e := range entries {
			fmt.Fprintf(w, "%s\t%s\n", e.Name, e.Doc)
		}
	})
}

func printEntry(w io.Writer, e kind.Entry) error {
	fmt.Fprintf(w, "%s: %s\n", e.Name, e.Doc)
	if e.Note != "" {
		fmt.Fprintln(w, e.Note)
	}
	if len(e.Params) == 0 {
		fmt.Fprintln(w, "It takes no parameters.")
		return nil
	}
	return columns(w, func(w io.Writer) {
		fmt.Fprintln(w, "\nPARAMETER\tTYPE\tDEFAULT\tMEANING")
		for _, p := range e.Params {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s%s\n", p.Name, p.Type, p.Default, p.Doc, tunable(p))
		}
	})
}

// tunable says in which range a parameter is searched.
func tunable(p kind.Param) string {
	if p.Tune == "" {
		return ""
	}
	return " (tuned from " + strings.Replace(p.Tune, "..", " to ", 1) + ")"
}

func newWorkload() *cobra.Command {
	known := slices.Concat(trafficgen.Sizes().Entries(), trafficgen.Arrivals().Entries())
	return group("workload", "Flow sizes and arrivals that a lab may draw from",
		listCommand("workload", known), showWorkload(known))
}

// workload is a row of one of the tables, and what a distribution of sizes
// looks like.
type workload struct {
	kind.Entry
	Summary *trafficgen.Summary `json:"summary,omitempty"`
	Sample  []int64             `json:"sample_bytes,omitempty"`

	sizes trafficgen.Distribution // nil: none, or one that lacks parameters
}

// workloadOptions are the flags of workload show.
type workloadOptions struct {
	set    map[string]string
	sample int
	seed   uint64
}

func showWorkload(known []kind.Entry) *cobra.Command {
	var o workloadOptions
	c := shown(&cobra.Command{
		Use:   "show NAME",
		Short: "Show the parameters of one workload, and how large its flows are",
		Example: `  aqmlab workload show websearch
  aqmlab workload show cdf --set file=sizes.csv --sample 20`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeEntries(known),
	}, func(_ *cobra.Command, names []string) (workload, error) {
		e, err := find(known, names[0])
		if err != nil {
			return workload{}, err
		}
		w, err := describeWorkload(e, o)
		return w, usage(err)
	}, printWorkload)
	c.Flags().StringToStringVar(&o.set, "set", nil, "parameters of the distribution, such as mean=50KB,shape=1.2")
	c.Flags().IntVar(&o.sample, "sample", 0, "list the sizes of that many flows, drawn at random")
	c.Flags().Uint64Var(&o.seed, "seed", 1, "seed of the sample")
	return c
}

func describeWorkload(e kind.Entry, o workloadOptions) (workload, error) {
	const most = 10_000_000
	w := workload{Entry: e}
	if o.sample < 0 || o.sample > most {
		return w, fmt.Errorf("--sample: %d is outside 0 to %d", o.sample, most)
	}
	d, err := trafficgen.Sizes().New(e.Name, parameters(o.set), trafficgen.Env{})
	if !slices.Contains(trafficgen.Sizes().Names(), e.Name) {
		err = fmt.Errorf("%s is no distribution of sizes: --set and --sample are for these", e.Name)
	}
	if err != nil && len(o.set) == 0 && o.sample == 0 {
		return w, nil // it has no sizes, or its parameters have no default
	}
	if err != nil {
		return w, err
	}
	summary := trafficgen.Summarize(d)
	w.sizes, w.Summary, w.Sample = d, &summary, trafficgen.Sample(d, o.sample, o.seed)
	return w, nil
}

// parameters gives texts the type that they would have in a lab file.
func parameters(set map[string]string) map[string]any {
	made := make(map[string]any, len(set))
	for name, text := range set {
		made[name] = text
		if number, err := strconv.ParseFloat(text, 64); err == nil {
			made[name] = number
		}
	}
	return made
}

func printWorkload(w io.Writer, shown workload) error {
	if err := printEntry(w, shown.Entry); err != nil || shown.Summary == nil {
		return err
	}
	fmt.Fprintf(w, "\nmean %s, standard deviation %s\n\n", bytesText(shown.Summary.Mean), bytesText(shown.Summary.Deviation))
	printCDF(w, shown.sizes)
	return numbers(w, func(w io.Writer) {
		fmt.Fprintln(w, "\nCLASS\tUP TO\tFLOWS\tBYTES\t")
		for _, c := range shown.Summary.Classes {
			fmt.Fprintf(w, "%s\t%s\t%.2f %%\t%.2f %%\t\n", c.Name, bytesText(c.UpTo), 100*c.Flows, 100*c.Bytes)
		}
		fmt.Fprintln(w, "\nQUANTILE\tUP TO\t")
		for _, q := range shown.Summary.Quantiles {
			fmt.Fprintf(w, "%.3g %%\t%s\t\n", 100*q.Share, bytesText(q.Bytes))
		}
		if len(shown.Sample) > 0 {
			fmt.Fprintln(w, "\nFLOW\tBYTES\t")
		}
		for i, bytes := range shown.Sample {
			fmt.Fprintf(w, "%d\t%d\t\n", i, bytes)
		}
	})
}

// bytesText is a size in three digits or so.
func bytesText(bytes float64) string {
	if bytes >= traffic.MaxBytes {
		return "1TiB"
	}
	digits := math.Pow(10, max(0, math.Floor(math.Log10(max(bytes, 1)))-2))
	return units.Size(math.Round(bytes/digits) * digits).String()
}

// printCDF draws the share of flows over their size, in steps of a twentieth
// and of a twelfth of a power of ten.
func printCDF(w io.Writer, d trafficgen.Distribution) {
	const rows, columns = 20, 12
	decade := func(p float64) float64 { return math.Log10(max(d.Quantile(p), 1)) }
	low, high := math.Floor(decade(0.001)), math.Ceil(decade(0.999))
	high = max(high, low+1)
	for row := rows; row > 0; row-- {
		from := decade((float64(row) - 0.5) / rows)
		at := min(int((from-low)*columns), int(high-low)*columns)
		fmt.Fprintf(w, "%4d %% |%s%s\n", row*100/rows, strings.Repeat(" ", at), strings.Repeat("#", int(high-low)*columns-at))
	}
	fmt.Fprintf(w, "       +%s\n       ", strings.Repeat(strings.Repeat("-", columns-1)+"+", int(high-low)))
	for power := low; power < high; power++ {
		fmt.Fprintf(w, "%-*s", columns, bytesText(math.Pow(10, power)))
	}
	fmt.Fprintln(w, bytesText(math.Pow(10, high)))
}
