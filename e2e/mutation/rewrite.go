package main

import (
	"cmp"
	_ "embed"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// operators is the file that every rewritten package gets, without its package clause.
//
//go:embed operators.go.txt
var operators string

// mutant is one small change of the source.
type mutant struct {
	id        int
	pkg       string // import path
	file      string // from the root of the module
	line, col int
	change    string // such as "< becomes <="
	source    string // the line that it is in, without the space around it
}

// rewriter turns one file into one in which all its mutants wait for their number.
type rewriter struct {
	fset    *token.FileSet
	info    *types.Info
	pkg     *types.Package
	name    string
	source  []byte
	first   int                       // number of the first mutant
	imports map[*types.Package]string // how the file names the packages that it imports
	edits   []edit
	found   []mutant
}

// edit replaces the source from one offset to another. Of insertions at one offset, those
// that close an expression come before those that open one.
type edit struct {
	at, end int
	text    string
	opens   bool
}

// add notes a mutant at a position and returns its number.
func (r *rewriter) add(at token.Pos, change string) int {
	p := r.fset.Position(at)
	line := strings.Split(string(r.source), "\n")[p.Line-1]
	m := mutant{id: r.first + len(r.found), pkg: r.pkg.Path(), file: r.name, line: p.Line, col: p.Column, change: change, source: strings.TrimSpace(line)}
	r.found = append(r.found, m)
	return m.id
}

func (r *rewriter) offset(p token.Pos) int { return r.fset.Position(p).Offset }

func (r *rewriter) text(n ast.Node) string {
	return string(r.source[r.offset(n.Pos()):r.offset(n.End())])
}

// wrap puts text around a node.
func (r *rewriter) wrap(n ast.Node, before, after string) {
	r.edits = append(r.edits,
		edit{at: r.offset(n.Pos()), end: r.offset(n.Pos()), text: before, opens: true},
		edit{at: r.offset(n.End()), end: r.offset(n.End()), text: after})
}

// replace replaces n bytes at a position.
func (r *rewriter) replace(at token.Pos, n int, text string) {
	r.edits = append(r.edits, edit{at: r.offset(at), end: r.offset(at) + n, text: text, opens: true})
}

// rewritten is the source with all edits made.
func (r *rewriter) rewritten() []byte {
	for i := range r.edits { // inner expressions close before those around them
		if e := &r.edits[i]; !e.opens {
			e.end = -i
		}
	}
	slices.SortStableFunc(r.edits, func(a, b edit) int {
		switch {
		case a.at != b.at:
			return cmp.Compare(a.at, b.at)
		case a.opens != b.opens && !a.opens:
			return -1
		case a.opens != b.opens:
			return 1
		case !a.opens:
			return cmp.Compare(a.end, b.end)
		}
		return 0
	})
	var out []byte
	from := 0
	for _, e := range r.edits {
		out = append(append(out, r.source[from:e.at]...), e.text...)
		from = max(e.at, e.end)
	}
	return append(out, r.source[from:]...)
}

// file finds all mutants of a file.
func (r *rewriter) file(f *ast.File) {
	r.imports = make(map[*types.Package]string)
	for _, spec := range f.Imports {
		name := r.info.PkgNameOf(spec)
		r.imports[name.Imported()] = name.Name()
	}
	var stack []ast.Node
	ast.Inspect(f, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		if d, ok := n.(*ast.GenDecl); ok && d.Tok != token.VAR {
			return false
		}
		if a, ok := n.(*ast.ArrayType); ok && a.Len != nil { // its length is a constant
			return false
		}
		stack = append(stack, n)
		switch n := n.(type) {
		case *ast.BinaryExpr:
			r.binary(n)
		case *ast.UnaryExpr:
			r.unary(n)
		case *ast.BlockStmt:
			r.statements(n.List, stack)
		case *ast.CaseClause:
			r.statements(n.Body, stack)
		case *ast.CommClause:
			r.statements(n.Body, stack)
		}
		return true
	})
}

var ordered = map[token.Token]struct{ call, boundary, negation string }{
	token.LSS: {"mutantLess", "<=", ">="},
	token.LEQ: {"mutantLessEqual", "<", ">"},
	token.GTR: {"mutantGreater", ">=", "<="},
	token.GEQ: {"mutantGreaterEqual", ">", "<"},
}

var calculated = map[token.Token]struct{ call, becomes string }{
	token.ADD:     {"mutantAdd", "-"},
	token.SUB:     {"mutantSubtract", "+"},
	token.MUL:     {"mutantMultiply", "/"},
	token.QUO:     {"mutantDivide", "*"},
	token.REM:     {"mutantRemainder", "*"},
	token.AND:     {"mutantAnd", "|"},
	token.OR:      {"mutantOr", "&"},
	token.XOR:     {"mutantXor", "&"},
	token.AND_NOT: {"mutantAndNot", "&"},
	token.SHL:     {"mutantLeft", ">>"},
	token.SHR:     {"mutantRight", "<<"},
}

func (r *rewriter) binary(n *ast.BinaryExpr) {
	tv := r.info.Types[n]
	if tv.Value != nil || tv.IsType() {
		return
	}
	op := n.Op.String()
	if o, ok := ordered[n.Op]; ok {
		id := r.add(n.OpPos, op+" becomes "+o.boundary)
		r.add(n.OpPos, op+" becomes "+o.negation)
		r.call(n, o.call, id)
		return
	}
	if c, ok := calculated[n.Op]; ok {
		if isString(tv.Type) {
			return
		}
		r.call(n, c.call+r.instance(tv.Type), r.add(n.OpPos, op+" becomes "+c.becomes))
		return
	}
	switch n.Op {
	case token.EQL, token.NEQ:
		other := map[token.Token]string{token.EQL: "!=", token.NEQ: "=="}[n.Op]
		r.wrap(n, "((", fmt.Sprintf(") != mutant(%d))", r.add(n.OpPos, op+" becomes "+other)))
	case token.LAND, token.LOR:
		// a || b is !(!a && !b), and evaluates as much of it.
		other := map[token.Token]string{token.LAND: "||", token.LOR: "&&"}[n.Op]
		not := fmt.Sprintf(") != mutant(%d))", r.add(n.OpPos, op+" becomes "+other))
		r.wrap(n, "((", not)
		r.wrap(n.X, "((", not)
		r.wrap(n.Y, "((", not)
	}
}

// call makes a binary expression a call.
func (r *rewriter) call(n *ast.BinaryExpr, function string, id int) {
	r.wrap(n, fmt.Sprintf("%s(%d, ", function, id), ")")
	r.replace(n.OpPos, len(n.Op.String()), ",")
}

// instance is the type argument of a call where the file can name it. Elsewhere it is
// inferred, which fails only for 1 << n where n is a variable.
func (r *rewriter) instance(t types.Type) string {
	if named, ok := t.(*types.Named); ok && named.Obj().Pkg() != r.pkg && r.imports[named.Obj().Pkg()] == "" {
		return ""
	}
	switch t.(type) {
	case *types.Basic, *types.Named:
		return "[" + types.TypeString(t, func(p *types.Package) string { return r.imports[p] }) + "]"
	}
	return ""
}

func isString(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

func (r *rewriter) unary(n *ast.UnaryExpr) {
	if r.info.Types[n].Value != nil {
		return
	}
	switch n.Op {
	case token.SUB:
		r.replace(n.OpPos, 1, fmt.Sprintf("mutantNegative%s(%d, ", r.instance(r.info.Types[n].Type), r.add(n.OpPos, "- is removed")))
		r.edits = append(r.edits, edit{at: r.offset(n.End()), end: r.offset(n.End()), text: ")"})
	case token.NOT:
		r.wrap(n, "((", fmt.Sprintf(") != mutant(%d))", r.add(n.OpPos, "! is removed")))
	}
}
