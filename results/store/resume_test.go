package store

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/results"
	"aqmlab/results/resultstest"
)

// aborted is a run that ended early with two points.
func aborted(t *testing.T) *Run {
	t.Helper()
	w := create(t, t.TempDir(), resultstest.StarManifest())
	addAll(t, w, resultstest.Measured()[:2])
	dir, err := w.Abort(resultstest.Began().Add(time.Minute), "interrupted")
	if err != nil {
		t.Fatal(err)
	}
	return open(t, dir)
}

// killed is what a killed process left of one, in the middle of a point.
func killed(t *testing.T) *Run {
	t.Helper()
	w := create(t, t.TempDir(), resultstest.StarManifest())
	addAll(t, w, resultstest.Measured()[:2])
	piece := filepath.Join(w.Dir(), unfinished+"droptail-load0.9-seed1")
	if err := errors.Join(os.Mkdir(piece, 0o755), os.WriteFile(filepath.Join(piece, flowsFile), []byte("PAR1"), 0o644), w.lock.Close()); err != nil {
		t.Fatal(err)
	}
	return open(t, w.Dir())
}

func later() results.Manifest {
	m := resultstest.StarManifest()
	m.Start = resultstest.Began().Add(time.Hour)
	m.BaseRTTs = []results.BaseRTT{{Seed: 1, Host: "h2", Connections: 1}}
	return m
}

// TestResume: a run that ended early, or was killed, gets the points that it
// lacks under the name that it had; those that it has are not touched.
func TestResume(t *testing.T) {
	for name, r := range map[string]*Run{"aborted": aborted(t), "killed": killed(t)} {
		t.Run(name, func(t *testing.T) {
			first := filepath.Join(r.Dir, resultstest.Measured()[0].Folder(), flowsFile)
			before, err := os.Stat(first)
			if err != nil {
				t.Fatal(err)
			}
			w, err := Resume(r.Dir, later(), []byte(resultstest.LabText), describe)
			if err != nil {
				t.Fatal(err)
			}
			if e := EntryOf(w.Dir()); e.State != results.Running || e.Points != 2 {
				t.Errorf("while it goes on, the run is %+v", e)
			}
			if _, err := Resume(r.Dir, later(), []byte(resultstest.LabText), describe); err == nil || !strings.Contains(err.Error(), "it is running") {
				t.Errorf("going on twice at once: %v", err)
			}
			if err := w.Add(resultstest.Measured()[0]); err == nil {
				t.Error("a point that was there was stored again")
			}
			addAll(t, w, resultstest.Measured()[2:4])
			dir, err := w.Finish(resultstest.Began().Add(2 * time.Hour))
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.TrimPrefix(filepath.Base(r.Dir), unfinished); filepath.Base(dir) != want {
				t.Errorf("the run is in %s, want %s", dir, want)
			}
			wantFiles(t, filepath.Dir(dir), filepath.Base(dir), latestLink)
			wantFiles(t, dir, append(foldersOf(resultstest.Measured()[:4]), labFile, manifestFile, ReportFile, SummaryFile)...)
			after, err := os.Stat(filepath.Join(dir, resultstest.Measured()[0].Folder(), flowsFile))
			if err != nil || !os.SameFile(before, after) || !after.ModTime().Equal(before.ModTime()) {
				t.Errorf("a point that was there was written again (%v)", err)
			}
			m := open(t, dir).Manifest
			if m.State != results.Complete || m.Reason != "" || !m.Start.Equal(resultstest.Began()) || len(m.Points) != 4 ||
				!slices.EqualFunc(m.Resumed, []time.Time{resultstest.Began().Add(time.Hour)}, time.Time.Equal) || len(m.BaseRTTs) != 1 {
				t.Errorf("the manifest is %+v", m)
			}
		})
	}
}

// TestResumeEndsEarlyAgain: nothing is lost, and it can go on once more.
func TestResumeEndsEarlyAgain(t *testing.T) {
	r := aborted(t)
	for range 2 {
		w, err := Resume(r.Dir, later(), []byte(resultstest.LabText), describe)
		if err != nil {
			t.Fatal(err)
		}
		if dir, err := w.Abort(resultstest.Began(), "again"); err != nil || dir != r.Dir {
			t.Fatalf("ended in %q: %v", dir, err)
		}
	}
	if e := EntryOf(r.Dir); e.State != results.Partial || e.Reason != "again" || e.Points != 2 {
		t.Errorf("the run is %+v", e)
	}
	w, err := Resume(r.Dir, later(), []byte(resultstest.LabText), describe)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.lock.Close(); err != nil { // killed
		t.Fatal(err)
	}
	if e := EntryOf(r.Dir); e.State != results.Interrupted || e.Points != 2 {
		t.Errorf("killed while it went on, the run is %+v", e)
	}
}

// TestNotResumed: what decides how a point is measured must be what it was, and
// all of it is named; what does not may change.
func TestNotResumed(t *testing.T) {
	r := aborted(t)
	for want, change := range map[string]func(*results.Manifest){
		"aqmlab version: v1.2.3 then, v2 now":               func(m *results.Manifest) { m.Version = "v2" },
		"git revision: 0123abc then, f00 now":               func(m *results.Manifest) { m.GitRevision = "f00" },
		"runtime: netns then, uml now":                      func(m *results.Manifest) { m.Runtime = "uml" },
		"kernel: 6.18.0 then, 6.1 now":                      func(m *results.Manifest) { m.Host.Kernel = "6.1" },
		"guest kernel: none then, 6.12.3 now":               func(m *results.Manifest) { m.Host = m.Host.OnGuest("6.12.3") },
		"dilation: 20 then, 4 now":                          func(m *results.Manifest) { m.Dilation = 4 },
		"transport provider: kernel then, ebpf now; rtt by": func(m *results.Manifest) { m.Transport.Provider, m.RTTBy = "ebpf", results.RTTByNetem },
	} {
		m := later()
		change(&m)
		if _, err := Resume(r.Dir, m, []byte(resultstest.LabText), describe); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	for lab, want := range map[string]string{
		"name: star\nschemes: [droptail, tcn]\n":                                   "lab key schemes: [droptail, tcn, codel] then, [droptail, tcn] now",
		resultstest.LabText + "seeds: [3]\n":                                       "lab key seeds: none then, [3] now",
		resultstest.LabText + "title: other\ndilation: 9\nsource: {paper: none}\n": "",
	} {
		err := r.CheckResumable(results.Manifest{}, []byte(lab))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	bad := filepath.Join(r.Dir, resultstest.Measured()[0].Folder(), flowsFile)
	if err := os.Truncate(bad, 50); err != nil {
		t.Fatal(err)
	}
	if _, err := Resume(r.Dir, later(), []byte(resultstest.LabText), describe); err == nil || !strings.Contains(err.Error(), "it is broken: ") || !strings.Contains(err.Error(), bad) {
		t.Errorf("a damaged run: %v", err)
	}
	if _, err := Resume(filepath.Join(r.Dir, "none"), later(), nil, describe); err == nil {
		t.Error("nothing was gone on with")
	}
}
