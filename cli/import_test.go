package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"aqmlab/results/compare"
)

// TestImport: in htsim every flow took four milliseconds, so twice as long as under droptail.
func TestImport(t *testing.T) {
	dir, root := stored(t), t.TempDir()
	log := filepath.Join(root, "htsim.log")
	var lines strings.Builder
	for i := range 5 {
		fmt.Fprintf(&lines, "Flow Uec_1_0 flowId %d uec_%d finished at 4000.00%d total bytes 1000\n", i+1, i, i+1)
	}
	if err := os.WriteFile(log, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	out, _ := run(t, 0, "results", "import", log, "--format", "htsim", "--like", dir, "--out", root)
	found := regexp.MustCompile(`^Stored in (\S+): 5 flows; completion times are exact to 0s`).FindStringSubmatch(out)
	if found == nil {
		t.Fatalf("import printed %q", out)
	}
	raw, _ := run(t, 0, "compare", dir, found[1], "--json")
	var c compare.Comparison
	if err := json.Unmarshal([]byte(raw), &c); err != nil {
		t.Fatal(err)
	}
	if r := meanOf(t, c, "htsim"); c.Baseline != "droptail" || r.Difference != 100 {
		t.Errorf("baseline %s, row %+v: want htsim 100 %% above droptail", c.Baseline, r)
	}
	text, _ := run(t, 0, "compare", dir, found[1])
	if row := regexp.MustCompile(`(?m)^htsim .* -       -         -  other$`); !row.MatchString(text) {
		t.Errorf("counts that nobody made are shown as others:\n%s", text)
	}
	shown, _ := run(t, 0, "results", "show", found[1])
	rows, _ := run(t, 0, "results", "export", found[1], "--csv")
	if !regexp.MustCompile(`(?m)^htsim .* -  +-  +other$`).MatchString(shown) || !strings.Contains(rows, ",5,5,,,,") {
		t.Errorf("counts that nobody made are shown as others:\n%s\n%s", shown, rows)
	}
	for want, args := range map[string][]string{
		"did you mean htsim?":            {log, "--format", "htsin", "--like", dir},
		"--like: want the run":           {log, "--format", "htsim"},
		"0 traces of run":                {log, "--format", "htsim", "--like", dir, "--seed", "9"},
		"no such file":                   {log + "x", "--format", "htsim", "--like", dir},
		log + " as flowmonitor: ":        {log, "--format", "flowmonitor", "--like", dir},
		`scheme name "a b" cannot stand`: {log, "--format", "htsim", "--like", dir, "--scheme", "a b", "--out", root},
	} {
		if _, errs := run(t, exitUsage, append([]string{"results", "import"}, args...)...); !strings.Contains(errs, want) {
			t.Errorf("%v: %q, want %q", args, errs, want)
		}
	}
}
