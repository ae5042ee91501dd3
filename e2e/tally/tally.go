package main

import (
	"bufio"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

// tally is what has become of tests; a subtest counts as one.
type tally struct {
	Passed, Failed int
	Skipped        map[string][]string // names of tests, by reason
	Took           []took              // parts of a run, in their order
	Long           []took              // tests that took seconds, the longest first
}

// took is the wall time of a part, or of a test, without what it waited for others.
type took struct {
	Of   string
	Time time.Duration
}

// longest is how many tests are named for the time that they took.
const longest = 12

func (t *tally) tookLong(tests ...took) {
	t.Long = append(t.Long, tests...)
	slices.SortStableFunc(t.Long, func(a, b took) int { return cmp.Compare(b.Time, a.Time) })
	t.Long = t.Long[:min(longest, len(t.Long))]
}

func (t *tally) skip(test, reason string) {
	if t.Skipped == nil {
		t.Skipped = map[string][]string{}
	}
	if !slices.Contains(t.Skipped[reason], test) { // with the race detector again
		t.Skipped[reason] = append(t.Skipped[reason], test)
	}
}

func (t *tally) add(o tally) {
	t.Passed += o.Passed
	t.Failed += o.Failed
	t.tookLong(o.Long...)
	for reason, tests := range o.Skipped {
		for _, test := range tests {
			t.skip(test, reason)
		}
	}
}

// event is one of `go test -json`, see `go doc test2json`.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64 // s, of a test that has ended
}

// name is the test with its package.
func (e event) name() string { return strings.TrimPrefix(e.Package, "aqmlab/") + "." + e.Test }

// reader tallies the events of go test, and prints what go test would.
type reader struct {
	tally
	out  io.Writer
	all  bool                // -v
	said map[string][]string // by tests and packages that have not ended
	bad  []string            // packages under way of which a test has failed
}

func (r *reader) read(events io.Reader) error {
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var e event
		if json.Unmarshal(line, &e) != nil {
			fmt.Fprintf(r.out, "%s", line) // of the go command itself
			continue
		}
		r.take(e)
	}
}

func (r *reader) take(e event) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "build-output":
		fmt.Fprint(r.out, e.Output)
	case "output":
		if r.all {
			fmt.Fprint(r.out, e.Output)
		}
		r.said[key] = append(r.said[key], e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" {
			r.endPackage(e, r.said[key])
		} else {
			r.endTest(e, r.said[key])
		}
		delete(r.said, key)
	}
}

func (r *reader) endTest(e event, said []string) {
	const long = 5 // s
	if e.Elapsed >= long && !strings.Contains(e.Test, "/") {
		r.tookLong(took{e.name(), time.Duration(e.Elapsed * float64(time.Second))})
	}
	switch e.Action {
	case "pass":
		r.Passed++
	case "fail":
		r.Failed, r.bad = r.Failed+1, append(r.bad, e.Package)
		r.print(said)
	case "skip":
		r.skip(e.name(), reason(said))
	}
}

func (r *reader) endPackage(e event, said []string) {
	if e.Action == "fail" && !slices.Contains(r.bad, e.Package) { // it does not build, or its end failed
		r.Failed++
		for key, rest := range r.said { // of what ran when it crashed
			if key != e.Package+" " && strings.HasPrefix(key, e.Package+" ") {
				r.print(rest)
				delete(r.said, key)
			}
		}
	}
	r.bad = slices.DeleteFunc(r.bad, func(bad string) bool { return bad == e.Package })
	r.print(slices.DeleteFunc(said, func(line string) bool { return line == "PASS\n" || strings.Contains(line, "[no test files]") }))
}

func (r *reader) print(said []string) {
	if !r.all {
		fmt.Fprint(r.out, strings.Join(said, ""))
	}
}

// place is where a test said something.
var place = regexp.MustCompile(`^\s*\S+\.go:\d+: `)

// reason is the first line that a test which was skipped has said.
func reason(said []string) string {
	for _, line := range said {
		if at := place.FindString(line); at != "" {
			return strings.TrimSpace(line[len(at):])
		}
	}
	return "no reason given"
}

// report prints the tables and the closing line.
func report(out io.Writer, t tally) {
	if len(t.Took) > 0 {
		fmt.Fprintln(out)
	}
	for _, p := range t.Took {
		fmt.Fprintf(out, "%8s  make %s\n", p.Time.Round(time.Second), p.Of)
	}
	if len(t.Long) > 0 {
		fmt.Fprintln(out, "\nThe tests that took longest:")
	}
	for _, test := range t.Long {
		fmt.Fprintf(out, "%8s  %s\n", test.Time.Round(time.Second), test.Of)
	}
	skipped := 0
	for _, tests := range t.Skipped {
		skipped += len(tests)
	}
	if skipped > 0 {
		fmt.Fprintln(out, "\nSkipped, and why:")
	}
	for _, reason := range t.reasons() {
		tests := t.Skipped[reason]
		slices.Sort(tests)
		fmt.Fprintf(out, "  %s\n", reason)
		const most = 4 // names of each
		for _, test := range tests[:min(most, len(tests))] {
			fmt.Fprintf(out, "      %s\n", test)
		}
		if more := len(tests) - most; more > 0 {
			fmt.Fprintf(out, "      and %d more\n", more)
		}
	}
	fmt.Fprintf(out, "\n%d passed, %d failed, %d skipped\n", t.Passed, t.Failed, skipped)
}

func (t tally) reasons() []string {
	var all []string
	for reason := range t.Skipped {
		all = append(all, reason)
	}
	slices.Sort(all)
	return all
}

// allowed holds the reasons for which CI may skip a test: a line each, of when (on
// any machine, or but Debian), the begin of the reason, and why it may.
//
//go:embed skips.txt
var allowed string

// refuse fails for tests that were skipped though CI has what they need.
func (t tally) refuse(debian bool) error {
	var could []string
	for _, reason := range t.reasons() {
		if !mayskip(reason, debian) {
			could = append(could, fmt.Sprintf("%s (%s)", reason, strings.Join(t.Skipped[reason], ", ")))
		}
	}
	if len(could) > 0 {
		return fmt.Errorf("CI skipped what it could have run: %s", strings.Join(could, "; "))
	}
	return nil
}

func mayskip(reason string, debian bool) bool {
	for line := range strings.Lines(allowed) {
		fields := strings.Split(strings.TrimSpace(line), " | ")
		if len(fields) == 3 && strings.HasPrefix(reason, fields[1]) && (fields[0] == "any" || !debian) {
			return true
		}
	}
	return false
}

// isDebian tells whether this is Debian, for which CI installs everything.
func isDebian() (bool, error) {
	text, err := os.ReadFile("/etc/os-release")
	return strings.Contains("\n"+string(text), "\nID=debian\n"), err
}
