package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCompletion: shells are told labs, their schemes, runtimes, kinds, and the
// runs that are not named yet, the newest first.
func TestCompletion(t *testing.T) {
	dir := stored(t)
	root, name := filepath.Split(dir)
	killed := filepath.Join(root, ".partial-20260101T000000Z-x-0123abcd")
	if err := os.Mkdir(killed, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(killed, "manifest.json"), nil, 0o644); err != nil { // half of one
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("results", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(strings.TrimSuffix(root, "/"), runsDir); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string][]string{
		"run ":                                   {"quickstart\t", "smoke\t"},
		"lab show ":                              {"quickstart\t"},
		"run smoke --schemes ":                   {"droptail", "tcn"},
		"run --runtime ":                         {"netns", "sim"},
		"run --resume ":                          {"latest\t", "20260101T000000Z-x-0123abcd\tbroken", name + "\tcomplete"},
		"results rm ":                            {"latest\t", "20260101T000000Z-x-0123abcd\tbroken", name + "\tcomplete"},
		"compare latest ":                        {"20260101T000000Z-x-0123abcd\tbroken", name + "\tcomplete"},
		"compare latest --baseline ":             {"droptail", "tcn"},
		"scheme show ":                           {"ecn-sharp\t"},
		"workload show ":                         {"websearch\t"},
		"scheduler show dwrr ":                   nil,
		"results export latest --table ":         {"summary", "flows"},
		"results show --in " + t.TempDir() + " ": nil,
	} {
		words := strings.Split(line, " ")
		text, _ := run(t, 0, append([]string{"__complete"}, words...)...)
		for _, w := range want {
			at := strings.Index(text, w)
			if at < 0 {
				t.Fatalf("%q: %q is not proposed, or too early:\n%s", line, w, text)
			}
			if len(want) == 3 {
				text = text[at:] // in this order
			}
		}
		if want == nil && !strings.HasPrefix(text, ":") {
			t.Errorf("%q proposes\n%s", line, text)
		}
	}
}
