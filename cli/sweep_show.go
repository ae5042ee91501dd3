package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"aqmlab/orchestrator/sweep"
	"aqmlab/results"
	"aqmlab/results/response"
	"aqmlab/results/store"
	"aqmlab/switch/port"
)

// showFlags are those of sweep show.
type showFlags struct {
	store, metric, front, out string
	over                      []string
	at                        map[string]string
	asJSON, asCSV             bool
}

func newSweepShow(kinds port.Kinds) *cobra.Command {
	var f showFlags
	c := &cobra.Command{
		Use:   "show [SWEEP]",
		Short: "Show what a sweep has measured so far",
		Long: `Show makes response curves over one axis and heat maps over two, lists the settings
that no other beats in two metrics, and says how far each axis moves each metric.
Without a name, the latest sweep is shown. --out writes a page (.html), or the figures
into a folder as SVG and PDF.`,
		Example: `  aqmlab sweep show
  aqmlab sweep show quickstart-4f97ca0a --over schemes.tcn.threshold --metric all.avg
  aqmlab sweep show --over workload.load,schemes.tcn.threshold --out sweep.html
  aqmlab sweep show --front small.p99,large.avg --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, words []string) error { return f.run(c, words, kinds) },
	}
	fs := c.Flags()
	fs.StringVar(&f.store, "store", sweepsStore, "folder of the points")
	fs.StringSliceVar(&f.over, "over", nil, "one axis, for curves, or two, for heat maps")
	fs.StringVar(&f.metric, "metric", "", "what is shown (small.p99)")
	fs.StringToStringVar(&f.at, "at", nil, "hold an axis at a value: --at workload.load=0.9 (repeatable)")
	fs.StringVar(&f.front, "front", "", "two metrics: the settings that no other beats in both (small.p99,large.avg)")
	fs.StringVar(&f.out, "out", "", "write a page to a file (.html), or figures into a folder")
	fs.BoolVar(&f.asJSON, "json", false, "print JSON")
	fs.BoolVar(&f.asCSV, "csv", false, "print the points as CSV")
	return c
}

func (f *showFlags) run(c *cobra.Command, words []string, kinds port.Kinds) error {
	if f.asJSON && f.asCSV {
		return usage(errors.New("--json and --csv: want one of them"))
	}
	o := response.Options{Metric: f.metric, Over: f.over, At: f.at}
	if f.front != "" {
		a, b, ok := strings.Cut(f.front, ",")
		if !ok {
			return usage(fmt.Errorf("--front %s: want two metrics with a comma between", f.front))
		}
		o.Front = [2]string{a, b}
	}
	s := sweep.Store{Dir: f.store, Kinds: kinds}
	w, err := s.Find(strings.Join(words, ""))
	if err != nil {
		return usage(err)
	}
	set, err := s.Response(w)
	if err != nil {
		return err
	}
	o.Title = "Sweep " + w.Name
	view, err := response.New(set, o)
	if err != nil {
		for _, theirs := range []error{response.ErrNoAxis, response.ErrNoValue, response.ErrNoPoints, results.ErrNoMetric} {
			if errors.Is(err, theirs) {
				return usage(err)
			}
		}
		return err
	}
	if len(set.Points) < len(w.Points) {
		fmt.Fprintf(c.ErrOrStderr(), "%d of %d points are there\n", len(set.Points), len(w.Points))
	}
	out := c.OutOrStdout()
	switch {
	case f.out != "":
		return f.write(c, view)
	case f.asJSON:
		return view.WriteJSON(out)
	case f.asCSV:
		return view.WriteCSV(out)
	}
	return view.WriteText(out)
}

// write writes the page or the figures.
func (f *showFlags) write(c *cobra.Command, view *response.View) error {
	if strings.HasSuffix(f.out, ".html") {
		var page bytes.Buffer
		if err := view.WriteHTML(&page); err != nil {
			return err
		}
		return cmp.Or(store.WriteFile(f.out, page.Bytes()), printWritten(c.OutOrStdout(), f.out))
	}
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	for _, fig := range view.Figures() {
		pdf, err := fig.PDF()
		if err != nil {
			return fmt.Errorf("drawing %s: %w", fig.Name, err)
		}
		for name, content := range map[string][]byte{fig.Name + ".svg": fig.SVG(), fig.Name + ".pdf": pdf} {
			if err := store.WriteFile(filepath.Join(f.out, name), content); err != nil {
				return err
			}
		}
	}
	return printWritten(c.OutOrStdout(), f.out)
}

func printWritten(w io.Writer, path string) error {
	_, err := fmt.Fprintf(w, "Written to %s.\n", path)
	return err
}
