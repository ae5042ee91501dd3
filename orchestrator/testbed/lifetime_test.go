package testbed

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"aqmlab/kind"
	"aqmlab/orchestrator/journal"
	"aqmlab/orchestrator/netns"
	"aqmlab/switch/port"
)

// written makes the state folder of a lab and returns its id. detached says
// that it shall stay.
func written(t *testing.T, root string, info any, detached bool) string {
	t.Helper()
	j, err := journal.Create(t.Context(), root, info)
	if err != nil {
		t.Fatal(err)
	}
	end := j.Close
	if detached {
		end = j.Detach
	}
	if err := end(); err != nil {
		t.Fatal(err)
	}
	return j.ID()
}

// TestFind picks among two kept labs of one name, one of another, one that is
// running and one whose owner died.
func TestFind(t *testing.T) {
	o := Options{Root: t.TempDir()}
	if _, err := Find("", o); !errors.Is(err, ErrNoLab) {
		t.Errorf("without any lab: %v", err)
	}
	only := written(t, o.Root, Info{Lab: "other", Scheme: "tcn"}, true)
	if s, err := Find("", o); err != nil || s.ID != only || s.Scheme != "tcn" || s.State != journal.Detached || s.Created.IsZero() {
		t.Errorf("the only lab is found as %+v, %v", s, err)
	}
	a, b := written(t, o.Root, Info{Lab: "twin"}, true), written(t, o.Root, Info{Lab: "twin"}, true)
	dead := written(t, o.Root, Info{Lab: "dead"}, false)
	running, err := journal.Create(t.Context(), o.Root, Info{Lab: "running"})
	if err != nil {
		t.Fatal(err)
	}
	defer running.Close()

	for ref, want := range map[string]string{"other": only, only: only, a: a, b: b} {
		if s, err := Find(ref, o); err != nil || s.ID != want {
			t.Errorf("%s is found as %s, %v; want %s", ref, s.ID, err, want)
		}
	}
	for _, ref := range []string{"none", "dead", dead, "running", running.ID()} {
		if _, err := Find(ref, o); !errors.Is(err, ErrNoLab) || !strings.Contains(err.Error(), ref) {
			t.Errorf("%s: %v, want that it is not up", ref, err)
		}
	}
	for _, ref := range []string{"", "twin"} {
		if _, err := Find(ref, o); !errors.Is(err, ErrAmbiguous) || !strings.Contains(err.Error(), a) || !strings.Contains(err.Error(), b) {
			t.Errorf("%q: %v, want the ids to choose from", ref, err)
		}
	}
	kept, err := Kept(o)
	if err != nil || len(kept) != 3 || slices.ContainsFunc(kept, func(s Standing) bool { return s.Lab == "dead" || s.Lab == "running" }) {
		t.Errorf("kept %+v, %v", kept, err)
	}
	if all, err := Labs(o); err != nil || len(all) != 5 {
		t.Errorf("labs %+v, %v; want all five", all, err)
	}
}

// TestLabsReadsWhatOwnersLeave: a lab whose owner died before it had written
// its description is listed; one with a damaged description, or whose switch has
// ended, is listed as broken, and can be named to take it down.
func TestLabsReadsWhatOwnersLeave(t *testing.T) {
	o := Options{Root: t.TempDir()}
	if err := os.Mkdir(filepath.Join(o.Root, "00ff"), 0o755); err != nil {
		t.Fatal(err)
	}
	if all, err := Labs(o); err != nil || len(all) != 1 || all[0].ID != "00ff" || all[0].State != journal.Abandoned || all[0].Lab != "" {
		t.Errorf("labs %+v, %v", all, err)
	}
	bad := written(t, o.Root, []int{1}, true)
	if s, err := Find(bad, o); err != nil || s.State != journal.Broken || !strings.Contains(s.Problem, "description") {
		t.Errorf("damaged: %+v, %v", s, err)
	}
	j, err := journal.Create(t.Context(), o.Root, Info{Lab: "headless"})
	if err != nil {
		t.Fatal(err)
	}
	gone := journal.Entry{Kind: journal.Process, Name: "switch", PID: os.Getpid(), Start: 1}
	if err := errors.Join(j.Record(gone), j.Detach()); err != nil {
		t.Fatal(err)
	}
	if s, err := Find("headless", o); err != nil || s.State != journal.Broken || !strings.Contains(s.Problem, "switch (process ") {
		t.Errorf("without its switch: %+v, %v", s, err)
	}
}

// TestStandingJSON: scripts read these keys.
func TestStandingJSON(t *testing.T) {
	raw, err := json.Marshal(Standing{ID: "00ff", State: journal.Detached, Info: Info{Lab: "x", Scheme: "tcn", Dilation: 2, Transport: "dctcp", Congctl: "dctcp_00ff"}})
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"id": "00ff", "state": "detached", "lab": "x", "scheme": "tcn", "dilation": 2.0, "transport": "dctcp", "congestion_control": "dctcp_00ff"}
	for key, value := range want {
		if got[key] != value {
			t.Errorf("%s is %v, want %v", key, got[key], value)
		}
	}
	if len(got) != len(want) {
		t.Errorf("keys of %s", raw)
	}
}

func TestExecNamesTheHosts(t *testing.T) {
	s := Standing{ID: "00ff", Info: Info{Network: &netns.Lab{Hosts: []netns.Host{{Name: "h1"}, {Name: "h2"}}}}}
	if _, err := s.Exec(t.Context(), "h9", []string{"true"}, Options{Root: t.TempDir()}); !errors.Is(err, ErrNoHost) || !strings.Contains(err.Error(), "h1, h2") {
		t.Errorf("error %v, want the hosts that there are", err)
	}
	if _, err := (Standing{ID: "00ff"}).Exec(t.Context(), "h1", []string{"true"}, Options{}); !errors.Is(err, ErrNoHost) {
		t.Errorf("a lab without hosts: %v", err)
	}
}

// TestKeepAndTakeDown: a kept lab's switch works without its maker, is listed,
// and goes with TakeDown.
func TestKeepAndTakeDown(t *testing.T) {
	needRoot(t)
	o := Options{Root: t.TempDir()}
	s, err := Keep(t.Context(), parse(t, small), "tcn", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = TakeDown(s.ID, o) })
	found, err := Find("small", o)
	if err != nil || found.ID != s.ID || found.Scheme != "tcn" || found.Dilation != 2 || found.Network == nil || len(found.Network.Hosts) != 3 {
		t.Errorf("found %+v, %v", found, err)
	}
	hosts, err := os.ReadFile(filepath.Join(o.Root, s.ID, hostsFile))
	if err != nil || !strings.Contains(string(hosts), s.Network.Hosts[2].Addr.String()+" h3") {
		t.Errorf("hosts file %q, %v", hosts, err)
	}
	if swept, err := Sweep(o); err != nil || len(swept) > 0 {
		t.Errorf("swept %v, %v: it is to stay", swept, err)
	}
	pid := recordedProcess(t, o.Root, s.ID)
	if err := unix.Kill(pid, 0); err != nil {
		t.Errorf("the switch is not there: %v", err)
	}
	if err := TakeDown(s.ID, o); err != nil {
		t.Error(err)
	}
	nothingLeft(t, o.Root, s.ID, pid)
	if err := TakeDown(s.ID, o); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("taken down again: %v", err)
	}
}

// recordedProcess reads the id of a lab's one process off its journal.
func recordedProcess(t *testing.T, root, id string) int {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, id, "journal"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		var e journal.Entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if e.Kind == journal.Process {
			return e.PID
		}
	}
	t.Fatal("no process is recorded")
	return 0
}

// TestKeepUnknownScheme: a slip of the finger brings nothing up.
func TestKeepUnknownScheme(t *testing.T) {
	o := Options{Root: t.TempDir()}
	if _, err := Keep(t.Context(), parse(t, small), "tnc", o); !errors.Is(err, kind.ErrUnknown) || !strings.Contains(err.Error(), "tcn") {
		t.Errorf("error %v, want the schemes that there are", err)
	}
	if _, err := os.Stat(filepath.Join(o.Root, "lock")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the state folder was used: %v", err)
	}
}

// TestRunningLabIsSpared: nobody takes down what a run is using.
func TestRunningLabIsSpared(t *testing.T) {
	tb := testbed(t, parse(t, small))
	o := Options{Root: filepath.Dir(tb.journal.Dir())}
	if err := TakeDown(tb.journal.ID(), o); !errors.Is(err, journal.ErrRunning) {
		t.Errorf("take down: %v, want ErrRunning", err)
	}
	if swept, err := Sweep(o); err != nil || len(swept) > 0 {
		t.Errorf("swept %v, %v", swept, err)
	}
	if _, err := tb.timeBase(t.Context(), 1); err != nil {
		t.Errorf("the testbed after that: %v", err)
	}
}

// TestSweep removes what a killed owner has left.
func TestSweep(t *testing.T) {
	o := Options{Root: t.TempDir()}
	j, err := journal.Create(t.Context(), o.Root, Info{Lab: "dead"})
	if err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(t.TempDir(), "left")
	if err := errors.Join(j.Record(journal.Entry{Kind: journal.File, Name: left}), os.WriteFile(left, nil, 0o644), j.Close()); err != nil {
		t.Fatal(err)
	}
	if swept, err := Sweep(o); err != nil || !slices.Equal(swept, []string{j.ID()}) {
		t.Errorf("swept %v, %v", swept, err)
	}
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file that it had made: %v", err)
	}
	emptyRoot(t, o.Root)
}

// TestOpenLiveOfOld: a lab that an earlier version left up cannot be watched, and says
// what to do; one that is broken says why.
func TestOpenLiveOfOld(t *testing.T) {
	o := Options{Root: t.TempDir()}
	written(t, o.Root, Info{Lab: "old", Network: &netns.Lab{}}, true)
	if _, err := OpenLive(t.Context(), "old", port.Kinds{}, o); !errors.Is(err, ErrOld) {
		t.Errorf("error %v, want ErrOld", err)
	}
	bad := written(t, o.Root, []int{1}, true)
	if _, err := OpenLive(t.Context(), bad, port.Kinds{}, o); err == nil || !strings.Contains(err.Error(), "description") {
		t.Errorf("damaged: %v", err)
	}
	if _, err := OpenLive(t.Context(), "none", port.Kinds{}, o); !errors.Is(err, ErrNoLab) {
		t.Errorf("error %v, want ErrNoLab", err)
	}
}
