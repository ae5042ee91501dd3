package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"aqmlab/labs"
	"aqmlab/switch/aqm"
	"aqmlab/switch/port"
)

// tutorial is the blocks of code of CONTRIBUTING.md's first section, by language.
func tutorial(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, begins := strings.Cut(string(text), "\n## Add a scheme")
	section, _, ends := strings.Cut(section, "\n## ")
	if !begins || !ends {
		t.Fatal("CONTRIBUTING.md has no section that adds a scheme")
	}
	blocks := map[string][]string{}
	for _, m := range regexp.MustCompile("(?s)```(\\w+)\n(.*?)```").FindAllStringSubmatch(section, -1) {
		blocks[m[1]] = append(blocks[m[1]], m[2])
	}
	if len(blocks["go"]) != 3 || len(blocks["yaml"]) != 1 {
		t.Fatalf("want a file, a row, a test and a lab, got %q", blocks)
	}
	return blocks
}

// TestTutorialScheme follows the tutorial: file, row and test are sixty lines, and
// with them the tests of schemes pass, its own and those of every scheme.
func TestTutorialScheme(t *testing.T) {
	code := tutorial(t)["go"]
	if lines := strings.Count(strings.Join(code, ""), "\n"); lines > 60 {
		t.Errorf("%d lines of code, the tutorial says 60", lines)
	}
	table, err := os.ReadFile("switch/aqm/table.go")
	if err != nil {
		t.Fatal(err)
	}
	end := strings.LastIndex(string(table), "\t}\n}")
	if end < 0 {
		t.Fatal("the table of schemes has no end")
	}
	overlay := overlaid(t, map[string]string{
		"switch/aqm/avq.go":      code[0],
		"switch/aqm/table.go":    string(table[:end]) + code[1] + string(table[end:]),
		"switch/aqm/avq_test.go": code[2],
	})
	test := exec.Command("go", "test", "-v", "-overlay", overlay, "-run", "^(TestAVQ|TestEveryScheme)$", "./switch/aqm")
	out, err := test.CombinedOutput()
	for _, passed := range []string{"--- PASS: TestAVQ", "--- PASS: TestEveryScheme/avq"} {
		if err != nil || !strings.Contains(string(out), passed) {
			t.Fatalf("%v: want %q in\n%s", err, passed, out)
		}
	}
}

// overlaid writes the files aside, and answers the file that tells the go command
// to read them in place of what is there, or is not.
func overlaid(t *testing.T, files map[string]string) (overlay string) {
	t.Helper()
	dir := t.TempDir()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, text []byte) string {
		path := filepath.Join(dir, filepath.Base(name))
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	replace := map[string]string{}
	for name, text := range files {
		replace[filepath.Join(here, name)] = write(name, []byte(text))
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	return write("overlay.json", text)
}

// TestTutorialLab: the tutorial's lab is right but for the scheme, which only a
// program that has it knows.
func TestTutorialLab(t *testing.T) {
	row, err := aqm.Table().Find("tcn")
	if err != nil {
		t.Fatal(err)
	}
	row.Name = "avq"
	kinds, err := port.NewKinds([]aqm.Kind{row}, nil)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "avq.yaml")
	if err := os.WriteFile(file, []byte(tutorial(t)["yaml"][0]), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := labs.Load(file, labs.Options{Kinds: kinds})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(l.Schemes); n != 2 || l.Schemes[1].AQM.Kind != "avq" {
		t.Errorf("%d schemes: %+v", n, l.Schemes)
	}
}
