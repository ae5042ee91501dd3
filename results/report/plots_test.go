package report

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aqmlab/results"
	"aqmlab/results/resultstest"
	"aqmlab/results/store"
)

// Every figure of the page is a file of its own, in both formats, and all names
// are distinct.
func TestWritePlots(t *testing.T) {
	p, err := NewPage([]*store.Run{stored(t, resultstest.StarManifest(), resultstest.Measured())}, "")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "new", "plots")
	n, err := p.WritePlots(dir)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := p.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	if want := strings.Count(page.String(), "<figure>"); n != want || len(entries) != 2*want {
		t.Errorf("%d figures, %d files; the page has %d", n, len(entries), want)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case strings.HasSuffix(e.Name(), ".svg") && !bytes.Contains(page.Bytes(), b):
			t.Errorf("%s is not what the page shows", e.Name())
		case strings.HasSuffix(e.Name(), ".pdf") && !bytes.HasPrefix(b, []byte("%PDF-")):
			t.Errorf("%s is no PDF", e.Name())
		}
	}
}

func TestPlotsOfOneLoad(t *testing.T) {
	points := slices.DeleteFunc(resultstest.Measured(), func(p results.Point) bool { return p.Load != 0.9 })
	p, err := NewPage([]*store.Run{stored(t, resultstest.StarManifest(), points)}, "codel")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range p.Figures() {
		names = append(names, f.Name)
	}
	for _, want := range []string{"fct-small-p99-load0.9", "fct-cdf-all-load0.9", "queue-codel-load0.9", "goodput-queue-tcn-load0.9"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not among %v", want, names)
		}
	}
	if slices.Contains(names, "fct-all-mean-load") {
		t.Error("one load makes no curve against the load")
	}
}

func TestPlotsCannotBeWritten(t *testing.T) {
	p, err := NewPage([]*store.Run{stored(t, resultstest.StarManifest(), resultstest.Measured()[:1])}, "")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := p.WritePlots(file); err == nil {
		t.Error("a file was taken for a folder")
	}
	if err := p.WriteHTML(failing{}); err == nil {
		t.Error("a full disk was not noticed")
	}
	if err := p.WriteHTML(io.Discard); err != nil {
		t.Error(err)
	}
}
