package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLinks: every relative link of a Markdown file leads to a file that is there,
// and to a heading of it where the link names one.
func TestLinks(t *testing.T) {
	out, err := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md").Output()
	if err != nil {
		t.Skipf("listing the files needs git: %v", err)
	}
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for _, from := range strings.Fields(string(out)) {
		for _, found := range link.FindAllStringSubmatch(prose(t, from), -1) {
			to, heading, _ := strings.Cut(found[1], "#")
			if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
				continue
			}
			file := from
			if to != "" {
				file = filepath.Join(filepath.Dir(from), to)
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s: %s: %v", from, found[1], err)
				continue
			}
			if heading != "" && strings.HasSuffix(file, ".md") && !anchors(t, file)[heading] {
				t.Errorf("%s: %s: %s has no such heading", from, found[1], file)
			}
		}
	}
}

// prose is a Markdown file without its code blocks and code spans, whose brackets
// are no links.
func prose(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile("(?ms)^\\s*```.*?^\\s*```").ReplaceAllString(string(raw), "")
	return regexp.MustCompile("`[^`\n]*`").ReplaceAllString(text, "")
}

// anchors are the names that GitHub gives to the headings of a file.
func anchors(t *testing.T, file string) map[string]bool {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	drop := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	for _, h := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(string(raw), -1) {
		name := drop.ReplaceAllString(strings.ToLower(h[1]), "")
		names[strings.ReplaceAll(name, " ", "-")] = true
	}
	return names
}
