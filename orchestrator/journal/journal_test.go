package journal_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"aqmlab/orchestrator/journal"
)

func file(name string) journal.Entry { return journal.Entry{Kind: journal.File, Name: name} }

func space(name string) journal.Entry { return journal.Entry{Kind: journal.Namespace, Name: name} }

// removed is a table of undoers that only note what they are given.
func removed(into *[][]journal.Entry, fail error) journal.Undoers {
	note := func(e []journal.Entry) error {
		*into = append(*into, slices.Clone(e))
		return fail
	}
	return journal.Undoers{journal.File: note, journal.Namespace: note}
}

func create(t *testing.T, root string) *journal.Journal {
	t.Helper()
	j, err := journal.Create(t.Context(), root, map[string]string{"lab": "x"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func record(t *testing.T, j *journal.Journal, entries ...journal.Entry) {
	t.Helper()
	if err := j.Record(entries...); err != nil {
		t.Fatal(err)
	}
}

func TestUndoIsNewestFirstInRunsOfAKind(t *testing.T) {
	j := create(t, t.TempDir())
	record(t, j, space("a"), space("b"))
	record(t, j, file("c"))
	record(t, j, space("d"))
	var got [][]journal.Entry
	if err := j.Undo(removed(&got, nil)); err != nil {
		t.Fatal(err)
	}
	want := [][]journal.Entry{{space("d")}, {file("c")}, {space("b"), space("a")}}
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("undone %v, want %v", got, want)
	}
	if _, err := os.Stat(j.Dir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("folder after undo: %v", err)
	}
	if err := j.Undo(removed(&got, nil)); err != nil || len(got) != len(want) {
		t.Errorf("second undo: %v, did %v", err, got[len(want):])
	}
	if err := j.Record(file("late")); !errors.Is(err, journal.ErrRemoved) {
		t.Errorf("record after undo: %v, want ErrRemoved", err)
	}
}

func TestUndoGoesOnAfterAFailureAndCanBeRepeated(t *testing.T) {
	j := create(t, t.TempDir())
	record(t, j, space("a"), file("b"), journal.Entry{Kind: "unheard-of", Name: "c"})
	var got [][]journal.Entry
	busy := errors.New("busy")
	undoers := removed(&got, busy)
	err := j.Undo(undoers)
	if !errors.Is(err, busy) || !strings.Contains(err.Error(), "unheard-of") {
		t.Errorf("undo: %v; want both failures", err)
	}
	if len(got) != 2 {
		t.Errorf("undone %v; want that it goes on after a failure", got)
	}
	undoers = removed(&got, nil)
	undoers["unheard-of"] = undoers[journal.File]
	if err := j.Undo(undoers); err != nil {
		t.Errorf("undo again: %v", err)
	}
	if len(got) != 5 {
		t.Errorf("undone %v; want all three again", got[2:])
	}
}

// TestUndoTellsOnce: what keeps things of a kind from being removed is told once, however
// often they take turns with things of another.
func TestUndoTellsOnce(t *testing.T) {
	j := create(t, t.TempDir())
	for range 3 {
		record(t, j, journal.Entry{Kind: journal.Container, Name: "a"}, journal.Entry{Kind: journal.File, Name: "b"})
	}
	err := j.Undo(journal.Undoers{
		journal.Container: func([]journal.Entry) error { return errors.New("no daemon answers") },
		journal.File:      func([]journal.Entry) error { return nil },
	})
	if err == nil || strings.Count(err.Error(), "no daemon answers") != 1 {
		t.Errorf("got %v", err)
	}
}

func TestRecordIsOnDiskAtOnce(t *testing.T) {
	j := create(t, t.TempDir())
	e := journal.Entry{Kind: journal.Process, Name: "switch", PID: 12, Start: 1 << 60}
	record(t, j, e)
	raw, err := os.ReadFile(filepath.Join(j.Dir(), "journal"))
	if err != nil {
		t.Fatal(err)
	}
	var got journal.Entry
	if err := json.Unmarshal(raw, &got); err != nil || got != e {
		t.Errorf("journal holds %s (%v), want %+v", raw, err, e)
	}
}

func TestIDs(t *testing.T) {
	root := t.TempDir()
	form := regexp.MustCompile(`^[0-9a-f]{4}$`)
	seen := make(map[string]bool)
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 8 {
				j, err := journal.Create(t.Context(), root, nil)
				if err != nil {
					t.Error(err)
					return
				}
				defer j.Close()
				mu.Lock()
				if seen[j.ID()] || !form.MatchString(j.ID()) {
					t.Errorf("id %s is taken or malformed", j.ID())
				}
				seen[j.ID()] = true
				mu.Unlock()
			}
		})
	}
	all.Wait()
}

func states(t *testing.T, root string) map[string]journal.State {
	t.Helper()
	labs, err := journal.List(root)
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]journal.State)
	for _, lab := range labs {
		got[lab.ID] = lab.State
	}
	return got
}

func TestStatesAndSweep(t *testing.T) {
	root := filepath.Join(t.TempDir(), "not", "there", "yet")
	if labs, err := journal.List(root); err != nil || len(labs) != 0 {
		t.Fatalf("labs of a root that is not there: %v, %v", labs, err)
	}
	running, detached, abandoned := create(t, root), create(t, root), create(t, root)
	record(t, abandoned, file("left"))
	if err := detached.Detach(); err != nil {
		t.Fatal(err)
	}
	if err := abandoned.Close(); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]journal.State{
		running.ID(): journal.Running, detached.ID(): journal.Detached, abandoned.ID(): journal.Abandoned,
	} {
		if got := states(t, root)[id]; got != want {
			t.Errorf("state %q, want %q", got, want)
		}
	}
	if _, err := journal.Open(root, running.ID()); !errors.Is(err, journal.ErrRunning) {
		t.Errorf("open of a running lab: %v, want ErrRunning", err)
	}
	var got [][]journal.Entry
	swept, err := journal.Sweep(root, removed(&got, nil))
	if err != nil || !slices.Equal(swept, []string{abandoned.ID()}) {
		t.Errorf("swept %v, %v; want %s only", swept, err, abandoned.ID())
	}
	if len(got) != 1 || !slices.Equal(got[0], []journal.Entry{file("left")}) {
		t.Errorf("undone %v, want what the abandoned lab had recorded", got)
	}
	if left := states(t, root); len(left) != 2 {
		t.Errorf("left after sweep: %v, want the running and the detached lab", left)
	}
}

func TestSweepReportsWhatItCannotRemove(t *testing.T) {
	root := t.TempDir()
	j := create(t, root)
	record(t, j, file("stuck"))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	var got [][]journal.Entry
	busy := errors.New("busy")
	if swept, err := journal.Sweep(root, removed(&got, busy)); !errors.Is(err, busy) || len(swept) != 0 {
		t.Errorf("swept %v, %v; want the failure", swept, err)
	}
	if swept, err := journal.Sweep(root, removed(&got, nil)); err != nil || len(swept) != 1 {
		t.Errorf("swept %v, %v at the second try", swept, err)
	}
}

func TestOpenDetachedLab(t *testing.T) {
	root := t.TempDir()
	first := create(t, root)
	record(t, first, space("a"))
	if err := first.Describe("as built"); err != nil {
		t.Fatal(err)
	}
	if err := first.Detach(); err != nil {
		t.Fatal(err)
	}
	if err := first.Describe("too late"); !errors.Is(err, journal.ErrRemoved) {
		t.Errorf("describe after detach: %v, want ErrRemoved", err)
	}
	labs, err := journal.List(root)
	if err != nil || len(labs) != 1 || labs[0].Created.IsZero() {
		t.Fatalf("labs %+v, %v", labs, err)
	}
	var info string
	if err := json.Unmarshal(labs[0].Info, &info); err != nil || info != "as built" {
		t.Errorf("info %s, want that of Describe", labs[0].Info)
	}
	j, err := journal.Open(root, first.ID())
	if err != nil {
		t.Fatal(err)
	}
	record(t, j, file("b"))
	var got [][]journal.Entry
	if err := j.Undo(removed(&got, nil)); err != nil {
		t.Fatal(err)
	}
	if want := [][]journal.Entry{{file("b")}, {space("a")}}; !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("undone %v, want %v", got, want)
	}
	for _, id := range []string{first.ID(), "", "..", "../x", "zzzz"} {
		if _, err := journal.Open(root, id); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("open %q: %v, want that there is none", id, err)
		}
	}
}

// TestAbandon: a lab that was to stay, and of which only a part is left, goes with the next sweep,
// by all that was recorded of it.
func TestAbandon(t *testing.T) {
	root := t.TempDir()
	first := create(t, root)
	record(t, first, space("a"))
	if err := first.Detach(); err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(root, first.ID())
	if err != nil {
		t.Fatal(err)
	}
	if got := j.Entries(); !slices.Equal(got, []journal.Entry{space("a")}) {
		t.Errorf("entries %v", got)
	}
	if err := j.Abandon(); err != nil {
		t.Fatal(err)
	}
	var got [][]journal.Entry
	if swept, err := journal.Sweep(root, removed(&got, nil)); err != nil || !slices.Equal(swept, []string{first.ID()}) {
		t.Errorf("swept %v, %v", swept, err)
	}
	if len(got) != 1 || !slices.Equal(got[0], []journal.Entry{space("a")}) {
		t.Errorf("undone %v", got)
	}
	if err := j.Abandon(); !errors.Is(err, journal.ErrRemoved) {
		t.Errorf("abandoned once more: %v, want ErrRemoved", err)
	}
}

// TestOwnerKilledWhileWriting builds what owners leave that were killed
// between any two steps.
func TestOwnerKilledWhileWriting(t *testing.T) {
	const whole = `{"kind":"file","name":"a"}` + "\n"
	tests := []struct {
		name  string
		files map[string]string
		want  []journal.Entry
	}{
		{"folder only", nil, nil},
		{"no description", map[string]string{"lock": "", "journal": ""}, nil},
		{"half a description", map[string]string{"lock": "", "journal": whole, "lab.json.new": `{"crea`}, []journal.Entry{file("a")}},
		{"half a line", map[string]string{"lock": "", "journal": whole + `{"kind":"fi`}, []journal.Entry{file("a")}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			root := t.TempDir()
			if err := os.Mkdir(filepath.Join(root, "00ff"), 0o755); err != nil {
				t.Fatal(err)
			}
			for name, text := range test.files {
				if err := os.WriteFile(filepath.Join(root, "00ff", name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			var got [][]journal.Entry
			swept, err := journal.Sweep(root, removed(&got, nil))
			if err != nil || !slices.Equal(swept, []string{"00ff"}) {
				t.Errorf("swept %v, %v", swept, err)
			}
			if !slices.Equal(slices.Concat(got...), test.want) {
				t.Errorf("undone %v, want %v", got, test.want)
			}
		})
	}
}

func TestAppendAfterHalfALine(t *testing.T) {
	root := t.TempDir()
	first := create(t, root)
	record(t, first, file("a"))
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(first.Dir(), "journal")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"kind":"fi`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	second, err := journal.Open(root, first.ID())
	if err != nil {
		t.Fatal(err)
	}
	record(t, second, file("b"))
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	var got [][]journal.Entry
	if _, err := journal.Sweep(root, removed(&got, nil)); err != nil {
		t.Fatal(err)
	}
	if want := []journal.Entry{file("b"), file("a")}; !slices.Equal(slices.Concat(got...), want) {
		t.Errorf("undone %v, want %v", got, want)
	}
}

func TestDamagedJournalIsAnError(t *testing.T) {
	root := t.TempDir()
	j := create(t, root)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	damage := `{"kind":"file","name":"a"}` + "\nnot JSON\n"
	if err := os.WriteFile(filepath.Join(j.Dir(), "journal"), []byte(damage), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := journal.Sweep(root, journal.Undoers{})
	if err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("sweep: %v, want an error that names line 2", err)
	}
	if _, err := os.Stat(j.Dir()); err != nil {
		t.Errorf("folder of a lab that was not undone: %v", err)
	}
}

func TestForeignFilesBelowRootAreLeftAlone(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"abc", "abcde", "ABCD", "lab1"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if swept, err := journal.Sweep(root, journal.Undoers{}); err != nil || len(swept) != 0 {
		t.Errorf("swept %v, %v", swept, err)
	}
}

func TestRemoveFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := journal.RemoveFiles([]journal.Entry{file(path), file(path + "-never-made")}); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("file after removal: %v", err)
	}
	if err := journal.RemoveFiles([]journal.Entry{file("/proc/self/stat")}); err == nil {
		t.Error("removing what cannot be removed is no error")
	}
}
