package cli

import (
	"strings"
	"testing"

	"aqmlab/results"
)

// The command runs an experiment, prints its card, and runs nothing twice.
func TestReproduce(t *testing.T) {
	dir := t.TempDir()
	out, errs := run(t, 0, "reproduce", "tcn-sec5-limiter", "--quick", "--out", dir)
	if !strings.Contains(out, "QUICK") || !strings.Contains(out, "of 1 claims established") || !strings.Contains(errs, "1 point to run, 0 stored; about ") {
		t.Errorf("stdout:\n%s\nstderr:\n%s", out, errs)
	}
	if out, _ := run(t, 0, "reproduce", "tcn-sec5-limiter", "--quick", "--plan", "--out", t.TempDir()); !strings.Contains(out, "tcn-sec5-limiter  ") || !strings.Contains(out, "1 point to run, 0 stored") {
		t.Errorf("plan:\n%s", out)
	}
	if out, _ := run(t, 0, "reproduce", "tcn-sec5-limiter", "--quick", "--plan", "--since", "2999-12-31", "--out", dir); !strings.Contains(out, "1 point to run, 0 stored") {
		t.Errorf("what was measured before the year 3000 is not to be run anew:\n%s", out)
	}
	if _, errs := run(t, 0, "reproduce", "tcn-sec5-limiter", "--quick", "--out", dir); !strings.Contains(errs, "0 points to run, 1 stored") {
		t.Errorf("second time:\n%s", errs)
	}
	const unnamed = "does not know its git revision"
	_, revision := results.ThisBuild()
	if _, errs := run(t, 0, "reproduce", "tcn-sec5-limiter", "--out", dir); strings.Contains(errs, unnamed) != (revision == results.UnknownRevision) {
		t.Errorf("revision %s:\n%s", revision, errs)
	}
	if strings.Contains(errs, unnamed) {
		t.Errorf("of the quick scale, which is no result:\n%s", errs)
	}
	out, _ = run(t, 0, "reproduce", "tcn-sec5-limiter", "--quick", "--card", "--json", "--out", dir)
	card := decode[struct {
		Scale  string
		Claims []map[string]any
		Counts map[string]int

		Established, Unexplained   int
		Shortfalls, Causes, Papers map[string]any
	}](t, out)
	if card.Established != 0 || card.Shortfalls["no interval"] != 1.0 || card.Causes["chance"] != 0.0 || card.Papers["tcn"] == nil {
		t.Errorf("a claim by one seed: %+v", card)
	}
	if len(card.Claims) != 1 || card.Claims[0]["id"] != "tcn-sec5-limiter-c1" || card.Claims[0]["sim"] == nil || card.Counts["not run"] != 0 {
		t.Errorf("card %+v", card)
	}
}

// The help says how long each scale takes.
func TestReproduceHelpTellsDurations(t *testing.T) {
	out, _ := run(t, 0, "reproduce", "--help")
	for _, scale := range []string{"--quick", "--standard", "--full"} {
		if _, after, found := strings.Cut(out, "      "+scale+" "); !found || !strings.Contains(strings.SplitN(after, "\n", 2)[0], "on two cores") {
			t.Errorf("%s: no duration in\n%s", scale, out)
		}
	}
}

func TestReproduceUsage(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"tcn-fig99"}, "tcn-fig9"},
		{[]string{"tcn", "--quick", "--full"}, "quick"},
		{[]string{"tcn", "--runtime", "auto"}, "want one of"},
		{[]string{"tcn", "--jobs", "-1"}, "--jobs"},
		{[]string{"tcn-fig6", "--loads", "0.95"}, "want one of 0.3, 0.6, 0.9"},
		{[]string{"tcn", "--loads", "high"}, "--loads"},
		{[]string{"tcn", "--flows", "0"}, "want 1 or more"},
		{[]string{"tcn", "--seeds", "0"}, "want 1 to 1000"},
		{[]string{"tcn", "--seeds", "1001"}, "want 1 to 1000"},
		{[]string{"tcn", "--since", "yesterday"}, "2026-11-20"},
		{[]string{"tcn", "--plan", "--card"}, "plan"},
	} {
		if _, errs := run(t, 2, append([]string{"reproduce"}, tt.args...)...); !strings.Contains(errs, tt.want) {
			t.Errorf("%v: %s", tt.args, errs)
		}
	}
}

// A record's command says what was measured, not where and by how many at once.
func TestCommandOfRecords(t *testing.T) {
	args := strings.Fields("reproduce tcn-fig1 --out /tmp/x --seeds 5 --jobs=2 --runtime uml --out=y")
	if got, want := measuredBy(args), "aqmlab reproduce tcn-fig1 --seeds 5 --runtime uml"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
