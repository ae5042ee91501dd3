package results

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// Coord is where a point lies in its run: what is embedded wherever a point is
// spoken of. All schemes at one load and seed replay the same trace.
type Coord struct {
	Scheme string  `json:"scheme" parquet:"scheme,dict,zstd"`
	Load   float64 `json:"load" parquet:"load,dict,zstd"`
	Seed   uint64  `json:"seed" parquet:"seed,dict,zstd"`
}

// Trace is the coordinate without the scheme: equal for all points that replay the
// same trace.
func (c Coord) Trace() Coord { return Coord{Load: c.Load, Seed: c.Seed} }

// String is "tcn at load 0.9, seed 1"; that of a trace is "load 0.9, seed 1".
func (c Coord) String() string {
	trace := fmt.Sprintf("load %v, seed %d", c.Load, c.Seed)
	if c.Scheme == "" {
		return trace
	}
	return c.Scheme + " at " + trace
}

// Folder is the name of the point's folder: tcn-load0.9-seed1.
func (c Coord) Folder() string {
	return fmt.Sprintf("%s-load%s-seed%d", c.Scheme, strconv.FormatFloat(c.Load, 'f', -1, 64), c.Seed)
}

// Compare orders coordinates by scheme, load and seed.
func (c Coord) Compare(o Coord) int {
	return cmp.Or(cmp.Compare(c.Scheme, o.Scheme), cmp.Compare(c.Load, o.Load), cmp.Compare(c.Seed, o.Seed))
}

// Distinct are what of says of values, each once, in the order in which they come
// first.
func Distinct[T any, K comparable](values []T, of func(T) K) (all []K) {
	for _, v := range values {
		if k := of(v); !slices.Contains(all, k) {
			all = append(all, k)
		}
	}
	return all
}
