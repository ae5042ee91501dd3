package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// goPackage is what go list says of a package.
type goPackage struct {
	ImportPath, Dir, Export            string
	DepOnly                            bool
	GoFiles, TestGoFiles, XTestGoFiles []string
}

// group is packages that are rewritten together, and the programs of their tests.
type group struct {
	packages []goPackage
	mutants  []mutant
	binaries map[string]string // by import path
}

// build rewrites the packages of a pattern and builds their tests, in dir. The source stays
// as it is: the compiler is told to read other files in its place.
func build(pattern, dir string) (*group, error) {
	all, err := list(pattern)
	if err != nil {
		return nil, err
	}
	g := &group{binaries: make(map[string]string)}
	exports := make(map[string]string)
	for _, p := range all {
		exports[p.ImportPath] = p.Export
		if !p.DepOnly {
			g.packages = append(g.packages, p)
		}
	}
	overlay := map[string]map[string]string{"Replace": {}}
	for _, p := range g.packages {
		if err := g.rewrite(p, exports, dir, overlay["Replace"]); err != nil {
			return nil, err
		}
	}
	text, err := json.Marshal(overlay)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, err
	}
	for i, p := range g.packages {
		if len(p.TestGoFiles)+len(p.XTestGoFiles) == 0 {
			continue
		}
		binary := filepath.Join(dir, fmt.Sprint(i, ".test"))
		out, err := exec.Command("go", "test", "-vet=off", "-c", "-overlay", file, "-o", binary, p.ImportPath).CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("building the tests of %s: %w\n%s", p.ImportPath, err, out)
		}
		g.binaries[p.ImportPath] = binary
	}
	return g, nil
}

// list is the packages of a pattern and what they import.
func list(pattern string) (packages []goPackage, err error) {
	c := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,DepOnly,GoFiles,TestGoFiles,XTestGoFiles", pattern)
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", pattern, err)
	}
	d := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading what go list says: %w", err)
		}
		packages = append(packages, p)
	}
}

// rewrite finds the mutants of a package, and adds its rewritten files to replaced.
func (g *group) rewrite(p goPackage, exports map[string]string, dir string, replaced map[string]string) error {
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	info := &types.Info{
		Types:     make(map[ast.Expr]types.TypeAndValue),
		Defs:      make(map[*ast.Ident]types.Object),
		Implicits: make(map[ast.Node]types.Object),
	}
	c := types.Config{Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})}
	pkg, err := c.Check(p.ImportPath, fset, files, info)
	if err != nil {
		return fmt.Errorf("checking %s: %w", p.ImportPath, err)
	}
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	for i, f := range files {
		path := filepath.Join(p.Dir, p.GoFiles[i])
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		r := &rewriter{fset: fset, info: info, pkg: pkg, name: name, source: source, first: len(g.mutants) + 1}
		r.file(f)
		g.mutants = append(g.mutants, r.found...)
		to := filepath.Join(dir, strings.ReplaceAll(name, "/", "-"))
		if err := os.WriteFile(to, r.rewritten(), 0o600); err != nil {
			return err
		}
		replaced[path] = to
	}
	to := filepath.Join(dir, strings.ReplaceAll(p.ImportPath, "/", "-")+"-operators.go")
	replaced[filepath.Join(p.Dir, "mutant_operators.go")] = to
	return os.WriteFile(to, []byte("package "+pkg.Name()+"\n"+operators), 0o600)
}
