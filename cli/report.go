package cli

import (
	"bytes"
	"fmt"
	"os"

	"aqmlab/results/report"

	"github.com/spf13/cobra"
)

func newReport() *cobra.Command {
	var out, plots, baseline string
	c := &cobra.Command{
		Use:   "report RUN...",
		Short: "Write a page with the tables and plots of one or more runs",
		Long: `Report writes one self-contained HTML page, which needs no network. Every
complete run has one of its own already, report.html in its folder; this
command makes one over several runs.

With --plots, every figure is written as a file of its own, too: SVG, and PDF
with its fonts inside, legible at the width of a column.`,
		Example: `  aqmlab report results/runs/latest --out report.html
  aqmlab report results/runs/latest --plots figures`,
		Args: cobra.MinimumNArgs(1),

		ValidArgsFunction: completeRuns(nil),
		RunE: func(c *cobra.Command, names []string) error {
			runs, err := openRuns(runsDir, names)
			if err != nil {
				return err
			}
			page, err := report.NewPage(runs, baseline)
			if err != nil {
				return usage(err)
			}
			var html bytes.Buffer
			if err := page.WriteHTML(&html); err != nil {
				return err
			}
			if err := os.WriteFile(out, html.Bytes(), 0o644); err != nil {
				return fmt.Errorf("writing the report: %w", err)
			}
			fmt.Fprintf(c.ErrOrStderr(), "Wrote %s.\n", out)
			if plots == "" {
				return nil
			}
			n, err := page.WritePlots(plots)
			if err != nil {
				return err
			}
			fmt.Fprintf(c.ErrOrStderr(), "Wrote %s as SVG and PDF to %s.\n", plural(n, "figure"), plots)
			return nil
		},
	}
	c.Flags().StringVar(&out, "out", "report.html", "file to write")
	c.Flags().StringVar(&plots, "plots", "", "folder for every figure as SVG and PDF, made if need be")
	c.Flags().StringVar(&baseline, "baseline", "", "scheme to compare with (default: the first run's)")
	completeFlag(c, "baseline", completeBaseline)
	return c
}
