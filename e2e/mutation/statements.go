package main

import (
	"fmt"
	"go/ast"
	"go/token"
)

// statements finds mutants of whole statements in a list of them.
func (r *rewriter) statements(list []ast.Stmt, stack []ast.Node) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.ExprStmt:
			if call, ok := s.X.(*ast.CallExpr); ok && !r.endsControl(call) {
				r.removable(s, "the call is removed", "")
			}
		case *ast.IncDecStmt:
			other := map[token.Token]token.Token{token.INC: token.DEC, token.DEC: token.INC}[s.Tok]
			id := r.add(s.TokPos, s.Tok.String()+" becomes "+other.String())
			r.removable(s, s.Tok.String()+" is removed", fmt.Sprintf("if mutant(%d) { %s%s } else ", id, r.text(s.X), other))
		case *ast.AssignStmt:
			r.assignment(s)
		case *ast.BranchStmt:
			r.branch(s, stack)
		}
	}
}

// removable makes a statement one that a mutant lacks.
func (r *rewriter) removable(s ast.Stmt, change, before string) {
	r.wrap(s, fmt.Sprintf("%sif !mutant(%d) { ", before, r.add(s.Pos(), change)), " }")
}

// endsControl says whether the compiler knows that a call does not return.
func (r *rewriter) endsControl(call *ast.CallExpr) bool {
	name, ok := call.Fun.(*ast.Ident)
	return ok && name.Name == "panic"
}

var assigned = map[token.Token]token.Token{
	token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN,
	token.MUL_ASSIGN: token.QUO_ASSIGN, token.QUO_ASSIGN: token.MUL_ASSIGN,
	token.AND_ASSIGN: token.OR_ASSIGN, token.OR_ASSIGN: token.AND_ASSIGN,
	token.XOR_ASSIGN: token.AND_ASSIGN, token.AND_NOT_ASSIGN: token.AND_ASSIGN,
	token.SHL_ASSIGN: token.SHR_ASSIGN, token.SHR_ASSIGN: token.SHL_ASSIGN,
}

func (r *rewriter) assignment(s *ast.AssignStmt) {
	if s.Tok == token.DEFINE {
		return
	}
	if name, ok := s.Lhs[0].(*ast.Ident); ok && name.Name == "_" {
		return
	}
	before := ""
	if other, ok := assigned[s.Tok]; ok && !isString(r.info.Types[s.Lhs[0]].Type) {
		id := r.add(s.TokPos, s.Tok.String()+" becomes "+other.String())
		before = fmt.Sprintf("if mutant(%d) { %s %s %s } else ", id, r.text(s.Lhs[0]), other, r.text(s.Rhs[0]))
	}
	r.removable(s, "the assignment is removed", before)
}

// branch makes break continue, and continue break, where both refer to the same loop.
func (r *rewriter) branch(s *ast.BranchStmt, stack []ast.Node) {
	other := map[token.Token]token.Token{token.BREAK: token.CONTINUE, token.CONTINUE: token.BREAK}[s.Tok]
	if other == 0 || s.Label != nil {
		return
	}
	for i := len(stack) - 1; i >= 0; i-- {
		switch n := stack[i].(type) {
		case *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt, *ast.FuncLit:
			return
		case *ast.ForStmt:
			if n.Cond == nil { // whether it ends decides what must follow it
				return
			}
		case *ast.RangeStmt:
		default:
			continue
		}
		break
	}
	id := r.add(s.Pos(), s.Tok.String()+" becomes "+other.String())
	r.wrap(s, fmt.Sprintf("if mutant(%d) { %s }; ", id, other), "")
}
