package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"aqmlab/results/store"
)

// runsDir is where runs are stored unless --out says otherwise.
const runsDir = "results/runs"

// addRunsFlag adds the folder whose runs a command knows by their names.
func addRunsFlag(c *cobra.Command, root *string) {
	c.Flags().StringVar(root, "in", runsDir, "folder of the runs")
}

// openRuns opens the runs that the user named, as paths or as names of folders
// below root.
func openRuns(root string, names []string) ([]*store.Run, error) {
	var runs []*store.Run
	for _, name := range names {
		dir, err := store.Find(root, name)
		if err != nil {
			return nil, usage(err)
		}
		run, err := store.Open(dir)
		if err != nil {
			return nil, usage(err)
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// shownName is the name that a run will have when it is whole.
func shownName(e store.Entry) string { return strings.TrimPrefix(e.Name, ".partial-") }
