package results

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

func TestSee(t *testing.T) {
	ms := time.Millisecond
	flows := []Flow{
		{Bytes: 1000, Received: 1000, FCT: 2 * ms}, {Bytes: 1000, Received: 1000, FCT: 4 * ms},
		{Bytes: 20e6, Received: 20e6, FCT: 300 * ms}, {Bytes: 1000, Error: "under way"},
	}
	samples := []QueueSample{
		{At: 0, Switch: "s", Port: "p", Bytes: 1000, PeakBytes: 2000, Sent: 9},
		{At: 300 * ms, Switch: "s", Port: "p", Bytes: 3000, PeakBytes: 3000, Sent: 9},
		{At: 300 * ms, Switch: "s", Port: "idle", Bytes: 9e6, PeakBytes: 9e6},
	}
	got := See(flows, samples)
	if n := len(got.FCT); n != 3 || got.FCT[All].Count != 3 || got.FCT[Small].Mean != 3000 || got.FCT[Large].P99 != 300_000 {
		t.Errorf("FCTs %+v", got.FCT)
	}
	want := &LiveQueue{Port: "s to p", Us: []float64{500, 299_500}, Mean: []float64{1, 3}, Peak: []float64{2, 3}}
	if !reflect.DeepEqual(got.Queue, want) {
		t.Errorf("queue %+v, want %+v", got.Queue, want)
	}
	if nothing := See(nil, nil); len(nothing.FCT) > 0 || nothing.Queue != nil {
		t.Errorf("of nothing: %+v", nothing)
	}
}

// Readers see the last state as long as the run is made, and none before or
// after.
func TestPublish(t *testing.T) {
	root := t.TempDir()
	if growing, err := Growing(filepath.Join(root, "none")); err != nil || len(growing) > 0 {
		t.Errorf("a folder that is not there: %v, %v", growing, err)
	}
	w := create(t, root, manifest())
	if _, err := ReadLive(w.Dir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before the first state: %v", err)
	}
	for n := range int64(3) {
		l := Live{At: began.UTC(), Of: 12, Points: []LivePoint{{Scheme: "tcn", Number: 1, Flows: 600, Completed: n, Seen: See(nil, nil)}}}
		if err := w.Publish(l); err != nil {
			t.Fatal(err)
		}
		got, err := ReadLive(w.Dir())
		if err != nil || got.Of != 12 || got.Points[0].Completed != n {
			t.Errorf("read %+v, %v", got, err)
		}
	}
	growing, err := Growing(root)
	if err != nil || len(growing) != 1 || growing[0].Dir != w.Dir() || growing[0].State != Running || growing[0].Lab != "star" {
		t.Errorf("growing %+v, %v", growing, err)
	}
	addAll(t, w, measured()[:1])
	dir, err := w.Finish(began)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ReadLive(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after the end: %v", err)
	}
	if growing, err := Growing(root); err != nil || len(growing) > 0 {
		t.Errorf("after the end %+v grows, %v", growing, err)
	}
}

// What a killed run leaves does not grow, and half a file is an error that names
// it.
func TestLiveOfADeadRun(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, unfinished+"dead")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, liveFile), []byte(`{"of": `), 0o644); err != nil {
		t.Fatal(err)
	}
	if growing, err := Growing(root); err != nil || len(growing) > 0 {
		t.Errorf("growing %+v, %v", growing, err)
	}
	if _, err := ReadLive(dir); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("half a file: %v", err)
	}
}
