package cli

import (
	"bytes"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"aqmlab/results"
)

func newReport() *cobra.Command {
	var out, baseline string
	c := &cobra.Command{
		Use:   "report RUN...",
		Short: "Write a page with the tables and plots of one or more runs",
		Long: `Report writes one self-contained HTML page, which needs no network. Every
complete run has one of its own already, report.html in its folder; this
command makes one over several runs.`,
		Example: `  aqmlab report results/runs/latest --out report.html`,
		Args:    args(cobra.MinimumNArgs(1)),

		ValidArgsFunction: completeRuns(nil),
		RunE: func(c *cobra.Command, names []string) error {
			runs, err := openRuns(runsDir, names)
			if err != nil {
				return err
			}
			var page bytes.Buffer
			if err := results.Report(&page, runs, baseline); err != nil {
				return usage(err)
			}
			if err := os.WriteFile(out, page.Bytes(), 0o644); err != nil {
				return fmt.Errorf("writing the report: %w", err)
			}
			fmt.Fprintf(c.ErrOrStderr(), "Wrote %s.\n", out)
			return nil
		},
	}
	c.Flags().StringVar(&out, "out", "report.html", "file to write")
	c.Flags().StringVar(&baseline, "baseline", "", "scheme to compare with (default: the first run's)")
	return c
}
