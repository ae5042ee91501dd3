package main

import (
	"bytes"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"aqmlab/cli"
	"aqmlab/e2e/browsertest"
)

// written is a site and the manual, without the simulator, which has its own test.
func written(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	root, err := (cli.App{}).Command()
	if err != nil {
		t.Fatal(err)
	}
	if err := pagesOf(root, filepath.Join(dir, "site")); err != nil {
		t.Fatal(err)
	}
	if err := writeManual(root, filepath.Join(dir, "manual")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestEveryPage: the navigation has every page of the documentation once, and no other.
func TestEveryPage(t *testing.T) {
	var want, got []string
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		want = append(want, "docs/"+filepath.Base(f))
	}
	for _, part := range sections() {
		for _, p := range part.pages {
			if strings.HasPrefix(p.from, "docs/") {
				got = append(got, p.from)
			}
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the navigation has\n%q, want\n%q", got, want)
	}
}

// TestSameBytes: the same sources give the same site and manual.
func TestSameBytes(t *testing.T) {
	one, two := written(t), written(t)
	n := 0
	err := filepath.WalkDir(one, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		n++
		name, _ := filepath.Rel(one, path) // below it
		a, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		b, err := os.ReadFile(filepath.Join(two, name))
		if !bytes.Equal(a, b) {
			t.Errorf("%s differs from one time to the next", name)
		}
		return err
	})
	if err != nil || n < 80 {
		t.Errorf("%d files, %v", n, err)
	}
}

// TestManual: each command has a man page with its flags, and completions are of all shells.
func TestManual(t *testing.T) {
	dir := filepath.Join(written(t), "manual")
	text, err := os.ReadFile(filepath.Join(dir, "man", "aqmlab-run.1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"NAME", "SYNOPSIS", "--runtime", "--seeds"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the man page of run lacks %s", want)
		}
	}
	for _, name := range []string{"aqmlab.bash", "_aqmlab", "aqmlab.fish", "aqmlab.ps1"} {
		if info, err := os.Stat(filepath.Join(dir, "completions", name)); err != nil || info.Size() < 1000 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDeadLinks: a link to a page or heading that is not there fails, and is named.
func TestDeadLinks(t *testing.T) {
	all := map[string]made{
		"a.md": {links: []string{"b.html", "b.html#here", "b.html#gone", "c.html"}},
		"b.md": {ids: map[string]bool{"here": true}},
	}
	err := check(all)
	if err == nil {
		t.Fatal("dead links pass")
	}
	for _, want := range []string{"a.md", "b.html#gone", "c.html"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
	if n := strings.Count(err.Error(), "leads nowhere"); n != 2 {
		t.Errorf("%d dead links, want 2: %v", n, err)
	}
}

// TestSearch: the search finds a parameter's page, and leads there.
func TestSearch(t *testing.T) {
	ctx, _ := browsertest.Open(t)
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(written(t), "site"))))
	defer server.Close()
	browsertest.Do(ctx, t,
		chromedp.Navigate(server.URL+"/docs/runtimes.html"),
		chromedp.SendKeys(chromedp.CSS("#search"), "dualpi2 min_th"),
		browsertest.Until(`[...document.querySelectorAll("#hits a")].some(a => a.href.endsWith("reference/kinds.html#dualpi2"))`),
		chromedp.Click(chromedp.CSS(`#hits a[href$="#dualpi2"]`)),
		chromedp.WaitVisible(chromedp.CSS("h3#dualpi2")),
	)
}
