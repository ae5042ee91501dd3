package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"aqmlab/kind"
	"aqmlab/labs"
	"aqmlab/results/store"
	"aqmlab/switch/port"
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
		entries, err := store.List(in)
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

// completeLabs proposes the labs of the book for the first argument, and files.
func completeLabs(_ *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(given) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	book, err := labs.Book()
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var words []string
	for _, e := range book {
		words = append(words, e.Name+"\t"+e.Title)
	}
	return words, cobra.ShellCompDirectiveDefault
}

// completeEntries proposes the rows of a table for the only argument.
func completeEntries(known []kind.Entry) completion {
	return func(_ *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
		var words []string
		for _, e := range known {
			if len(given) == 0 {
				words = append(words, e.Name+"\t"+e.Doc)
			}
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeSchemes proposes the schemes of the lab that is given.
func completeSchemes(kinds port.Kinds) completion {
	return func(_ *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(given) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		lab, err := labs.Load(given[0], labs.Options{Kinds: kinds})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var words []string
		for _, s := range lab.Schemes {
			words = append(words, s.Name)
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeBaseline proposes the schemes of the runs that are given.
func completeBaseline(_ *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
	runs, err := openRuns(runsDir, given)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var words []string
	for _, r := range runs {
		for _, s := range r.Manifest.Schemes {
			if !slices.Contains(words, s) {
				words = append(words, s)
			}
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// completeFlag sets what is proposed for a flag that the command has.
func completeFlag(c *cobra.Command, flag string, words completion) {
	if err := c.RegisterFlagCompletionFunc(flag, words); err != nil {
		panic(err) // the command does not have the flag
	}
}

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
