package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Live is how far a run is that is being made. Its maker rewrites it in the
// run's folder about once a second.
type Live struct {
	At     time.Time   `json:"at"`     // wall-clock time of this state
	Of     int         `json:"of"`     // points in all
	Points []LivePoint `json:"points"` // that have begun, in that order
}

// LivePoint is one point of a run that is being made.
type LivePoint struct {
	Scheme    string  `json:"scheme"`
	Load      float64 `json:"load"`
	Seed      uint64  `json:"seed"`
	Number    int     `json:"number"` // from 1
	Flows     int     `json:"flows"`  // in its trace
	Completed int64   `json:"completed"`
	Failed    int64   `json:"failed"` // ended otherwise
	Done      bool    `json:"done"`
	Seen
}

// Seen is what a point has measured so far.
type Seen struct {
	FCT   map[Class]FCT `json:"fct_us,omitempty"` // of the flows that completed
	Queue *LiveQueue    `json:"queue,omitempty"`  // the bottleneck's; nil when nothing passed yet, or the point is done
}

// LiveQueue is the length of a port's queues together over time.
type LiveQueue struct {
	Port string    `json:"port"`
	Us   []float64 `json:"us"` // lab time
	Mean []float64 `json:"mean_kb"`
	Peak []float64 `json:"peak_kb"`
}

// liveFile is where a run that is being made has its Live.
const liveFile = "progress.json"

// See sums up the flows and samples that a point has so far.
func See(flows []Flow, samples []QueueSample) Seen {
	s := Seen{FCT: make(map[Class]FCT)}
	for _, c := range Classes() {
		if f := Summarize(flows, c); f.Count > 0 {
			s.FCT[c] = f
		}
	}
	port, ok := bottleneck(samples)
	if !ok {
		return s
	}
	s.Queue = &LiveQueue{Port: port.String()}
	o := occupy("", samples, port, lastSample(samples))
	tenth := func(v float64) float64 { return math.Round(10*v) / 10 }
	for i, p := range o.mean {
		s.Queue.Us = append(s.Queue.Us, tenth(p.x))
		s.Queue.Mean = append(s.Queue.Mean, tenth(p.y))
		s.Queue.Peak = append(s.Queue.Peak, tenth(o.peak[i].y))
	}
	return s
}

// Publish shows readers of the run's folder how far the run is. Unlike the
// Writer's other methods it may be called while another one is at work, other
// than Finish and Abort. A crash may lose what it wrote, so it costs no flush.
func (w *Writer) Publish(l Live) error {
	b, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("publishing progress: %w", err)
	}
	path := filepath.Join(w.Dir(), liveFile)
	if err := os.WriteFile(path+".new", b, 0o644); err != nil {
		return fmt.Errorf("publishing progress: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("publishing progress: %w", err)
	}
	return nil
}

// unpublish removes what was published.
func (w *Writer) unpublish() error {
	err := os.Remove(filepath.Join(w.Dir(), liveFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the published progress: %w", err)
	}
	return nil
}

// ReadLive reads how far a run is that is being made in a folder. The error
// wraps [fs.ErrNotExist] when it has not published that yet, or is over.
func ReadLive(dir string) (Live, error) {
	var l Live
	if err := readJSON(filepath.Join(dir, liveFile), &l); err != nil {
		return Live{}, fmt.Errorf("reading the progress of a run: %w", err)
	}
	return l, nil
}

// Growing lists the runs in root that are being made, by the time of their
// start. A root that does not exist holds none.
func Growing(root string) ([]Entry, error) {
	dirs, err := os.ReadDir(root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("listing the runs that are being made: %w", err)
	}
	var entries []Entry
	for _, d := range dirs {
		if dir := filepath.Join(root, d.Name()); d.IsDir() && strings.HasPrefix(d.Name(), unfinished) && growing(dir) {
			entries = append(entries, EntryOf(dir))
		}
	}
	return entries, nil
}
