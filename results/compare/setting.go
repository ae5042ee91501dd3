package compare

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"aqmlab/results/store"
)

// unlike lists in what a run differs from another, of what decides how a point
// is measured: "runtime: sim and netns". Schemes are those whose parameters
// count; nil stands for all that both labs have.
func unlike(a, b *store.Run, schemes []string) []string {
	var out []string
	add := func(name, x, y string) {
		if x != y {
			out = append(out, fmt.Sprintf("%s: %s and %s", name, cmp.Or(x, "none"), cmp.Or(y, "none")))
		}
	}
	for _, f := range store.Fields() {
		// In virtual time modelled hosts know of no kernel.
		if f.Matters || f.Name == "kernel" && !(a.Manifest.Virtual() && b.Manifest.Virtual()) {
			add(f.Name, f.Value(a.Manifest), f.Value(b.Manifest))
		}
	}
	x, y := store.LabKeysOf(a.LabYAML), store.LabKeysOf(b.LabYAML)
	for _, key := range store.UnlikeKeys([]store.LabKeys{x, y}) {
		if s := store.SchemeOf(key); s == "" || schemes == nil || slices.Contains(schemes, s) {
			add("lab key "+key, x.Values[key], y.Values[key])
		}
	}
	return out
}

// apart holds the schemes that are not the same in all runs that have them:
// they have some load and seed twice, or the runs were made in other ways.
func apart(runs []*store.Run) map[string]bool {
	apart := make(map[string]bool)
	for i, a := range runs {
		for _, b := range runs[:i] {
			for _, s := range schemesOf(b) {
				if slices.Contains(schemesOf(a), s) && (overlap(a, b, s) || unlike(a, b, []string{s}) != nil) {
					apart[s] = true
				}
			}
		}
	}
	return apart
}

// schemesOf are those that the run has points of.
func schemesOf(r *store.Run) []string {
	var names []string
	for _, p := range r.Points() {
		if !slices.Contains(names, p.Scheme) {
			names = append(names, p.Scheme)
		}
	}
	return names
}

// overlap tells whether both runs have a scheme at some load and seed.
func overlap(a, b *store.Run, scheme string) bool {
	return slices.ContainsFunc(a.Points(), func(p store.Point) bool {
		return p.Scheme == scheme && slices.ContainsFunc(b.Points(), func(q store.Point) bool {
			return q.Coord == p.Coord
		})
	})
}

// distinct refuses a folder that is given twice: its points would be compared
// with themselves.
func distinct(runs []*store.Run) error {
	seen := make(map[string]bool)
	for _, r := range runs {
		dir, err := filepath.EvalSymlinks(r.Dir)
		if err == nil {
			dir, err = filepath.Abs(dir)
		}
		if err != nil {
			return fmt.Errorf("looking for run %s: %w", r.Dir, err)
		}
		if seen[dir] {
			return fmt.Errorf("run %s is given twice", filepath.Base(dir))
		}
		seen[dir] = true
	}
	return nil
}

// because says in what runs that cannot be compared differ.
func because(runs []*store.Run) string {
	var all []string
	for _, r := range runs[1:] {
		for _, d := range unlike(runs[0], r, nil) {
			if !slices.Contains(all, d) {
				all = append(all, d)
			}
		}
	}
	if all == nil {
		return ""
	}
	return "; the runs differ in " + strings.Join(all, "; ")
}
