package store

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"aqmlab/results/resultstest"
)

// FuzzTable: whatever is in a table from elsewhere, reading it gives records, or an error
// that names the file.
func FuzzTable(f *testing.F) {
	p := resultstest.Everything()[0]
	p.Flows, p.Queues = p.Flows[:3], p.Queues[:3]
	for _, rows := range []any{flowTable().rows(p.Coord, p.Flows), queueTable().rows(p.Coord, p.Queues)} {
		var file bytes.Buffer
		var err error
		switch rows := rows.(type) {
		case []flowRow:
			err = parquet.Write(&file, rows)
		case []queueRow:
			err = parquet.Write(&file, rows)
		}
		if err != nil {
			f.Fatal(err)
		}
		f.Add(file.Bytes())
	}
	f.Add([]byte("PAR1PAR1"))
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		s := Point{folder: folder{dir: dir}}
		for name, read := range map[string]func() error{
			flowsFile:  func() error { _, err := flowTable().read(s.folder, 3); return err },
			seriesFile: func() error { _, err := queueTable().read(s.folder, 3); return err },
		} {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			table := strings.TrimSuffix(name, tableExt)
			columns, err := s.Columns(table)
			for _, err := range []error{read(), err, s.EachRow(table, columns, func([]any) error { return nil })} {
				if err != nil && !strings.Contains(err.Error(), path) {
					t.Errorf("error %v does not name %s", err, path)
				}
			}
		}
	})
}

// FuzzManifest: whatever a manifest is, the run opens, or the error names it or the lab that
// it does not fit.
func FuzzManifest(f *testing.F) {
	m := resultstest.StarManifest()
	m.LabHash, m.State = hashOf([]byte(resultstest.LabText)), "partial"
	text, err := asJSON(m)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add(Seal(text))
	f.Add([]byte("{}\n"))
	f.Add([]byte(`,"sha256":`))
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		path := filepath.Join(dir, manifestFile)
		if err := os.WriteFile(filepath.Join(dir, labFile), []byte(resultstest.LabText), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		run, err := Open(dir)
		if err != nil && !strings.Contains(err.Error(), path) {
			t.Errorf("error %v does not name %s", err, path)
		}
		if err == nil && (len(run.Manifest.Schemes) == 0 || !fileName(run.Manifest.Lab)) {
			t.Errorf("opened %+v", run.Manifest)
		}
	})
}
