package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// events is what go test -json says of two packages: one with a test that passes, one
// that is skipped and one that fails, and one that does not build.
const events = `{"Action":"start","Package":"aqmlab/a"}
{"Action":"run","Package":"aqmlab/a","Test":"TestGood"}
{"Action":"output","Package":"aqmlab/a","Test":"TestGood","Output":"    a_test.go:3: nobody asks\n"}
{"Action":"pass","Package":"aqmlab/a","Test":"TestGood","Elapsed":7.5}
{"Action":"output","Package":"aqmlab/a","Test":"TestSkip","Output":"=== RUN   TestSkip\n"}
{"Action":"output","Package":"aqmlab/a","Test":"TestSkip","Output":"    a_test.go:7: needs a moon: full\n"}
{"Action":"output","Package":"aqmlab/a","Test":"TestSkip","Output":"--- SKIP: TestSkip (0.00s)\n"}
{"Action":"skip","Package":"aqmlab/a","Test":"TestSkip"}
{"Action":"output","Package":"aqmlab/a","Test":"TestBad","Output":"    a_test.go:9: bad\n"}
{"Action":"fail","Package":"aqmlab/a","Test":"TestBad"}
{"Action":"output","Package":"aqmlab/a","Output":"FAIL\taqmlab/a\t0.1s\n"}
{"Action":"fail","Package":"aqmlab/a"}
not JSON
{"ImportPath":"aqmlab/b","Action":"build-output","Output":"b.go:1: oops\n"}
{"Action":"output","Package":"aqmlab/b","Output":"FAIL\taqmlab/b [build failed]\n"}
{"Action":"fail","Package":"aqmlab/b"}
`

func TestRead(t *testing.T) {
	var out strings.Builder
	r := reader{out: &out, said: map[string][]string{}}
	if err := r.read(strings.NewReader(events)); err != nil {
		t.Fatal(err)
	}
	want := tally{Passed: 1, Failed: 2, Skipped: map[string][]string{"needs a moon: full": {"a.TestSkip"}}, Long: []took{{"a.TestGood", 7500 * time.Millisecond}}}
	if !reflect.DeepEqual(r.tally, want) {
		t.Errorf("%+v, want %+v", r.tally, want)
	}
	const printed = "    a_test.go:9: bad\nFAIL\taqmlab/a\t0.1s\nnot JSON\nb.go:1: oops\nFAIL\taqmlab/b [build failed]\n"
	if out.String() != printed {
		t.Errorf("printed\n%s\nwant\n%s", out.String(), printed)
	}
}

// TestReadSideBySide: a failure counts once where another package ends between a test and
// its package.
func TestReadSideBySide(t *testing.T) {
	r := reader{out: &strings.Builder{}, said: map[string][]string{}}
	if err := r.read(strings.NewReader(`{"Action":"fail","Package":"aqmlab/a","Test":"TestBad"}
{"Action":"pass","Package":"aqmlab/b","Test":"TestGood"}
{"Action":"pass","Package":"aqmlab/b"}
{"Action":"fail","Package":"aqmlab/a"}
`)); err != nil {
		t.Fatal(err)
	}
	if r.Failed != 1 {
		t.Errorf("%d failures, want 1", r.Failed)
	}
}

// TestRefuse: CI fails for what it skipped, but for reasons that are on the list.
func TestRefuse(t *testing.T) {
	for _, tt := range []struct {
		reason string
		debian bool
		ok     bool
	}{
		{"the kernel has no BTF", true, true},
		{"no chromium on this machine: Debian has it in the package chromium", true, false},
		{"no chromium on this machine: Debian has it in the package chromium", false, true},
		{"real hosts need root", false, false},
		{"no reason given", false, false},
	} {
		var all tally
		all.skip("a.Test", tt.reason)
		if err := all.refuse(tt.debian); (err == nil) != tt.ok || err != nil && !strings.Contains(err.Error(), "a.Test") {
			t.Errorf("%s, on Debian %v: %v", tt.reason, tt.debian, err)
		}
	}
}

// TestCollect: the parts of a run are added up, and a test that two of them skip
// counts once.
func TestCollect(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		part := tally{Passed: 2, Failed: 1}
		part.skip("a.Test", "x")
		if err := part.store(dir); err != nil {
			t.Fatal(err)
		}
	}
	got, err := tally{}.collect(dir)
	want := tally{Passed: 4, Failed: 2, Skipped: map[string][]string{"x": {"a.Test"}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if err := os.WriteFile(filepath.Join(dir, "x.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := (tally{}).collect(dir); err == nil {
		t.Errorf("a damaged file gives %+v", got)
	}
}

// TestReport: the tables, and the closing line.
func TestReport(t *testing.T) {
	all := tally{Passed: 5, Failed: 1, Took: []took{{"unit", 61e9}}}
	all.tookLong(took{"a.TestB", 7e9})
	all.tookLong(took{"a.TestA", 65e9})
	for _, test := range []string{"e", "d", "c", "b", "a"} {
		all.skip(test, "needs root")
	}
	all.skip("f", "is slow")
	var out strings.Builder
	report(&out, all)
	const want = `
    1m1s  make unit

The tests that took longest:
    1m5s  a.TestA
      7s  a.TestB

Skipped, and why:
  is slow
      f
  needs root
      a
      b
      c
      d
      and 1 more

5 passed, 1 failed, 6 skipped
`
	if out.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", out.String(), want)
	}
}
