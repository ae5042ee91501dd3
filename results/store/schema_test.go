package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"aqmlab/results"
	"aqmlab/results/resultstest"
)

// TestEarliest: a run that the first version stored says today what that version said of
// it in its summary.
func TestEarliest(t *testing.T) {
	run := open(t, "testdata/earliest/20261124T082123Z-quickstart-32070448")
	text, err := os.ReadFile(filepath.Join(run.Dir, SummaryFile))
	if err != nil {
		t.Fatal(err)
	}
	var said struct {
		Runs []struct {
			results.Coord
			Completed              int
			FCT                    map[results.Class]results.FCT `json:"fct_us"`
			Marks, Drops, Timeouts int64
		}
	}
	if err := json.Unmarshal(text, &said); err != nil {
		t.Fatal(err)
	}
	if run.Manifest.Schema != 0 || len(run.Damaged()) > 0 || len(run.Points()) != 2 || len(said.Runs) != 2 {
		t.Fatalf("schema %d, %d points, damaged: %v", run.Manifest.Schema, len(run.Points()), run.Damaged())
	}
	for i, stored := range run.Points() {
		p, err := stored.Read()
		if err != nil {
			t.Fatal(err)
		}
		want := said.Runs[i]
		if p.Coord != want.Coord || stored.Completed != want.Completed || len(p.Queues) != stored.Samples {
			t.Errorf("%v: %d completed, %d samples; want %v, %d, %d", p.Coord, stored.Completed, len(p.Queues), want.Coord, want.Completed, stored.Samples)
		}
		for _, class := range []results.Class{results.All, results.Small, results.Medium} {
			got, want := results.Summarize(p.Flows, class), want.FCT[class]
			if got.Count != want.Count || math.Abs(got.Mean/want.Mean-1) > 1e-12 || got.P50 != want.P50 || got.P99 != want.P99 {
				t.Errorf("%v, %s flows: %+v, want %+v", p.Coord, class, got, want)
			}
		}
		counts := results.CountsOf(p)
		if counts.Marks != want.Marks || counts.Drops != want.Drops || counts.Timeouts != want.Timeouts {
			t.Errorf("%v: %d marks, %d drops, %d timeouts; want %d, %d, %d", p.Coord, counts.Marks, counts.Drops, counts.Timeouts, want.Marks, want.Drops, want.Timeouts)
		}
		if f := p.Flows[0]; f.Workload != 0 || f.Query != 0 || f.Stops || f.Retransmits != results.Unknown {
			t.Errorf("%v: a flow has what no such version wrote: %+v", p.Coord, f)
		}
	}
}

// TestSchemaIsNoted: every manifest and every table says which schema it has.
func TestSchemaIsNoted(t *testing.T) {
	run := stored(t, resultstest.StarManifest(), resultstest.Everything()[:1])
	text, err := os.ReadFile(filepath.Join(run.Dir, manifestFile))
	if first := fmt.Sprintf("{\n  \"schema\": %d,", results.Schema); err != nil || !strings.HasPrefix(string(text), first) {
		t.Errorf("the manifest begins with %.30q (%v), want %q", text, err, first)
	}
	tables, err := run.Points()[0].Tables()
	if err != nil || len(tables) < 4 {
		t.Fatalf("tables %v, %v", tables, err)
	}
	for _, name := range tables {
		b, err := os.ReadFile(run.Points()[0].path(name + tableExt))
		if err != nil {
			t.Fatal(err)
		}
		f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		if v, _ := f.Lookup(results.SchemaKey); v != fmt.Sprint(results.Schema) {
			t.Errorf("%s has schema %q, want %d", name, v, results.Schema)
		}
	}
}

// TestNewerManifest: a run of a later schema is refused, also where a key of it has become
// something else.
func TestNewerManifest(t *testing.T) {
	for name, change := range map[string]string{"a number": `"seeds"`, "another form of a key": `"hosts": 3, "seeds": "1..3", "seed_list"`} {
		run := stored(t, resultstest.StarManifest(), resultstest.Measured()[:1])
		path := filepath.Join(run.Dir, manifestFile)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		object, err := Unseal(path, text)
		if err != nil {
			t.Fatal(err)
		}
		object = bytes.Replace(object, fmt.Appendf(nil, `"schema": %d`, results.Schema), fmt.Appendf(nil, `"schema": %d`, results.Schema+1), 1)
		object = bytes.Replace(object, []byte(`"seeds"`), []byte(change), 1)
		if err := os.WriteFile(path, Seal(object), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = Open(run.Dir)
		want := fmt.Sprintf("it has schema %d, and this version", results.Schema+1)
		if !errors.Is(err, results.ErrNewer) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %s in %q", name, err, path, want)
		}
		if e := EntryOf(run.Dir); e.State != results.Broken || !strings.Contains(e.Reason, want) {
			t.Errorf("%s: listed as %s: %s", name, e.State, e.Reason)
		}
		if _, err := Repair(run.Dir, describe); !errors.Is(err, results.ErrNewer) {
			t.Errorf("%s: repaired: %v", name, err)
		}
	}
}

// TestNewerTable: so is a table.
func TestNewerTable(t *testing.T) {
	for text, want := range map[string]string{fmt.Sprint(results.Schema + 1): results.ErrNewer.Error(), "one": `"one": want a number`, "-1": `want a number`} {
		p := resultstest.Measured()[0]
		dir := t.TempDir()
		to := folder{dir, make(map[string]string)}
		rows := flowTable().rows(p.Coord, p.Flows)
		write := func(w io.Writer) error {
			return parquet.Write(w, rows, parquet.KeyValueMetadata(results.SchemaKey, text))
		}
		if err := to.write(flowsFile, write); err != nil {
			t.Fatal(err)
		}
		if _, err := flowTable().read(to, len(p.Flows)); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), flowsFile) {
			t.Errorf("schema %q: %v, want %s", text, err, want)
		}
	}
}
