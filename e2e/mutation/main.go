// Command mutation changes the source in small ways, one at a time, and says which changes
// no test notices:
//
//	go run ./e2e/mutation [-workers N] [-only REPORT] PATTERN...
//
// The packages of a pattern are built once, with all mutants in them, and each process of a
// test chooses one. A mutant is tried with the tests of these packages that come by it.
// Survivors that survivors.txt explains are no error; others are.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
)

func main() {
	workers := flag.Int("workers", 2, "how many mutants are tried at once")
	only := flag.String("only", "", "try only the mutants that an earlier report, in this file, names as survivors")
	known := flag.String("known", "e2e/mutation/survivors.txt", "survivors that are known, and why they survive")
	flag.Parse()
	if err := run(flag.Args(), options{*workers, *only, *known}, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mutation:", err)
		os.Exit(1)
	}
}

type options struct {
	workers     int
	only, known string
}

// required is the share of mutants, in percent, that tests must kill.
const required = 90

func run(patterns []string, o options, out io.Writer) error {
	known, err := readLines(o.known)
	if err != nil {
		return err
	}
	var only map[string]bool
	if o.only != "" {
		if only, err = readLines(o.only); err != nil {
			return err
		}
	}
	counts := make(map[string]*count)
	var unknown int
	for _, pattern := range patterns {
		err := runGroup(pattern, o.workers, only, func(m mutant, r outcome) {
			c := counts[path.Dir(m.file)]
			if c == nil {
				c = new(count)
				counts[path.Dir(m.file)] = c
			}
			c.all++
			switch {
			case r.killed:
				c.killed++
				if known[m.key()] {
					fmt.Fprintf(out, "killed, though it is listed: %s\n", m.key())
				}
			case !r.reached:
				c.unreached++
				fallthrough
			default:
				if known[m.key()] {
					c.known++
					return
				}
				unknown++
				fmt.Fprintf(out, "%s:%d:%d: lives, reached %v\n%s\n", m.file, m.line, m.col, r.reached, m.key())
			}
		})
		if err != nil {
			return err
		}
	}
	var total count
	fmt.Fprintf(out, "%-24s %7s %7s %7s %10s %10s\n", "package", "mutants", "killed", "percent", "explained", "unreached")
	for _, name := range sortedKeys(counts) {
		c := counts[name]
		c.print(out, name)
		total.all, total.killed, total.known, total.unreached = total.all+c.all, total.killed+c.killed, total.known+c.known, total.unreached+c.unreached
	}
	total.print(out, "all")
	var failed error
	if only == nil && total.killed*100 < total.all*required {
		failed = fmt.Errorf("less than %d %% of the mutants were killed", required)
	}
	if unknown > 0 {
		failed = errors.Join(failed, fmt.Errorf("%d mutants live that %s does not explain", unknown, o.known))
	}
	return failed
}

// count is the outcomes of a package's mutants.
type count struct{ all, killed, known, unreached int }

func (c count) print(out io.Writer, name string) {
	fmt.Fprintf(out, "%-24s %7d %7d %7.1f %10d %10d\n", name, c.all, c.killed, 100*float64(c.killed)/float64(max(c.all, 1)), c.known, c.unreached)
}

func runGroup(pattern string, workers int, only map[string]bool, tell func(mutant, outcome)) (err error) {
	dir, err := os.MkdirTemp("", "aqmlab-mutation-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	g, err := build(pattern, dir)
	if err != nil {
		return err
	}
	tests, err := g.measure(dir)
	if err != nil {
		return err
	}
	mutants := g.mutants
	if only != nil {
		mutants = slices.DeleteFunc(slices.Clone(mutants), func(m mutant) bool { return !only[m.key()] })
	}
	fmt.Fprintf(os.Stderr, "%s: %d mutants, %d tests\n", pattern, len(mutants), len(tests))
	return tryAll(mutants, tests, workers, tell)
}

// key says which mutant it is as long as its line of the source stays.
func (m mutant) key() string { return fmt.Sprintf("%s | %s | %s", m.file, m.change, m.source) }

// readLines is the lines of a file that name mutants. Others are comments.
func readLines(file string) (map[string]bool, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := make(map[string]bool)
	for s := bufio.NewScanner(f); s.Scan(); {
		if strings.Contains(s.Text(), " | ") && !strings.HasPrefix(s.Text(), "#") {
			lines[s.Text()] = true
		}
	}
	return lines, nil
}

func sortedKeys(m map[string]*count) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
