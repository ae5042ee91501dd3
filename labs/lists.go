package labs

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxSeeds bounds a range of seeds, of which a slip of the finger makes a
// billion.
const maxSeeds = 10_000

// list is one value or a list of them, not empty; one makes the codec of an
// element.
func list[T any](dst *[]T, one func(*T) codec) codec {
	read := func(value any) error {
		items := asList(value)
		if len(items) == 0 {
			return errors.New("empty: want at least one value")
		}
		made := make([]T, len(items))
		for i, item := range items {
			if err := one(&made[i]).read(item); err != nil {
				return &elementError{i, err}
			}
		}
		*dst = made
		return nil
	}
	return codec{read, func() any { return slices.Clone(*dst) }}
}

// distinct refuses a list that has a value twice.
func distinct[T comparable](dst *[]T, c codec) codec {
	return codec{func(value any) error {
		if err := c.read(value); err != nil {
			return err
		}
		seen := make(map[T]bool)
		for i, v := range *dst {
			if seen[v] {
				return &elementError{i, fmt.Errorf("%v is there twice", v)}
			}
			seen[v] = true
		}
		return nil
	}, c.write}
}

// asList splits the text of an override at commas, with or without brackets
// around it.
func asList(value any) []any {
	switch v := value.(type) {
	case []any:
		return v
	case text:
		s := strings.TrimSpace(string(v))
		if inner, ok := strings.CutPrefix(s, "["); ok {
			s = strings.TrimSuffix(inner, "]")
		}
		var items []any
		for part := range strings.SplitSeq(s, ",") {
			items = append(items, text(strings.TrimSpace(part)))
		}
		return items
	}
	return []any{value}
}

// seeds is a list of seeds or a range such as 1..3.
func seeds(dst *[]uint64) codec {
	c := distinct(dst, list(dst, func(s *uint64) codec { return whole(s, 0, 1<<63-1) }))
	read := func(value any) error {
		s, _ := asString(value)
		from, to, ok := strings.Cut(s, "..")
		if !ok {
			return c.read(value)
		}
		low, errLow := strconv.ParseUint(from, 10, 63)
		high, errHigh := strconv.ParseUint(to, 10, 63)
		if errLow != nil || errHigh != nil || high < low || high-low >= maxSeeds {
			return fmt.Errorf("%q is not a range: want one such as 1..3, of at most %d seeds", s, maxSeeds)
		}
		*dst = nil
		for seed := low; seed <= high; seed++ {
			*dst = append(*dst, seed)
		}
		return nil
	}
	return codec{read, c.write}
}

// services is the number of services that share the load equally, or a list
// with the weight of each.
func services(dst *[]int) codec {
	const most, heaviest = 64, 1_000_000 // a DSCP has six bits
	weights := list(dst, func(w *int) codec { return whole(w, 1, heaviest) })
	read := func(value any) error {
		if _, ok := value.([]any); ok {
			return weights.read(value)
		}
		if s, ok := asString(value); ok && strings.ContainsAny(s, ",[") {
			return weights.read(value)
		}
		var n int
		if err := whole(&n, 1, most).read(value); err != nil {
			return err
		}
		*dst = slices.Repeat([]int{1}, n)
		return nil
	}
	return codec{read, weights.write}
}

// dilation is auto or a number from 1.
func dilation(dst *Dilation) codec {
	read := func(value any) error {
		if s, ok := asString(value); ok && s == auto {
			*dst = 0
			return nil
		}
		var f float64
		c := number(&f, func(f float64) bool { return f >= 1 && f <= 1e6 }, "[1, 1000000]")
		if err := c.read(value); err != nil {
			return fmt.Errorf("%w, or %s", err, auto)
		}
		*dst = Dilation(f)
		return nil
	}
	return codec{read, func() any {
		if *dst == 0 {
			return auto
		}
		return float64(*dst)
	}}
}

// auto leaves the dilation to the runtime.
const auto = "auto"
