package response

import (
	"cmp"
	"math"
	"slices"

	"aqmlab/results"
)

// Effect is how far one axis moves a metric of a scheme: its main effect, as factorial
// designs have it (Box, Hunter and Hunter, Statistics for Experimenters; Montgomery,
// Design and Analysis of Experiments). The metric's mean is taken at each value of the
// axis over all values of the other axes, so that these weigh alike, and the effect is
// the range of these means. What an axis does at some values of another alone (an
// interaction) does not show here, but in the curves.
//
// A combination of the other axes and a seed count only if all values of the axis were
// measured there; values that were measured nowhere do not count.
type Effect struct {
	Scheme  string  `json:"scheme"`
	Axis    string  `json:"axis"`
	Percent float64 `json:"percent"` // the range, relative to the mean over all
	Lowest  string  `json:"lowest"`  // the value of the axis with the lowest mean
	Highest string  `json:"highest"` // and with the highest
	// Noise is the range that seeds alone lead to in at most 5 of 100 sweeps, relative to
	// the same mean; nil with one seed. Seeds are the blocks of a randomised complete block
	// design, because a seed has the same flows at every value. What is left of the
	// seeds' means when value and seed are taken off is noise, and Student's t with
	// Bonferroni's correction for all pairs of values bounds the range.
	Noise *float64 `json:"noise_percent"`
	// Beyond tells whether the range is larger than that.
	Beyond bool `json:"beyond_noise"`
}

// effects are those of all axes on a metric of each scheme, by scheme, the largest
// first.
func (g *grid) effects(m results.Metric) (out []Effect) {
	for _, scheme := range g.schemes {
		begin := len(out)
		for i := range g.axes {
			if !g.varied(i) || !g.concerns(i, scheme) {
				continue
			}
			levels, means := g.marginal(i, scheme, m)
			if len(levels) < 2 || len(means) == 0 {
				continue
			}
			e, low, high := effectOf(means)
			e.Scheme, e.Axis = scheme, g.axes[i].Key
			e.Lowest, e.Highest = g.axes[i].Values[levels[low]], g.axes[i].Values[levels[high]]
			out = append(out, e)
		}
		slices.SortStableFunc(out[begin:], func(a, b Effect) int { return cmp.Compare(b.Percent, a.Percent) })
	}
	return out
}

// block is a combination of the other axes and a seed: the metric by level of the axis.
type block struct {
	seed   uint64
	values map[int]float64
}

// marginal is the means of a metric by seed and level of an axis, over the blocks that
// are complete.
func (g *grid) marginal(axis int, scheme string, m results.Metric) (levels []int, means [][]float64) {
	blocks := make(map[string]map[uint64]*block)
	var order []*block
	for _, c := range g.order {
		if c.scheme != scheme {
			continue
		}
		others := slices.Clone(c.levels)
		others[axis] = everywhere
		key := keyOf("", others)
		if blocks[key] == nil {
			blocks[key] = make(map[uint64]*block)
		}
		for i, seed := range c.seeds {
			v, ok := c.figures[i][m.Name]
			if !ok {
				continue
			}
			b := blocks[key][seed]
			if b == nil {
				b = &block{seed, make(map[int]float64)}
				blocks[key][seed], order = b, append(order, b)
			}
			b.values[c.levels[axis]] = v
			if !slices.Contains(levels, c.levels[axis]) {
				levels = append(levels, c.levels[axis])
			}
		}
	}
	slices.Sort(levels)
	return levels, average(order, levels)
}

// average takes the mean of each seed's complete blocks, by level.
func average(blocks []*block, levels []int) (means [][]float64) {
	row := make(map[uint64]int)
	var counts []float64
	for _, b := range blocks {
		if len(b.values) < len(levels) {
			continue
		}
		i, ok := row[b.seed]
		if !ok {
			i = len(means)
			row[b.seed] = i
			means, counts = append(means, make([]float64, len(levels))), append(counts, 0)
		}
		counts[i]++
		for k, level := range levels {
			means[i][k] += b.values[level]
		}
	}
	for i := range means {
		for k := range means[i] {
			means[i][k] /= counts[i]
		}
	}
	return means
}

// effectOf is the range and its noise, of means by seed and level, and between which
// levels it lies.
func effectOf(means [][]float64) (e Effect, low, high int) {
	column := columnMeans(means)
	for i, v := range column {
		if v < column[low] {
			low = i
		}
		if v > column[high] {
			high = i
		}
	}
	grand := mean(column)
	relative := func(v float64) float64 {
		if v == 0 {
			return 0
		}
		return 100 * v / math.Abs(grand)
	}
	width := column[high] - column[low]
	e.Percent = relative(width)
	n, k := len(means), len(column)
	if n < 2 {
		return e, low, high
	}
	squares := 0.0
	for _, row := range means {
		ofSeed := mean(row)
		for i, v := range row {
			left := v - column[i] - ofSeed + grand
			squares += left * left
		}
	}
	df := (k - 1) * (n - 1)
	pairs := float64(k*(k-1)) / 2
	bound := results.Student(df, 1-0.025/pairs) * math.Sqrt(2*squares/float64(df)/float64(n))
	noise := relative(bound)
	e.Noise, e.Beyond = &noise, width > bound
	return e, low, high
}

func columnMeans(rows [][]float64) []float64 {
	out := make([]float64, len(rows[0]))
	for _, row := range rows {
		for i, v := range row {
			out[i] += v / float64(len(rows))
		}
	}
	return out
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
