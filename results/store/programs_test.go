package store

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"aqmlab/results"
	"aqmlab/results/resultstest"
)

// TestPrograms: what programs did, measured and wrote is stored, and a byte of it that
// changes is told.
func TestPrograms(t *testing.T) {
	p := resultstest.Everything()[0]
	p.Programs = []results.Program{
		{Name: "server", Host: "h1", Start: -time.Millisecond, End: time.Second, Exit: results.Unknown, Signal: "SIGTERM", Stopped: true, Sent: 1 << 20, Received: 9, Retransmits: 3},
		{Name: "client", Host: "h2", Exit: results.Unknown, Error: "no such file", Sent: results.Unknown, Received: results.Unknown, Retransmits: results.Unknown},
	}
	p.Figures = []results.ProgramSample{{Program: "client", Metric: "rtt", Unit: "us", Better: results.Lower, Value: 1.5}}
	p.Outputs = []results.ProgramFile{{Name: results.OutputFile("server", "err"), Text: []byte("words\n")}}
	run := stored(t, resultstest.StarManifest(), []results.Point{p})
	got, err := run.Points()[0].Read()
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Programs, p.Programs) || !reflect.DeepEqual(got.Figures, p.Figures) {
		t.Errorf("%+v\n%+v", got.Programs, got.Figures)
	}
	if h := Verify(run.Dir); len(h.Flaws) > 0 {
		t.Error(h.Flaws)
	}
	file := filepath.Join(run.Points()[0].Path(), "program-server.err")
	if text, err := os.ReadFile(file); err != nil || string(text) != "words\n" {
		t.Errorf("%q, %v", text, err)
	}
	if err := os.WriteFile(file, []byte("sword\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if h := Verify(run.Dir); len(h.Flaws) != 1 || !strings.Contains(h.Flaws[0].Why, file) {
		t.Errorf("a changed file: %+v", h.Flaws)
	}
	if err := Remove(run.Dir); err != nil {
		t.Error(err)
	}
}
