package uml

import (
	"os"
	"path/filepath"
	"slices"
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
			err := edit{File: "file", texts: texts{Old: "old", Now: "new"}, Optional: c.optional}.apply(tree)
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
	for _, v := range table() {
		first := v.edits()[0]
		err := v.applyEdits(t.TempDir())
		if err == nil || !strings.Contains(err.Error(), first.Why) || !strings.Contains(err.Error(), first.File) {
			t.Errorf("got %v, want the first edit's reason and file", err)
		}
		for _, e := range v.edits() {
			if strings.Contains(e.Now, e.Old) {
				t.Errorf("%s: applied twice, the edit would be made twice", e.File)
			}
		}
	}
}

// TestEditsOfVersions: every change says what it is for, is needed somewhere, and names
// versions that there are. Those of two versions differ in no more than their texts.
func TestEditsOfVersions(t *testing.T) {
	for _, e := range allEdits() {
		if e.File == "" || e.Why == "" || e.texts == (texts{}) && len(e.In) == 0 {
			t.Errorf("incomplete: %+v", e)
		}
		for name := range e.In {
			if !slices.Contains(Versions(), name) {
				t.Errorf("%s: version %s is none of %v", e.File, name, Versions())
			}
		}
	}
	count := func(v version, why string) (n int) {
		for _, e := range v.edits() {
			if e.Why == why {
				n++
			}
		}
		return n
	}
	for _, e := range allEdits() {
		if e.texts == (texts{}) {
			continue // of some versions alone
		}
		for _, v := range table() {
			if count(v, e.Why) == 0 {
				t.Errorf("Linux %s lacks: %s", v.name, e.Why)
			}
		}
	}
}
