package board

import (
	"slices"
	"strconv"
	"strings"

	"aqmlab/orchestrator/sweep"
	"aqmlab/results"
	"aqmlab/results/response"
)

// maxCells is how many cells a grid may have. A page with more is of no use.
const maxCells = 100_000

// grid is where the points of a sweep stand. A row is a scheme with its settings, and a
// column a seed at a load, or at a value of the first axis that is not of schemes.
type grid struct {
	cells   []cell // of each point
	rows    []line // labelled by scheme and settings
	columns []line // labelled by what several seeds have in common
}

// cell is a place in a grid.
type cell struct{ row, column int }

// line is a row or column. Those of one group stand together.
type line struct {
	group, label string
	seed         uint64
	load         float64 // of columns: a value of an axis may be several
}

// newGrid lays out the points of a sweep, one a key.
func newGrid(axes []response.Axis, points []sweep.Point) grid {
	across, varies := across(axes, points), varies(points)
	rows, columns := make([]line, len(points)), make([]line, len(points))
	for i, p := range points {
		label, column := []string{p.Scheme}, ""
		switch {
		case across >= 0:
			column = setting(axes[across].Key, p.Values[across], "")
		case across == byLoad:
			column = "load " + strconv.FormatFloat(p.Load, 'f', -1, 64)
		}
		for j, a := range axes {
			if j != across && varies[p.Scheme][j] {
				label = append(label, setting(a.Key, p.Values[j], p.Scheme))
			}
		}
		rows[i] = line{group: p.Scheme, label: strings.Join(label, ", ")}
		columns[i] = line{group: column, label: column, seed: p.Seed, load: p.Load}
	}
	g := grid{cells: make([]cell, len(points))}
	var row, column []int
	g.rows, row = arrange(rows)
	g.columns, column = arrange(columns)
	for i := range g.cells {
		g.cells[i] = cell{row[i], column[i]}
	}
	return g
}

// byLoad is no axis: the loads that the lab has itself.
const byLoad = -1

// across is the axis of the columns, byLoad, or less if all columns are seeds.
func across(axes []response.Axis, points []sweep.Point) int {
	isLoad := func(a response.Axis) bool {
		return slices.Contains(strings.Split(a.Key, response.Together), sweep.LoadKey)
	}
	if i := slices.IndexFunc(axes, isLoad); i >= 0 {
		return i
	}
	if len(results.Distinct(points, func(p sweep.Point) float64 { return p.Load })) > 1 {
		return byLoad
	}
	i := slices.IndexFunc(axes, func(a response.Axis) bool { return !strings.HasPrefix(a.Key, "schemes.") })
	if i < 0 {
		return byLoad - 1
	}
	return i
}

// varies tells of each scheme for which axes its points have several values. An axis that
// does not concern a scheme has one: equal keys are one point.
func varies(points []sweep.Point) map[string][]bool {
	first, varies := make(map[string][]string), make(map[string][]bool)
	for _, p := range points {
		if first[p.Scheme] == nil {
			first[p.Scheme], varies[p.Scheme] = p.Values, make([]bool, len(p.Values))
		}
		for i, v := range p.Values {
			if v != first[p.Scheme][i] {
				varies[p.Scheme][i] = true
			}
		}
	}
	return varies
}

// setting names the value of an axis to who knows the scheme, if any: "threshold 50us".
func setting(key, value, scheme string) string {
	values := strings.Split(value, response.Together)
	var parts []string
	for i, k := range strings.Split(key, response.Together) {
		k = strings.TrimPrefix(strings.TrimPrefix(k, "schemes."+scheme+"."), "workload.")
		if i < len(values) {
			k += " " + values[i]
		}
		parts = append(parts, k)
	}
	return strings.Join(parts, ", ")
}

// arrange lists the different lines, group by group in the order in which these come
// first, and says the place of each.
func arrange(all []line) (lines []line, places []int) {
	groups, seen := make(map[string]int), make(map[line]int)
	for _, l := range all {
		if _, ok := groups[l.group]; !ok {
			groups[l.group] = len(groups)
		}
		if _, ok := seen[l]; !ok {
			seen[l] = len(lines)
			lines = append(lines, l)
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return groups[a.group] - groups[b.group] })
	for i, l := range lines {
		seen[l] = i
	}
	for _, l := range all {
		places = append(places, seen[l])
	}
	return lines, places
}

// empty is the rows of the grid, without states; none where there are too many cells.
func (g grid) empty() [][]byte {
	if len(g.rows)*len(g.columns) > maxCells {
		return nil
	}
	cells := make([][]byte, len(g.rows))
	for i := range cells {
		cells[i] = slices.Repeat([]byte{byte(results.CellNone)}, len(g.columns))
	}
	return cells
}

// set sets the state of a point.
func (g grid) set(cells [][]byte, point int, state results.CellState) {
	if cells != nil {
		cells[g.cells[point].row][g.cells[point].column] = byte(state)
	}
}

// show has a status show the grid.
func (g grid) show(s *results.SweepStatus, cells [][]byte) {
	for i, row := range cells {
		s.Rows = append(s.Rows, results.SweepRow{Label: g.rows[i].label, Cells: string(row)})
	}
	if cells == nil {
		return
	}
	for _, c := range g.columns {
		s.Columns = append(s.Columns, c.label)
		s.Seeds = append(s.Seeds, c.seed)
	}
}
