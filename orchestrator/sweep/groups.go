package sweep

import (
	"errors"
	"fmt"
	"slices"

	"aqmlab/labs"
)

// Groups are collected one text after the other, as flags or a lab list them.
type Groups []Group

// Over begins a group: see [ParseGroup].
func (g *Groups) Over(text string) error {
	made, err := ParseGroup(text)
	*g = append(*g, made)
	return err
}

// With has an axis, "key=values", change together with those of the last group.
func (g *Groups) With(axis string) error {
	if len(*g) == 0 {
		return errors.New("want it after the axis with which it changes")
	}
	return (*g)[len(*g)-1].Join(axis)
}

// Point lists a single point, "key=value key=value". Those of the same keys are one group.
func (g *Groups) Point(text string) error {
	keys, row, err := parsePoint(text)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(*g, func(o Group) bool { return slices.Equal(o.Keys, keys) }); i >= 0 {
		(*g)[i].Rows = append((*g)[i].Rows, row)
		return nil
	}
	*g = append(*g, Group{Keys: keys, Rows: [][]string{row}})
	return nil
}

// GroupsOf are those of a lab's section sweep.
func GroupsOf(lab *labs.Lab) (g Groups, err error) {
	for _, text := range lab.Sweep.Over {
		if err := g.Over(text); err != nil {
			return nil, fmt.Errorf("lab %s: sweep.over: %w", lab.Name, err)
		}
	}
	for _, text := range lab.Sweep.Points {
		if err := g.Point(text); err != nil {
			return nil, fmt.Errorf("lab %s: sweep.points: %w", lab.Name, err)
		}
	}
	return g, nil
}
