package pages

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// root is where the repository begins, seen from here.
const root = "../.."

// page is a Markdown file by lines.
type page struct {
	name  string // from root
	lines []string
	shell []block // blocks of sh
	yaml  []block // blocks of YAML
	marks []mark
}

// block is what stands between two fences.
type block struct {
	language string
	from, to int // its lines, without the fences
	text     string
}

// mark is a comment that says where what follows it comes from.
type mark struct {
	line     int // where the comment begins, from 1
	kind     string
	words    string // what follows the kind
	long     bool
	script   string // the block of sh above
	from, to int    // the lines that it is about
}

// readPage finds the blocks of a page, and its marks.
func readPage(t *testing.T, name string) *page {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	p := &page{name: name, lines: strings.Split(string(text), "\n")}
	opening := regexp.MustCompile("^```(\\w*)$")
	marking := regexp.MustCompile(`(?s)^<!-- (output|figure|cells)\b(.*)-->$`)
	var pending *mark
	for i := 0; i < len(p.lines); i++ {
		if strings.HasPrefix(p.lines[i], "<!--") {
			begin := i
			for !strings.HasSuffix(p.lines[i], "-->") {
				i++
			}
			if found := marking.FindStringSubmatch(strings.Join(p.lines[begin:i+1], "\n")); found != nil {
				words, long := strings.CutSuffix(strings.TrimSpace(found[2]), "long")
				pending = &mark{line: begin + 1, kind: found[1], words: strings.TrimSpace(words), long: long}
			}
			continue
		}
		fence := opening.FindStringSubmatch(p.lines[i])
		switch {
		case fence != nil:
			b := block{language: fence[1], from: i + 1, to: i + 1}
			for p.lines[b.to] != "```" {
				b.to++
			}
			i = b.to
			b.text = strings.Join(p.lines[b.from:b.to], "\n")
			switch {
			case pending != nil:
				pending = p.marked(*pending, b.from, b.to)
			case b.language == "sh":
				p.shell = append(p.shell, b)
			case b.language == "yaml":
				p.yaml = append(p.yaml, b)
			}
		case pending != nil && strings.HasPrefix(p.lines[i], "|"):
			from := i
			for i < len(p.lines) && strings.HasPrefix(p.lines[i], "|") {
				i++
			}
			pending = p.marked(*pending, from, i)
		case pending != nil && strings.HasPrefix(p.lines[i], "!["):
			pending = p.marked(*pending, i, i+1)
		case pending != nil && p.lines[i] != "":
			t.Fatalf("%s:%d: no block, table or image follows the comment", name, pending.line)
		}
	}
	return p
}

// marked adds a mark with the lines that it is about.
func (p *page) marked(m mark, from, to int) (none *mark) {
	m.from, m.to = from, to
	if len(p.shell) > 0 {
		m.script = p.shell[len(p.shell)-1].text
	}
	p.marks = append(p.marks, m)
	return nil
}

// files are the blocks of YAML whose names stand in the line before them, as in `mine.yaml`:
func (p *page) files() map[string]string {
	named := regexp.MustCompile("`([\\w.-]+\\.ya?ml)`:$")
	files := map[string]string{}
	for _, b := range p.yaml {
		for i := b.from - 2; i >= max(b.from-4, 0); i-- {
			if found := named.FindStringSubmatch(p.lines[i]); found != nil {
				files[found[1]] = b.text + "\n"
			}
		}
	}
	return files
}

// at says where a mark stands.
func (p *page) at(m mark) string { return fmt.Sprintf("%s:%d", p.name, m.line) }

// everyPage is the Markdown files for users.
func everyPage(t *testing.T) (names []string) {
	t.Helper()
	for _, pattern := range []string{"docs/*.md", "examples/*/README.md", "README.md", "CONTRIBUTING.md"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			name, err := filepath.Rel(root, f)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, name)
		}
	}
	return names
}
