package cli

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aqmlab/results"
	"aqmlab/results/store"
)

func TestResultsList(t *testing.T) {
	dir := stored(t)
	root, name := filepath.Split(dir)
	killed := filepath.Join(root, ".partial-20260101T000000Z-x-0123abcd")
	if err := os.Mkdir(killed, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(killed, "manifest.json"), nil, 0o644); err != nil { // half of one
		t.Fatal(err)
	}
	text, _ := run(t, 0, "results", "list", "--in", root)
	for _, want := range []string{name + "  complete  2 of 2  netns", "20260101T000000Z-x-0123abcd  broken", "manifest.json: unexpected end of JSON input"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	raw, _ := run(t, 0, "results", "list", "--in", root, "--json")
	entries := decode[[]store.Entry](t, raw)
	if len(entries) != 2 || entries[0].Name != name || entries[0].State != results.Complete || entries[1].State != results.Broken {
		t.Errorf("listed %+v", entries)
	}
	raw, errs := run(t, 0, "results", "list", "--in", t.TempDir())
	if raw != "" || !strings.Contains(errs, "No runs in") {
		t.Errorf("an empty folder: %q, %q", raw, errs)
	}
	if raw, _ = run(t, 0, "results", "list", "--in", t.TempDir(), "--json"); strings.TrimSpace(raw) != "[]" {
		t.Errorf("an empty folder as JSON: %q", raw)
	}
}

func TestResultsShow(t *testing.T) {
	dir := stored(t)
	root := filepath.Dir(dir)
	text, _ := run(t, 0, "results", "show", "latest", "--in", root)
	for _, want := range []string{dir, "complete", "netns, dilation 1, dctcp from kernel", "2 of 2", "5 of 5", "2ms"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	raw, _ := run(t, 0, "results", "show", dir, "--json")
	if s := decode[shownRun](t, raw); s.Dir != dir || s.Manifest.Lab != "x" || len(s.Runs) != 2 || s.State != results.Complete {
		t.Errorf("shown %+v", s)
	}
	if _, errs := run(t, exitUsage, "results", "show", "none", "--in", root); !strings.Contains(errs, filepath.Base(dir)) {
		t.Errorf("an unknown run: %s", errs)
	}
}

// TestResultsRemove: without a terminal to ask on only --force removes, and
// nothing of several goes when one of them must stay.
func TestResultsRemove(t *testing.T) {
	dir, other := stored(t), t.TempDir()
	exists := func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	}
	if _, errs := run(t, exitUsage, "results", "rm", dir); !strings.Contains(errs, "--force") || !exists(dir) {
		t.Errorf("without --force: %s", errs)
	}
	if _, errs := run(t, exitUsage, "results", "rm", "-f", dir, other); !strings.Contains(errs, "not the folder of a run") || !exists(dir) || !exists(other) {
		t.Errorf("with a folder of somebody else: %s", errs)
	}
	if _, errs := run(t, 0, "results", "rm", "--force", "--in", filepath.Dir(dir), "latest", dir); !strings.Contains(errs, "Removed "+dir) || exists(dir) {
		t.Errorf("removing: %s", errs)
	}
	if _, err := os.Lstat(filepath.Join(filepath.Dir(dir), "latest")); !os.IsNotExist(err) {
		t.Errorf("latest names nothing, and is there: %v", err)
	}
}

func TestResultsExport(t *testing.T) {
	dir := stored(t)
	text, _ := run(t, 0, "results", "export", dir, "--csv", "--table", "flows")
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(rows) != 1+2*5 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	raw, _ := run(t, 0, "results", "export", dir, "--json")
	if objects := decode[[]map[string]any](t, raw); len(objects) != 2*4 || objects[0]["scheme"] != "droptail" {
		t.Errorf("exported %v", objects)
	}
	out := filepath.Join(t.TempDir(), "a", "b")
	run(t, 0, "results", "export", dir, "--out", out)
	for _, file := range []string{"summary.csv", "flows.csv", "series.csv"} {
		if b, err := os.ReadFile(filepath.Join(out, file)); err != nil || !strings.HasPrefix(string(b), "scheme,load,seed,") {
			t.Errorf("%s: %q, %v", file, b, err)
		}
	}
	for want, args := range map[string][]string{
		"want one of them": {"--csv", "--json"},
		"want one of summary, coexistence, flows, series": {"--table", "queues"},
		"several tables need a folder":                    {"--table", "flows,series"},
		"unknown table \"queues\": want one of":           {"--table", "queues", "--out", out},
	} {
		if text, errs := run(t, exitUsage, append([]string{"results", "export", dir}, args...)...); text != "" || !strings.Contains(errs, want) {
			t.Errorf("%v: %q, %q, want %q", args, text, errs, want)
		}
	}
	if _, err := os.Stat(filepath.Join(out, "queues.csv")); !os.IsNotExist(err) {
		t.Errorf("a table that is not there left a file: %v", err)
	}
}
