package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"aqmlab/results"
)

// completion proposes words for an argument or a flag.
type completion = func(c *cobra.Command, given []string, word string) ([]string, cobra.ShellCompDirective)

// completeRuns proposes the runs below root that were not given yet, the newest
// first, with their states, and folders. Without a root it is runsDir.
func completeRuns(root *string) completion {
	return func(_ *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
		in := runsDir
		if root != nil {
			in = *root
		}
		entries, err := results.List(in)
		if err != nil || len(entries) == 0 {
			return nil, cobra.ShellCompDirectiveFilterDirs
		}
		var words []string
		add := func(name, doc string) {
			if !slices.Contains(given, name) {
				words = append(words, name+"\t"+doc)
			}
		}
		add("latest", "the newest")
		for _, e := range slices.Backward(entries) {
			add(shownName(e), string(e.State))
		}
		return words, cobra.ShellCompDirectiveKeepOrder
	}
}
