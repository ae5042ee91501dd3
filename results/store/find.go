package store

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Find is the folder of the run that the user means: a path, or the name of a
// folder below root, of which the "latest" is one. A run that was killed may be
// named without the prefix that its folder still has. The error for an unknown
// one lists the newest of those that there are.
func Find(root, ref string) (dir string, err error) {
	for _, dir := range []string{ref, filepath.Join(root, ref), filepath.Join(root, unfinished+ref)} {
		if info, err := os.Stat(dir); ref != "" && err == nil && info.IsDir() {
			return behindLatest(filepath.Clean(dir)), nil
		}
	}
	entries, err := List(root)
	if err != nil {
		return "", err
	}
	if len(entries) == 0 {
		return "", fmt.Errorf("no run %q: there are no runs in %s", ref, root)
	}
	slices.Reverse(entries)
	var newest []string
	for _, e := range entries[:min(3, len(entries))] {
		newest = append(newest, e.Name)
	}
	return "", fmt.Errorf("no run %q: want a folder, or the name of one in %s; the newest are %s", ref, root, strings.Join(newest, ", "))
}

// behindLatest is the run that "latest" names: a run is known by its own name.
func behindLatest(dir string) string {
	if filepath.Base(dir) != latestLink {
		return dir
	}
	to, err := os.Readlink(dir)
	if err != nil {
		return dir
	}
	return filepath.Join(filepath.Dir(dir), to)
}
