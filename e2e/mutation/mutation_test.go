package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// module makes a module of files, and goes there.
func module(t *testing.T, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module tiny\n\ngo 1.26\n"
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
}

// everything has each operator once, and a test that tells each change of it.
const everything = `package tiny

type num uint8

func compare(a, b int) []bool { return []bool{a < b, a <= b, a > b, a >= b, a == b, a != b} }
func logic(a, b bool) []bool  { return []bool{a && b, a || b, !a} }
func whole(a, b int) []int    { return []int{a + b, a - b, a * b, a / b, a % b, -a} }
func bits(a, b num) []num     { return []num{a & b, a | b, a ^ b, a &^ b, a << 1, a >> 1} }
func text(a, b string) string { return a + b }

func assign(a int) int {
	a += 3
	a -= 1
	a *= 4
	a /= 2
	a++
	a--
	b := num(a)
	b &= 5
	b |= 8
	b <<= 1
	return 100*a + int(b)
}

func loop(list []int) (n int) {
	note := func() { n += 100 }
	for _, v := range list {
		if v == 1 {
			continue
		}
		if v == 3 {
			break
		}
		n = n*10 + v
	}
	note()
	return n
}
`

const everythingTest = `package tiny

import (
	"fmt"
	"testing"
)

func TestAll(t *testing.T) {
	got := fmt.Sprint(compare(1, 2), compare(2, 2), compare(3, 2), logic(true, false), logic(false, false), logic(true, true),
		whole(7, 3), bits(12, 10), text("a", "b"), assign(5), loop([]int{2, 1, 4, 3, 5}))
	want := "[true true false false false true] [false true false true true false] [false false true true false true] " +
		"[false true false] [false false true] [true true false] [10 4 21 2 1 -7] [8 14 6 4 24 6]ab1424 124"
	if got != want {
		t.Errorf("%s", got)
	}
}
`

// TestEveryOperator: every change of every operator is tried, and a test that tells it kills it.
func TestEveryOperator(t *testing.T) {
	module(t, map[string]string{"a.go": everything, "a_test.go": everythingTest, "known": ""})
	g, err := build(".", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var changes []string
	for _, m := range g.mutants {
		changes = append(changes, m.change)
	}
	for _, want := range []string{
		"< becomes <=", "< becomes >=", "<= becomes <", "<= becomes >", "> becomes >=", "> becomes <=", ">= becomes >", ">= becomes <", "== becomes !=", "!= becomes ==",
		"&& becomes ||", "|| becomes &&", "! is removed", "+ becomes -", "- becomes +", "* becomes /", "/ becomes *", "% becomes *", "- is removed",
		"& becomes |", "| becomes &", "^ becomes &", "&^ becomes &", "<< becomes >>", ">> becomes <<",
		"+= becomes -=", "-= becomes +=", "*= becomes /=", "/= becomes *=", "&= becomes |=", "|= becomes &=", "<<= becomes >>=", "++ becomes --", "-- becomes ++",
		"++ is removed", "-- is removed", "the assignment is removed", "the call is removed", "continue becomes break", "break becomes continue",
	} {
		if !slices.Contains(changes, want) {
			t.Errorf("no mutant has: %s", want)
		}
	}
	var out bytes.Buffer
	if err := run([]string{"."}, options{workers: 1, known: "known"}, &out); err != nil {
		t.Errorf("%v\n%s", err, &out)
	}
	if strings.Contains(out.String(), "lives") {
		t.Errorf("some live:\n%s", &out)
	}
}

// TestSurvivors: what lives is told, unless it is known; what is known and dies is told, too.
func TestSurvivors(t *testing.T) {
	const source = `package tiny

func most(a, b int) int {
	if a > b {
		return a
	}
	return b
}

func never(a int) bool { return a == 0 }
`
	const test = "package tiny\n\nimport \"testing\"\n\nfunc TestMost(t *testing.T) {\n\tif most(1, 2) != 2 || most(2, 1) != 2 {\n\t\tt.Error()\n\t}\n}\n"
	module(t, map[string]string{
		"a.go": source, "a_test.go": test, "none": "",
		"known": "# Equal values: either is the larger.\na.go | > becomes >= | if a > b {\na.go | > becomes <= | if a > b {\n",
	})
	for _, tt := range []struct {
		known        string
		says, silent []string
	}{
		{"none", []string{"a.go:4:7: lives, reached true", "a.go | > becomes >= | if a > b {", "a.go:10:35: lives, reached false"}, []string{"though it is listed"}},
		{"known", []string{"killed, though it is listed: a.go | > becomes <= | if a > b {", "a.go:10:35: lives, reached false"}, []string{"a.go:4:7"}},
	} {
		var out bytes.Buffer
		err := run([]string{"."}, options{workers: 2, known: tt.known}, &out)
		if err == nil || !strings.Contains(err.Error(), "less than 90 %") || !strings.Contains(err.Error(), tt.known) {
			t.Errorf("%s: %v", tt.known, err)
		}
		for _, want := range tt.says {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: %q is not in\n%s", tt.known, want, &out)
			}
		}
		for _, other := range tt.silent {
			if strings.Contains(out.String(), other) {
				t.Errorf("%s: %q is in\n%s", tt.known, other, &out)
			}
		}
	}
	var out bytes.Buffer
	if err := run([]string{"."}, options{workers: 1, known: "none", only: "known"}, &out); err == nil || !strings.Contains(out.String(), "all                            2       1    50.0") {
		t.Errorf("only those of a report: %v\n%s", err, &out)
	}
}

// TestFailingTests: tests that fail without a mutant tell nothing.
func TestFailingTests(t *testing.T) {
	module(t, map[string]string{
		"a.go": "package tiny\n\nvar a = len(\"x\") + 1\n", "known": "",
		"a_test.go": "package tiny\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { t.Error(a) }\n",
	})
	if err := run([]string{"."}, options{workers: 1, known: "known"}, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "TestA of tiny fails without a mutant") {
		t.Errorf("%v", err)
	}
}
