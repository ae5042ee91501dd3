package labs

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestFiles: files of sizes and arrivals, of the background too, are named by
// their absolute paths, each once; a lab with none needs none.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	sizes, lab := filepath.Join(dir, "sizes.csv"), filepath.Join(dir, "lab.yaml")
	text := `
topology: {kind: star, hosts: 3, rate: 1Gbps}
rtt: 100us
schemes: [{name: droptail, aqm: droptail}]
workload: {sizes: {kind: cdf, file: sizes.csv}, load: 0.5, flows: 10}
`
	for path, content := range map[string]string{lab: text, sizes: "1000 0\n2000 1\n"} {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	l, err := Load(lab, Options{})
	if err != nil {
		t.Fatal(err)
	}
	l.Background = []Background{{Workload: Workload{Sizes: l.Workload.Sizes}}}
	if got := l.Files(); !slices.Equal(got, []string{sizes}) {
		t.Errorf("files %v, want %s", got, sizes)
	}
	plain, err := Load("quickstart", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := plain.Files(); len(got) > 0 {
		t.Errorf("quickstart needs %v", got)
	}
}
