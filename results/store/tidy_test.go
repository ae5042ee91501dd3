package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"aqmlab/results/resultstest"
)

// killedBefore makes what a process leaves that is killed before its run has a manifest,
// with some files.
func killedBefore(t *testing.T, root, name string, files ...string) string {
	t.Helper()
	dir := filepath.Join(root, name)
	err := os.Mkdir(dir, 0o755)
	for _, f := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, f), []byte("name: x\n"), 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestTidy: the next run removes what is left of runs that were killed before they had
// begun, and nothing else.
func TestTidy(t *testing.T) {
	root := t.TempDir()
	begun := create(t, root, resultstest.StarManifest()) // and killed then
	if err := begun.lock.Close(); err != nil {
		t.Fatal(err)
	}
	living := create(t, root, resultstest.StarManifest())
	if err := os.Remove(filepath.Join(living.Dir(), manifestFile)); err != nil { // as before it was written
		t.Fatal(err)
	}
	const at = unfinished + "20260101T000000Z-x-0123abc"
	killedBefore(t, root, at+"0")
	killedBefore(t, root, at+"1", labFile, manifestFile+".new")
	stay := []string{filepath.Base(begun.Dir()), filepath.Base(living.Dir())}
	for _, dir := range []string{
		killedBefore(t, root, at+"2", "notes.txt"), // somebody's own
		killedBefore(t, root, unfinished+"mine"),
		killedBefore(t, root, "20260101T000000Z-x-0123abcd"), // not one of an unfinished run
	} {
		stay = append(stay, filepath.Base(dir))
	}
	next := create(t, root, resultstest.StarManifest())
	stay = append(stay, filepath.Base(next.Dir()))
	wantFiles(t, root, stay...)
	killedBefore(t, root, at+"3")
	Tidy(root)
	wantFiles(t, root, stay...)
	Tidy(filepath.Join(root, "none"))
	if err := errors.Join(living.Discard(), next.Discard()); err != nil {
		t.Error(err)
	}
}
