package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aqmlab/results/report"
)

// TestDerivedIsTold: what a scheme computes from base RTTs that vary stands wherever
// a lab or a run is looked at. The 90th percentile of 80 to 240 us with a long tail
// is 220 us (ECN#, section 5.3).
func TestDerivedIsTold(t *testing.T) {
	const said = "tcn: threshold 220us from the 90th percentile of base RTTs (220us)"
	dir := t.TempDir()
	lab := filepath.Join(dir, "x.yaml")
	text := `topology: {hosts: 3, rate: 10Gbps}
rtt: {min: 80us, max: 240us, distribution: long-tail}
schemes: [{name: tcn, aqm: tcn}, {name: droptail, aqm: droptail}]
workload: {sizes: {kind: fixed, size: 10KB}, flows: 5}
`
	if err := os.WriteFile(lab, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	tells := func(what, text string) {
		t.Helper()
		text = strings.Join(strings.Fields(text), " ") // lines are broken
		if strings.Count(text, said) != 1 || strings.Contains(text, "droptail: threshold") {
			t.Errorf("%s: want one %q:\n%s", what, said, text)
		}
	}
	shown, _ := run(t, 0, "lab", "show", lab)
	tells("lab show", shown)
	checked, _ := run(t, 0, "lab", "check", lab)
	tells("lab check", checked)
	ran, _ := run(t, 0, "run", lab, "--runtime", "sim", "--out", dir)
	tells("run", ran)
	latest := filepath.Join(dir, "latest")
	results, _ := run(t, 0, "results", "show", latest)
	tells("results show", results)
	page, err := os.ReadFile(filepath.Join(latest, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	tells("the report", string(page))
	raw, _ := run(t, 0, "run", lab, "--runtime", "sim", "--out", dir, "--json")
	if got := decode[report.RunJSON](t, raw).Derived; len(got) != 1 || got[0].Scheme != "tcn" || got[0].Param != "threshold" || got[0].Value != "220us" {
		t.Errorf("run --json: %+v", got)
	}
}
