package sweep

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"aqmlab/orchestrator"
	"aqmlab/results/response"
)

// BenchmarkShow10000 reads 10,000 stored points and makes the page of them.
func BenchmarkShow10000(b *testing.B) {
	s := Store{Dir: b.TempDir()}
	spec := Spec{Lab: "quickstart", Set: []string{"seeds=1..10"}, Schemes: []string{"tcn"}, Runtime: orchestrator.Simulator()}
	for _, text := range []string{"workload.load=0.01..1/0.01", "schemes.tcn.threshold=100us..1000us/100us"} {
		g, err := ParseGroup(text)
		if err != nil {
			b.Fatal(err)
		}
		spec.Groups = append(spec.Groups, g)
	}
	w, err := spec.Expand()
	if err != nil || len(w.Measurements()) != 10_000 {
		b.Fatal(len(w.Measurements()), err)
	}
	for i, p := range w.Measurements() {
		folder := s.Folder(p.Key)
		text := fmt.Sprintf(`{"small.p99": %d, "all.avg": %d, "large.avg": %d}`, 1000+i%977, 500+i%499, 9000+i%1009)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, figuresFile), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		set, err := s.Response(w)
		if err != nil || len(set.Points) != 10_000 {
			b.Fatal(len(set.Points), err)
		}
		view, err := response.New(set, response.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := view.WriteHTML(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}
