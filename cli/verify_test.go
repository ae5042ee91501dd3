package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aqmlab/results"
	"aqmlab/results/store"
)

// TestVerifyAndRepair: what is damaged is found, is not shown, and goes when asked.
func TestVerifyAndRepair(t *testing.T) {
	dir := stored(t)
	root := filepath.Dir(dir)
	if text, _ := run(t, 0, "results", "verify", "--in", root); !strings.Contains(text, dir+": whole, 2 whole points") {
		t.Errorf("a whole run: %s", text)
	}
	path := filepath.Join(dir, "tcn-load0.5-seed1", "flows.parquet")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	repair := "aqmlab results repair " + dir
	text, _ := run(t, exitFailed, "results", "verify", dir)
	for _, want := range []string{dir + ": damaged, 1 whole point", path, repair} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	raw, _ := run(t, exitFailed, "results", "verify", dir, "--json")
	if all := decode[[]store.Health](t, raw); len(all) != 1 || all[0].Points != 1 || len(all[0].Flaws) != 1 || all[0].Flaws[0].Point != "tcn-load0.5-seed1" {
		t.Errorf("as JSON: %+v", all)
	}
	text, errs := run(t, 0, "results", "show", dir)
	if strings.Contains(text, "tcn ") || !strings.Contains(errs, path) || !strings.Contains(errs, repair) {
		t.Errorf("shown: %s, %s", text, errs)
	}
	if text, errs = run(t, exitUsage, "compare", dir); text != "" || !strings.Contains(errs, path) {
		t.Errorf("compared: %s, %s", text, errs)
	}
	for _, args := range [][]string{{"--table", "flows"}, {"--table", "summary"}} {
		if _, errs = run(t, exitFailed, append([]string{"results", "export", dir}, args...)...); !strings.Contains(errs, path) {
			t.Errorf("exported %v: %s", args, errs)
		}
	}
	if _, errs = run(t, exitUsage, "results", "repair", dir); !strings.Contains(errs, "--yes") {
		t.Errorf("without --yes: %s", errs)
	}
	if _, errs = run(t, 0, "results", "repair", "--yes", dir); !strings.Contains(errs, "aqmlab run --resume "+dir) || !strings.Contains(errs, "tcn-load0.5-seed1") {
		t.Errorf("repairing: %s", errs)
	}
	if text, _ = run(t, 0, "results", "verify", dir); !strings.Contains(text, "whole, 1 whole point") {
		t.Errorf("repaired: %s", text)
	}
	if e := store.EntryOf(dir); e.State != results.Partial {
		t.Errorf("it is %+v", e)
	}
}
