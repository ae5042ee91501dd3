package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"aqmlab/results/serve"
)

func newServe() *cobra.Command {
	var port uint16
	c := &cobra.Command{
		Use:   "serve [DIR]",
		Short: "Show stored runs, and those being made, in a browser",
		Long: `Serve shows a folder of runs (results/runs unless told otherwise) in a browser
until it is interrupted: a list to filter, reports that compare chosen runs, and
how far the runs are that are being made.

It listens on ` + serve.Address + ` only. From another machine, forward the port:
ssh -L 8470:localhost:8470 HOST`,
		Example: `  aqmlab serve
  aqmlab serve reproduce/record/tcn-fig6 --port 0`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, dirs []string) error {
			dir := runsDir
			if len(dirs) > 0 {
				dir = dirs[0]
				if info, err := os.Stat(dir); err != nil {
					return usage(fmt.Errorf("serving runs: %w", err))
				} else if !info.IsDir() {
					return usage(fmt.Errorf("serving runs: %s is not a folder", dir))
				}
			}
			return serve.Listen(c.Context(), dir, port, func(url string) {
				fmt.Fprintf(c.ErrOrStderr(), "Serving %s at %s until interrupted (Ctrl-C).\n", dir, url)
			})
		},
	}
	c.Flags().Uint16Var(&port, "port", 8470, "TCP port of "+serve.Address+"; 0: any that is free")
	return c
}
