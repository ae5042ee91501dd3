package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"aqmlab/orchestrator"
)

// namesElsewhere are places where the name of a runtime means something else.
var namesElsewhere = map[string]string{
	"cli/bench.go":                     "the command that measures the simulator",
	"labs/inventory/check.go":          "the key of a machine's Docker daemon",
	"orchestrator/machines/context.go": "what Docker calls the daemon among the endpoints of a context",
	"reproduce/papers/papers.go":       "the environment of an experiment in its paper",
}

// code calls visit for every node of the code that is no test.
func code(t *testing.T, visit func(path string, n ast.Node)) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(filepath.Dir(path), "test") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			visit(path, n)
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestRuntimesAreRows: no code outside the table of runtimes knows the name of one.
// It asks the row for facts instead, so that another runtime is another row.
func TestRuntimesAreRows(t *testing.T) {
	names := slices.DeleteFunc(orchestrator.RuntimeNames(), func(name string) bool { return name == string(orchestrator.Auto) })
	var in []string
	code(t, func(path string, n ast.Node) {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return
		}
		if name, err := strconv.Unquote(lit.Value); err == nil && slices.Contains(names, name) {
			in = append(in, path)
		}
	})
	in = slices.Compact(in)
	for _, path := range in {
		if path != "orchestrator/runtime.go" && namesElsewhere[path] == "" {
			t.Errorf("%s has the name of a runtime", path)
		}
	}
	if !slices.Contains(in, "orchestrator/runtime.go") {
		t.Error("the table of runtimes is not where it was")
	}
}

// callers are the files that call by names: the clients themselves.
var callers = map[string]string{
	"orchestrator/machines/check/site.go": "the client of a process that looks at its machine",
	"orchestrator/testbed/remote.go":      "the client of a site",
	"orchestrator/testbed/site.go":        "forwards calls of others",
}

// TestCallsAreTyped: helper processes are called by the methods of their clients, not
// by names.
func TestCallsAreTyped(t *testing.T) {
	code(t, func(path string, n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 4 {
			return
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if ok && sel.Sel.Name == "Call" && filepath.Dir(path) != "orchestrator/role" && filepath.Dir(path) != "orchestrator/agent" && callers[path] == "" {
			t.Errorf("%s calls a helper process by the name of a method", path)
		}
	})
}
