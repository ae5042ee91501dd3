package uml

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEdit(t *testing.T) {
	for name, c := range map[string]struct {
		optional         bool
		before, after    string // of the file; before "-" there is none
		wantErr, wantNot string
	}{
		"all places":      {before: "old, old", after: "new, new"},
		"done before":     {before: "new", after: "new"},
		"not to be found": {before: "other", after: "other", wantErr: `no "old"`},
		"no file":         {before: "-", wantErr: "no such file"},
		"of no use":       {optional: true, before: "other", after: "other"},
		"of no use there": {optional: true, before: "-"},
	} {
		t.Run(name, func(t *testing.T) {
			tree := t.TempDir()
			file := filepath.Join(tree, "file")
			if c.before != "-" {
				if err := os.WriteFile(file, []byte(c.before), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			err := edit{File: "file", Old: "old", Now: "new", Optional: c.optional}.apply(tree)
			if (err != nil) != (c.wantErr != "") || err != nil && !strings.Contains(err.Error(), c.wantErr) {
				t.Errorf("error %v, want %q", err, c.wantErr)
			}
			if text, _ := os.ReadFile(file); string(text) != c.after {
				t.Errorf("the file is %q, want %q", text, c.after)
			}
		})
	}
}

// TestApplyEdits says which change a kernel did not take, and what for.
func TestApplyEdits(t *testing.T) {
	err := applyEdits(t.TempDir())
	if err == nil || !strings.Contains(err.Error(), edits()[0].Why) || !strings.Contains(err.Error(), edits()[0].File) {
		t.Errorf("got %v, want the first edit's reason and file", err)
	}
	for _, e := range edits() {
		if strings.Contains(e.Now, e.Old) {
			t.Errorf("%s: applied twice, the edit would be made twice", e.File)
		}
	}
}
