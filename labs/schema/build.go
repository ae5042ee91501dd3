package schema

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"aqmlab/kind"
)

// BuildOf is [Build] of a row of the table, for the choice at a path.
func BuildOf[E, T any](r *Reader, path string, chosen kind.Choice, table kind.Table[E, T], env E) T {
	return Build(r, r.Choice(path), chosen, func(params map[string]any) (T, error) {
		return table.New(chosen.Kind, params, env)
	})
}

// Build makes what a choice names, only to see whether it can be made. It
// reports every parameter that is wrong: having reported one, it tries again
// without. It answers the zero T when nothing could be made.
func Build[T any](r *Reader, c Choice, chosen kind.Choice, try func(params map[string]any) (T, error)) (made T) {
	if !r.Sound(c.KindPath()) {
		return made
	}
	params := maps.Clone(chosen.Params)
	for {
		got, err := try(params)
		if err == nil {
			return got
		}
		var pe *kind.ParamError
		if !errors.As(err, &pe) || pe.Param == "" {
			r.Fail(c.KindPath(), "%w", err)
			return made
		}
		path := join(c.Path, pe.Param)
		if r.Sound(path) {
			r.Fail(path, "%w", r.hint(c, pe))
		}
		if _, given := params[pe.Param]; !given {
			return made
		}
		delete(params, pe.Param)
	}
}

// hint adds to the error for an unknown parameter the key beside the parameters
// that may have been meant.
func (r *Reader) hint(c Choice, pe *kind.ParamError) error {
	near := kind.Nearest(pe.Param, r.schema.below(c.Path))
	if near == "" || near == pe.Param || !errors.Is(pe.Err, kind.ErrUnknown) {
		return pe.Err
	}
	return fmt.Errorf("%w (did you mean %s?)", pe.Err, near)
}

// RefuseUnused refuses the parameters that only other kinds of the choice take.
func (r *Reader) RefuseUnused(c Choice, chosen kind.Choice) {
	for _, name := range slices.Sorted(maps.Keys(chosen.Params)) {
		var takers []string
		for _, row := range c.Rows {
			if slices.ContainsFunc(row.Params, func(p kind.Param) bool { return p.Name == name }) {
				takers = append(takers, row.Name)
			}
		}
		if len(takers) > 0 && !slices.Contains(takers, chosen.Kind) {
			r.Fail(join(c.Path, name), "not used when %s is %s: want %s", c.KindPath(), chosen.Kind, strings.Join(takers, " or "))
		}
	}
}

// Choice is the choice at a path of the file that has one.
func (r *Reader) Choice(path string) Choice { return r.schema.Choice(path) }
