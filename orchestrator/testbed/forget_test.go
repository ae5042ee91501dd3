package testbed

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"aqmlab/labs/inventory"
	"aqmlab/orchestrator/journal"
)

// onLostMachine makes the state of a lab that has something on a machine which does not answer,
// and returns its id.
func onLostMachine(t *testing.T, o Options, stays bool) string {
	t.Helper()
	j, err := journal.Create(t.Context(), o.Root, Info{Lab: "far"})
	if err != nil {
		t.Fatal(err)
	}
	m := inventory.Machine{Name: "m7", Docker: "unix://" + filepath.Join(o.Root, "none.sock")}
	entry, err := (&remote{Machine: m, site: "aqm-site-7", owner: "desk/" + j.ID()}).entry()
	if err != nil {
		t.Fatal(err)
	}
	end := j.Close
	if stays {
		end = j.Detach
	}
	if err := errors.Join(j.Record(entry), end()); err != nil {
		t.Fatal(err)
	}
	return j.ID()
}

// TestForget: what a lab has on a machine that does not answer stays in the journal, with what to
// do if that is for good. Then it is forgotten, with a word on what and how to find it there.
func TestForget(t *testing.T) {
	o := Options{Root: t.TempDir()}
	id := onLostMachine(t, o, true)
	way := "aqmlab lab down " + id + " --forget"
	if err := TakeDown(id, o); err == nil || !strings.Contains(err.Error(), "machine m7 stays") || !strings.Contains(err.Error(), way) {
		t.Fatalf("took it down: %v; want that machine m7 does not answer, and %s", err, way)
	}
	// The machines that answer have nothing of it any more, so it is no lab that is up.
	if _, err := Find(id, o); !errors.Is(err, ErrNoLab) {
		t.Errorf("found as a lab that is up: %v", err)
	}
	if _, err := Sweep(o); err == nil || !strings.Contains(err.Error(), way) {
		t.Errorf("swept: %v; want %s", err, way)
	}
	s, err := FindLeft("far", o)
	if err != nil || s.ID != id || s.State != journal.Abandoned {
		t.Fatalf("found %+v, %v", s, err)
	}
	all, err := Forget(id, o)
	if err != nil || len(all) != 1 {
		t.Fatalf("forgot %v, %v; want what is on m7", all, err)
	}
	for _, want := range []string{"m7", "none.sock", "no Docker daemon answers", "label=aqmlab.owner=desk/" + id, "docker rm"} {
		if !strings.Contains(all[0].String(), want) {
			t.Errorf("%q: want %q", all[0], want)
		}
	}
	if swept, err := Sweep(o); err != nil || len(swept) > 0 {
		t.Errorf("swept %v, %v after all was forgotten", swept, err)
	}
	if left, err := Labs(o); err != nil || len(left) > 0 {
		t.Errorf("left %+v, %v", left, err)
	}
}

// TestForgetWhatIsKept: a lab that is up is forgotten as well as one that a killed run has left.
func TestForgetWhatIsKept(t *testing.T) {
	o := Options{Root: t.TempDir()}
	up, left := onLostMachine(t, o, true), onLostMachine(t, o, false)
	if _, err := FindLeft("far", o); !errors.Is(err, ErrAmbiguous) {
		t.Errorf("found one of two: %v", err)
	}
	for _, id := range []string{up, left} {
		if all, err := Forget(id, o); err != nil || len(all) != 1 {
			t.Errorf("forgot %v, %v", all, err)
		}
	}
}

// TestForgetRefuses: what is on this machine can be removed, and is not forgotten.
func TestForgetRefuses(t *testing.T) {
	o := Options{Root: t.TempDir()}
	here := written(t, o.Root, Info{Lab: "here"}, true)
	if _, err := Forget(here, o); !errors.Is(err, ErrNotForgotten) || !strings.Contains(err.Error(), "aqmlab lab down") {
		t.Errorf("forgot a lab of this machine: %v", err)
	}
	if s, err := Find(here, o); err != nil || s.State != journal.Detached {
		t.Errorf("the lab is %+v, %v", s, err)
	}
	running, err := journal.Create(t.Context(), o.Root, Info{Lab: "running"})
	if err != nil {
		t.Fatal(err)
	}
	defer running.Close()
	if _, err := Forget(running.ID(), o); !errors.Is(err, journal.ErrRunning) {
		t.Errorf("forgot a lab that runs: %v", err)
	}
	if _, err := FindLeft(running.ID(), o); !errors.Is(err, ErrNoLab) {
		t.Errorf("found a lab that runs: %v", err)
	}
}
