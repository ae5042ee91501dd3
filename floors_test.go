package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"math/bits"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// backBound is the largest share of back arrows, in percent, that a package of
// flooredRooms may have.
const backBound = 10

// flooredRooms are the rooms whose packages must keep to backBound.
var flooredRooms = []string{"results", "labs", "orchestrator", "reproduce"}

// TestFloors checks that the files of a package form floors. An arrow runs from
// file A to file B when A uses what B declares. The files are laid in the order
// in which the fewest arrows run back up; those are the back arrows. With -v it
// prints the order, and the back arrows with the identifiers behind them.
func TestFloors(t *testing.T) {
	all := listPackages(t)
	exports := make(map[string]string)
	for _, p := range all {
		exports[p.ImportPath] = p.Export
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(exports[path])
	})
	for _, p := range all {
		own, ok := strings.CutPrefix(p.ImportPath, "aqmlab")
		if !ok || own != "" && own[0] != '/' {
			continue
		}
		name := cmp.Or(strings.TrimPrefix(own, "/"), "main")
		t.Run(name, func(t *testing.T) {
			g := p.arrows(t, fset, imports)
			order := g.order()
			back := g.back(order)
			share := 100 * float64(len(back)) / float64(max(len(g), 1))
			t.Logf("%s: %d files, %d arrows, %d back (%.0f %%)", name, len(p.GoFiles), len(g), len(back), share)
			t.Logf("from the top: %s", strings.Join(order, " "))
			for _, a := range back {
				t.Logf("back: %s -> %s: %s", a.from, a.to, strings.Join(slices.Sorted(maps.Keys(g[a])), " "))
			}
			room, _, _ := strings.Cut(name, "/")
			if share > backBound && slices.Contains(flooredRooms, room) {
				t.Errorf("%s has %.0f %% back arrows, want at most %d %% (-v names them)", name, share, backBound)
			}
		})
	}
}

// goPackage is what go list says of a package.
type goPackage struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

// listPackages is all packages of the module and what they import.
func listPackages(t *testing.T) []goPackage {
	t.Helper()
	c := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles", "./...")
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []goPackage
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p goPackage
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

// arrow is the use by one file of what another file of the package declares.
type arrow struct{ from, to string }

// arrows has the identifiers behind each arrow.
type arrows map[arrow]map[string]bool

// arrows reads the package's files. A method that is declared in another file
// than its type uses the type.
func (p goPackage) arrows(t *testing.T, fset *token.FileSet, imports types.Importer) arrows {
	t.Helper()
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	info := types.Info{Uses: make(map[*ast.Ident]types.Object)}
	config := types.Config{Importer: imports}
	pkg, err := config.Check(p.ImportPath, fset, files, &info)
	if err != nil {
		t.Fatal(err)
	}
	found := make(arrows)
	for use, object := range info.Uses {
		if object.Pkg() != pkg || !object.Pos().IsValid() {
			continue
		}
		a := arrow{filepath.Base(fset.Position(use.Pos()).Filename), filepath.Base(fset.Position(object.Pos()).Filename)}
		if a.from == a.to {
			continue
		}
		if found[a] == nil {
			found[a] = make(map[string]bool)
		}
		found[a][use.Name] = true
	}
	return found
}

// back is the arrows that run from a file to one that stands before it.
func (g arrows) back(order []string) []arrow {
	place := make(map[string]int)
	for i, file := range order {
		place[file] = i
	}
	var back []arrow
	for a := range g {
		if place[a.from] > place[a.to] {
			back = append(back, a)
		}
	}
	slices.SortFunc(back, func(a, b arrow) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	return back
}

// order is the files with an arrow, users before what they use. Files of different
// circles never run back up, so each circle is ordered for itself.
func (g arrows) order() []string {
	var order []string
	for _, circle := range g.circles() {
		if len(circle) <= 16 {
			order = append(order, g.best(circle)...)
		} else {
			order = append(order, g.sift(circle)...)
		}
	}
	return order
}

// circles is the strongly connected components, users first (Tarjan).
func (g arrows) circles() [][]string {
	uses := make(map[string][]string)
	for a := range g {
		uses[a.from] = append(uses[a.from], a.to)
		uses[a.to] = append(uses[a.to], nil...) // a file that uses none is a file, too
	}
	var stack []string
	var circles [][]string
	number, low := make(map[string]int), make(map[string]int)
	var visit func(string)
	visit = func(file string) {
		number[file] = len(number) + 1
		low[file] = number[file]
		stack = append(stack, file)
		for _, used := range slices.Sorted(slices.Values(uses[file])) {
			if number[used] == 0 {
				visit(used)
				low[file] = min(low[file], low[used])
			} else if slices.Contains(stack, used) {
				low[file] = min(low[file], number[used])
			}
		}
		if low[file] == number[file] {
			i := slices.Index(stack, file)
			circles = append(circles, slices.Sorted(slices.Values(stack[i:])))
			stack = stack[:i]
		}
	}
	for _, file := range slices.Sorted(maps.Keys(uses)) {
		if number[file] == 0 {
			visit(file)
		}
	}
	slices.Reverse(circles)
	return circles
}

// cost of an arrow that runs back up: one arrow counts more than any number of
// identifiers; among equal numbers of arrows, those with fewer identifiers are
// easier to turn.
func (g arrows) cost(from, to string) int {
	if names := g[arrow{from, to}]; len(names) > 0 {
		return 1<<20 + len(names)
	}
	return 0
}

// best tries all orders: the cheapest order of a set of files ends with one of
// them, after the cheapest order of the others.
func (g arrows) best(files []string) []string {
	n := len(files)
	costs := make([][]int, n) // costs[i][j]: file i, which uses j, comes after j
	for i := range files {
		costs[i] = make([]int, n)
		for j := range files {
			costs[i][j] = g.cost(files[i], files[j])
		}
	}
	total, last := make([]int, 1<<n), make([]int, 1<<n)
	for set := 1; set < 1<<n; set++ {
		total[set] = -1
		for i := range n {
			others := set &^ (1 << i)
			if others == set {
				continue
			}
			cost := total[others]
			for rest := others; rest != 0; rest &= rest - 1 {
				cost += costs[i][bits.TrailingZeros(uint(rest))]
			}
			if total[set] < 0 || cost < total[set] {
				total[set], last[set] = cost, i
			}
		}
	}
	order := make([]string, n)
	for set := 1<<n - 1; set != 0; set &^= 1 << last[set] {
		order[bits.OnesCount(uint(set))-1] = files[last[set]]
	}
	return order
}

// sift is a good order of many files: from several first orders it moves file by
// file to its best place, until no move is better.
func (g arrows) sift(files []string) []string {
	var found []string
	least := 0
	for start := range 4 * len(files) {
		order := slices.Clone(files)
		for i := range order { // a different first order for each start
			j := (i*(2*start+1) + start) % (i + 1)
			order[i], order[j] = order[j], order[i]
		}
		for g.siftOnce(order) {
		}
		cost := 0
		for i, file := range order {
			for _, before := range order[:i] {
				cost += g.cost(file, before)
			}
		}
		if found == nil || cost < least {
			found, least = order, cost
		}
	}
	return found
}

// siftOnce moves each file to its best place, and tells whether that was better.
func (g arrows) siftOnce(order []string) bool {
	better := false
	for _, file := range slices.Clone(order) {
		at := slices.Index(order, file)
		best, place := 0, at
		for _, step := range []int{-1, 1} {
			change := 0
			for i := at + step; i >= 0 && i < len(order); i += step {
				// To pass order[i] swaps which of the two comes first.
				change += step * (g.cost(file, order[i]) - g.cost(order[i], file))
				if change < best {
					best, place = change, i
				}
			}
		}
		if place != at {
			better = true
			order = slices.Insert(slices.Delete(order, at, at+1), place, file)
		}
	}
	return better
}
