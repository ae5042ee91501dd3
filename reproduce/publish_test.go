package reproduce

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aqmlab/reproduce/papers"
)

// tree reads all files of the card, but no runs.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	for _, pattern := range []string{"*.md", "*/*.json", "*/*.svg", "*/*.new"} {
		names, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files[strings.TrimPrefix(name, root+"/")] = string(b)
		}
	}
	return files
}

// The page has every claim, its figures and what measured them, and comes out the
// same of the same records, whatever experiments were asked for at whatever scale.
func TestPublish(t *testing.T) {
	p := planned(t, Standard, "tcn-fig6")
	p.Command = "aqmlab reproduce tcn-fig6"
	claims := p.experiment("tcn-fig6").Claims
	against := claims[slices.IndexFunc(claims, func(c papers.Claim) bool { return c.ID == "tcn-fig6-c4" })] // CoDel
	scores(t, p, "sim", func(j point) float64 {
		if j.Scheme == "tcn" {
			return 50
		}
		return 100
	})
	if err := p.newRecorder(Todo{}).finish(); err != nil {
		t.Fatal(err)
	}
	files := tree(t, p.Out)
	page := files["README.md"]
	for _, want := range []string{
		"### tcn-fig6: Isolation of four services with DWRR", "Record: [tcn-fig6.json](tcn/tcn-fig6.json)",
		"| c2: mean FCT of small flows [tcn against per-queue-standard] | up to -61.4 % | -50 % (-50 to -50), n 60 | direction only |",
		"- c4, direction only: " + against.Explanation,
		"![mean FCT of small flows against the load, tcn-fig6, sim](tcn/tcn-fig6_small-mean-sim.svg)",
		"`aqmlab reproduce tcn-fig6` | sim | 24 |",
		"### ecnsharp-fig9", "- all 24 claims, described: what machines of the authors add", "| abq | 0 | 0 | 0 |",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	for name := range files {
		if strings.HasSuffix(name, ".svg") && !strings.Contains(page, "("+name+")") {
			t.Errorf("the page does not show %s", name)
		}
		if strings.HasSuffix(name, ".new") {
			t.Errorf("%s was left", name)
		}
	}
	if !strings.Contains(files["tcn/tcn-fig6_small-mean-sim.svg"], "tcn at 0.9: 0.500") {
		t.Error("the figure has not the point at 0.9")
	}
	dropRuns(t, p)
	q := again(t, p, "ecnsharp-fig4")
	for _, q.Scale = range []Scale{Standard, Headline} {
		if err := q.newRecorder(Todo{}).finish(); err != nil {
			t.Fatal(err)
		}
		for name, text := range tree(t, p.Out) {
			if files[name] != text {
				t.Errorf("%s is another one when it is written again at the %s scale", name, q.Scale)
			}
		}
	}
}

// Before anything was run, the page says so.
func TestPublishNothing(t *testing.T) {
	p := planned(t, Standard, "tcn-fig6")
	if err := publish(p.Options); err != nil {
		t.Fatal(err)
	}
	files := tree(t, p.Out)
	if len(files) != 1 || !strings.Contains(files["README.md"], "Nothing has been measured yet.") {
		t.Errorf("files %v", files)
	}
}
