package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEngineFlags: what does not fit is an error that names the flag and what is allowed.
func TestEngineFlags(t *testing.T) {
	store := t.TempDir()
	for line, want := range map[string]string{
		"quickstart --engine slrum":                               "--engine: unknown engine \"slrum\": want one of local, slurm (did you mean slurm?)",
		"quickstart --slurm-time 1h":                              "--slurm-time: the engine is local: want it beside --engine slurm",
		"quickstart --engine slurm --slurm-time 5":                "--slurm-time: \"5\" is no time of a second or more: want one such as 90s",
		"quickstart --engine slurm --slurm-time 5m":               "--slurm-time: 5m is less than the 10m that a job is to take",
		"quickstart --engine slurm --slurm-queue 0":               "--slurm-queue: 0 is outside 1 to 1000000",
		"quickstart --engine slurm --slurm-memory 4":              "--slurm-memory: ",
		"quickstart --engine slurm --slurm-option exclusive":      "--slurm-option: \"exclusive\": want an option of sbatch",
		"quickstart --engine slurm --runtime netns --schemes tcn": "no other machine can measure this: the results of runtime netns",
		"--attach nothing":                                        "no such sweep",
		"--attach nothing --seeds 3":                              "--attach: the sweep keeps what it was begun with: want no --seeds",
		"quickstart --attach nothing":                             "accepts 0 arg(s)",
		"cancel nothing":                                          "no such sweep",
	} {
		var errs bytes.Buffer
		args := append([]string{"sweep"}, strings.Fields(line)...)
		code := App{}.Main(append(args, "--store", store), Streams{Out: &errs, Err: &errs})
		if code != exitUsage || !strings.Contains(errs.String(), want) {
			t.Errorf("sweep %s: exit code %d, %s\nwant %d, %s", line, code, errs.String(), exitUsage, want)
		}
	}
}

// TestAttachToLocal: a sweep that this machine measured has nothing to follow or cancel.
func TestAttachToLocal(t *testing.T) {
	store := t.TempDir()
	sweep := func(want int, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		if code := (App{}).Main(append([]string{"sweep", "--store", store}, args...), Streams{Out: &out, Err: &out}); code != want {
			t.Fatalf("%v: exit code %d, want %d\n%s", args, code, want, out.String())
		}
		return out.String()
	}
	sweep(0, "smoke", "--flows", "5", "--seeds", "1", "--schemes", "tcn")
	entries, err := os.ReadDir(filepath.Join(store, "sweeps"))
	if err != nil || len(entries) != 1 {
		t.Fatal(entries, err)
	}
	if said := sweep(exitUsage, "--attach", entries[0].Name()); !strings.Contains(said, "it was not given to a cluster") {
		t.Error(said)
	}
}
