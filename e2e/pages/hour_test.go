package pages

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// hourPage is the tutorial that is walked from its first command to its last.
const hourPage = "docs/first-hour.md"

// walk runs all commands of the page in turn. From where the page says so, the scheme of
// CONTRIBUTING.md is in the program.
func walk(t *testing.T, p *page) *shell {
	t.Helper()
	code, lab := tutorial(t)
	s := newShell(t, p.files())
	for _, b := range p.shell {
		tests := strings.Contains(b.text, "go test")
		if tests {
			s.overlay = "-overlay=" + pasted(t, code)
		}
		out := s.run(t, b.text)
		for _, passed := range []string{"--- PASS: TestAVQ", "--- PASS: TestEveryScheme/avq"} {
			if tests && !strings.Contains(out, passed) {
				t.Fatalf("want %q in\n%s", passed, out)
			}
		}
	}
	if s.overlay == "" {
		t.Fatal("the page adds no scheme")
	}
	if err := os.WriteFile(filepath.Join(s.dir, "avq.yaml"), []byte(lab), 0o644); err != nil {
		t.Fatal(err)
	}
	s.run(t, "./aqmlab lab check avq.yaml && ./aqmlab run avq.yaml --runtime sim")
	return s
}

// tutorial is the code of CONTRIBUTING.md's first section, a file, a row and a test, and
// its lab. It wants the code to be sixty lines at most.
func tutorial(t *testing.T) (code []string, lab string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, begins := strings.Cut(string(text), "\n## Add a scheme")
	section, _, ends := strings.Cut(section, "\n## ")
	if !begins || !ends {
		t.Fatal("CONTRIBUTING.md has no section that adds a scheme")
	}
	for _, m := range regexp.MustCompile("(?s)```(\\w+)\n(.*?)```").FindAllStringSubmatch(section, -1) {
		switch m[1] {
		case "go":
			code = append(code, m[2])
		case "yaml":
			lab = m[2]
		}
	}
	if len(code) != 3 || lab == "" {
		t.Fatalf("want a file, a row, a test and a lab, got %q", code)
	}
	if lines := strings.Count(strings.Join(code, ""), "\n"); lines > 60 {
		t.Errorf("%d lines of code, the tutorial says 60", lines)
	}
	return code, lab
}

// pasted writes the code aside, and answers the file that tells the go command to read it
// as if it had been pasted where the tutorial says.
func pasted(t *testing.T, code []string) (overlay string) {
	t.Helper()
	here, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile(filepath.Join(here, "switch/aqm/table.go"))
	if err != nil {
		t.Fatal(err)
	}
	end := strings.LastIndex(string(table), "\t}\n}")
	if end < 0 {
		t.Fatal("the table of schemes has no end")
	}
	dir := t.TempDir()
	write := func(name string, text []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	replace := map[string]string{}
	for name, text := range map[string]string{
		"avq.go":      code[0],
		"table.go":    string(table[:end]) + code[1] + string(table[end:]),
		"avq_test.go": code[2],
	} {
		replace[filepath.Join(here, "switch/aqm", name)] = write(name, []byte(text))
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	return write("overlay.json", text)
}
