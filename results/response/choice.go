package response

import (
	"fmt"
	"slices"
	"strings"
)

// choice is the values of axes that something is drawn for, one after another: the
// levels by axis. Axes that are not in it are left as they are.
type choice map[int][]int

// choose takes all values of axes.
func (g *grid) choose(axes []int) choice {
	c := make(choice)
	for _, i := range axes {
		for level := range g.axes[i].Values {
			c[i] = append(c[i], level)
		}
	}
	return c
}

// fit leaves out values of the axes, evenly and of the longest first, until what the
// count says is at most a limit.
func (c choice) fit(limit int, count func(choice) int) {
	for count(c) > limit {
		longest := -1
		for i, levels := range c {
			if longest < 0 || len(levels) > len(c[longest]) || len(levels) == len(c[longest]) && i < longest {
				longest = i
			}
		}
		if longest < 0 || len(c[longest]) == 1 {
			return
		}
		all := 1 + slices.Max(c[longest]) // the last value stays until it is the only one
		c[longest] = spread(all, len(c[longest])-1)
	}
}

// spread is n of the levels of an axis at equal distances, both ends among them; one
// is that in the middle.
func spread(levels, n int) []int {
	if n == 1 {
		return []int{levels / 2}
	}
	out := make([]int, n)
	for i := range out {
		out[i] = (i*(levels-1) + (n-1)/2) / (n - 1)
	}
	return out
}

// combinations are the levels of all axes for every combination of the values chosen,
// the first axis changing last.
func (c choice) combinations(axes int) [][]int {
	all := [][]int{slices.Repeat([]int{0}, axes)}
	for i := range axes {
		if len(c[i]) == 0 {
			continue
		}
		var next [][]int
		for _, levels := range all {
			for _, level := range c[i] {
				with := slices.Clone(levels)
				with[i] = level
				next = append(next, with)
			}
		}
		all = next
	}
	return all
}

// size is how many combinations there are.
func (c choice) size() int {
	n := 1
	for _, levels := range c {
		n *= max(1, len(levels))
	}
	return n
}

// left says in words which values of axes are left out, or is empty.
func (g *grid) left(c choice) string {
	var parts []string
	for i, a := range g.axes {
		if levels := c[i]; len(levels) > 0 && len(levels) < len(a.Values) {
			parts = append(parts, fmt.Sprintf("%d of %d values of %s", len(levels), len(a.Values), a.Key))
		}
	}
	return strings.Join(parts, ", ")
}

// held says in words at which values axes are, such as "load 0.9".
func (g *grid) held(axes, levels []int) string {
	var parts []string
	for _, i := range axes {
		if levels[i] == everywhere {
			continue
		}
		parts = append(parts, g.short(i)+" "+g.axes[i].Values[levels[i]])
	}
	return strings.Join(parts, ", ")
}

// short is the last word of an axis' key or, where that is another's too, all of it. A
// key of one scheme stands beside the scheme, so that the word is enough.
func (g *grid) short(axis int) string {
	last := func(key string) string {
		parts := strings.Split(key, Together)
		for i, part := range parts {
			parts[i] = part[strings.LastIndexByte(part, '.')+1:]
		}
		return strings.Join(parts, Together)
	}
	key := g.axes[axis].Key
	for i, other := range g.axes {
		if i != axis && g.shared(axis) && last(other.Key) == last(key) {
			return key
		}
	}
	return last(key)
}

// others are the axes with several values that are not among those named: those that
// all schemes share, or those of one scheme.
func (g *grid) others(named []int, scheme string) (out []int) {
	for i := range g.axes {
		mine := g.shared(i)
		if scheme != "" {
			mine = !g.shared(i) && g.concerns(i, scheme)
		}
		if g.varied(i) && mine && !slices.Contains(named, i) {
			out = append(out, i)
		}
	}
	return out
}
