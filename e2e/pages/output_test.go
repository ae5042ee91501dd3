package pages

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	update = flag.Bool("update", false, "write the pages anew, those that CI leaves out as well")
	long   = flag.Bool("long", false, "also what takes minutes of CPU time")
)

// quick are the pages of which everything is compared in CI.
var quick = []string{"README.md", "docs/first-hour.md"}

// TestPages: pages show what their commands print. Of those that are not quick the comments
// are only read.
func TestPages(t *testing.T) {
	for _, name := range everyPage(t) {
		t.Run(name, func(t *testing.T) {
			p := readPage(t, name)
			for _, m := range p.marks {
				if err := m.valid(); err != nil {
					t.Fatalf("%s: %v", p.at(m), err)
				}
			}
			if len(p.marks) == 0 || !*update && !*long && !slices.Contains(quick, name) {
				return
			}
			s := newShell(t, p.files())
			if name == hourPage {
				s = walk(t, p)
			}
			was := strings.Join(p.lines, "\n")
			for _, m := range slices.Backward(p.marks) {
				if m.long && !*long {
					continue
				}
				p.lines = slices.Replace(p.lines, m.from, m.to, p.made(t, s, m)...)
			}
			p.write(t, was)
		})
	}
}

// made is what the lines of a mark are to be.
func (p *page) made(t *testing.T, s *shell, m mark) []string {
	t.Helper()
	lines := p.lines[m.from:m.to]
	switch m.kind {
	case "output":
		text, err := output(t, s, m)
		if err != nil {
			t.Errorf("%s: %v", p.at(m), err)
			return lines
		}
		return strings.Split(text, "\n")
	case "figure":
		p.figure(t, s, m)
		return lines
	default:
		text, err := cells(t, s, m.words, lines)
		if err != nil {
			t.Errorf("%s: %v", p.at(m), err)
			return lines
		}
		return text
	}
}

// asking is what a mark of an output may say.
var asking = regexp.MustCompile(`^(?:from "([^"]+)")?\s*(?:to "([^"]+)")?\s*(?:first (\d+))?\s*(?:of (.+))?$`)

// valid tells whether the words of a mark can be read.
func (m mark) valid() error {
	switch {
	case m.kind == "output" && !asking.MatchString(m.words), m.kind == "figure" && !strings.HasSuffix(m.words, ".svg"):
		return fmt.Errorf("cannot read %q", m.words)
	case m.kind == "cells":
		_, err := parseGrid(m.words)
		return err
	}
	return nil
}

// output is what the words of a mark ask for.
func output(t *testing.T, s *shell, m mark) (string, error) {
	t.Helper()
	found := asking.FindStringSubmatch(m.words)
	first, script := 0, m.script
	if found[3] != "" {
		first, _ = strconv.Atoi(found[3]) // digits
	}
	if found[4] != "" {
		script = found[4]
	}
	return cut(s.run(t, script), found[1], found[2], first)
}

// figure compares an image with the file that the commands wrote.
func (p *page) figure(t *testing.T, s *shell, m mark) {
	t.Helper()
	s.run(t, m.script)
	got, err := os.ReadFile(filepath.Join(s.dir, m.words))
	if err != nil {
		t.Fatalf("%s: %v", p.at(m), err)
	}
	link := regexp.MustCompile(`\]\((.+)\)$`).FindStringSubmatch(p.lines[m.from])
	if link == nil {
		t.Fatalf("%s: %q is no image", p.at(m), p.lines[m.from])
	}
	file := filepath.Join(root, filepath.Dir(p.name), link[1])
	switch was, _ := os.ReadFile(file); {
	case string(was) == string(got):
	case !*update:
		t.Errorf("%s: %s is not what its command draws: run make golden", p.at(m), file)
	default:
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// write stores the page with -update, and otherwise wants it to be as it was.
func (p *page) write(t *testing.T, was string) {
	t.Helper()
	now := strings.Join(p.lines, "\n")
	switch {
	case now == was:
	case *update:
		if err := os.WriteFile(filepath.Join(root, p.name), []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s does not show what its commands print: run make golden. The first line that differs should be\n%s", p.name, differs(was, now))
	}
}

// differs is the first line of b that a does not have.
func differs(a, b string) string {
	before, after := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i, line := range after {
		if i >= len(before) || before[i] != line {
			return line
		}
	}
	return "none: the page has more"
}
