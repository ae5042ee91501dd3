package journal_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"aqmlab/orchestrator/journal"
)

// nobody runs a shell command as a user without rights, and returns what it said.
func nobody(t *testing.T, command string) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: to be another user")
	}
	c := exec.Command("/bin/sh", "-c", command)
	c.Dir = "/"
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, _ := c.CombinedOutput()
	return string(out)
}

// public is a folder below which other users may look.
func public(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, dir := range []string{filepath.Dir(root), root} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// TestOthersAreKeptOut: another user can open no file of a lab, also none that an earlier
// version made for all to read, and so can lock none.
func TestOthersAreKeptOut(t *testing.T) {
	root := public(t)
	if err := os.WriteFile(filepath.Join(root, "lock"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	j := create(t, root)
	record(t, j, space("a"))
	for path, want := range map[string]fs.FileMode{
		filepath.Join(root, "lock"): 0o600, j.Dir(): 0o700 | fs.ModeDir,
		filepath.Join(j.Dir(), "lock"): 0o600, filepath.Join(j.Dir(), "journal"): 0o600, filepath.Join(j.Dir(), "lab.json"): 0o600,
	} {
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v; want %v", path, info.Mode(), err, want)
		}
		if said := nobody(t, "cat "+path); !strings.Contains(said, "Permission denied") {
			t.Errorf("%s: another user reads %q", path, said)
		}
	}
}

// TestForeignFolders: what another user has put in place is used for nothing, and said to
// be theirs.
func TestForeignFolders(t *testing.T) {
	root := public(t)
	if err := os.Chmod(root, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Create(t.Context(), root, nil); err == nil || !strings.Contains(err.Error(), "other users may write to") {
		t.Errorf("a folder that others may write to: %v", err)
	}
	nobody(t, "mkdir -p "+root+"/theirs/00ff && touch "+root+"/theirs/lock")
	theirs := filepath.Join(root, "theirs")
	if _, err := journal.Create(t.Context(), theirs, nil); err == nil || !strings.Contains(err.Error(), "belongs to user 65534") {
		t.Errorf("create: %v", err)
	}
	if _, err := journal.List(theirs); err == nil || !strings.Contains(err.Error(), "belongs to user 65534") {
		t.Errorf("list: %v", err)
	}
}

// TestLinksAreNotFollowed: a lock that is a link is refused, and what it names stays as it
// is.
func TestLinksAreNotFollowed(t *testing.T) {
	root := t.TempDir()
	precious := filepath.Join(t.TempDir(), "precious")
	if err := errors.Join(os.WriteFile(precious, []byte("x"), 0o644), os.Symlink(precious, filepath.Join(root, "lock"))); err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Create(t.Context(), root, nil); err == nil {
		t.Error("a lab was made below a lock that is a link")
	}
	if info, err := os.Stat(precious); err != nil || info.Mode() != 0o644 {
		t.Errorf("what the link names: %v, %v", info, err)
	}
}

// TestBrokenLabs: a lab with a description or a folder that cannot be used is named, stays,
// and does not keep others from being listed and swept. It can be taken down.
func TestBrokenLabs(t *testing.T) {
	root := t.TempDir()
	bad, dead := create(t, root), create(t, root)
	record(t, bad, file("a"))
	for _, j := range []*journal.Journal{bad, dead} {
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(bad.Dir(), "lab.json"), []byte("{]"), 0o600); err != nil {
		t.Fatal(err)
	}
	labs, err := journal.List(root)
	if err != nil || len(labs) != 2 {
		t.Fatalf("labs %+v, %v", labs, err)
	}
	for _, l := range labs {
		if broken := l.ID == bad.ID(); (l.State == journal.Broken) != broken || strings.Contains(l.Problem, "lab.json") != broken {
			t.Errorf("lab %+v", l)
		}
	}
	var got [][]journal.Entry
	swept, err := journal.Sweep(root, removed(&got, nil))
	if len(swept) != 1 || swept[0] != dead.ID() || err == nil || !strings.Contains(err.Error(), "aqmlab lab down "+bad.ID()) {
		t.Errorf("swept %v, %v; want %s, and how to remove %s", swept, err, dead.ID(), bad.ID())
	}
	j, err := journal.Open(root, bad.ID())
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Undo(removed(&got, nil)); err != nil || len(got) != 1 {
		t.Errorf("undone %v, %v", got, err)
	}
}

// TestNamesThatLeadElsewhere are refused, when they are written and when they are read.
func TestNamesThatLeadElsewhere(t *testing.T) {
	for _, e := range []journal.Entry{space("../x"), space("a/b"), space(".."), file("/run/aqmlab/../../etc/passwd"), {Kind: journal.Container, Name: "../x"}} {
		j := create(t, t.TempDir())
		if err := j.Record(e); err == nil {
			t.Errorf("%+v is recorded", e)
		}
	}
	root := t.TempDir()
	j := create(t, root)
	record(t, j, space("good"))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(j.Dir(), "journal")
	if err := os.WriteFile(path, []byte(`{"kind":"namespace","name":"../x"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var got [][]journal.Entry
	if swept, err := journal.Sweep(root, removed(&got, nil)); len(swept) > 0 || len(got) > 0 || err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), `"../x"`) {
		t.Errorf("swept %v, undone %v, %v", swept, got, err)
	}
}
