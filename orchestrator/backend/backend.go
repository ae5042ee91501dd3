// Package backend says what a runtime is to whoever runs labs on it: a row of facts,
// and how it is opened for a lab. What all runtimes do alike is here, too: how often
// they sample, and how they record what a switch counted.
package backend

import (
	"context"
	"io"
	"slices"
	"time"

	"aqmlab/labs"
	"aqmlab/results"
	"aqmlab/trafficgen/traffic"
)

// Row is a runtime: where the hosts of labs run.
type Row struct {
	Name string
	Doc  string // one line
	Facts
	// Find says what this machine has for the runtime, such as the kernel of guests,
	// or why it cannot run it.
	Find func() (string, error)
	// Open readies the runtime for a lab.
	Open func(ctx context.Context, lab *labs.Lab, o Options) (*Backend, error)
}

// Facts are what labs, plans and commands need to know of a runtime.
type Facts struct {
	labs.Hosts      // what they are: models or real, containers or not
	Virtual    bool // time is virtual: nothing is late, nothing is dilated, and points run beside each other
	OwnKernel  bool // the hosts' kernel is this machine's, so that its release counts
	Stays      bool // hosts can be left up without a run
}

// Options say how a runtime is opened.
type Options struct {
	Root string       // folder of the state of all labs; empty: that of the environment, see journal.RootVar
	Log  io.Writer    // gets what helper processes complain about, several at a time; may be nil
	Jobs int          // points to run at once where time is virtual
	Note func(string) // is told what the user should know
}

// Backend is a runtime that is ready to run the points of a lab.
type Backend struct {
	Row                       // that it was opened by
	Manifest results.Manifest // of the runs made on it
	Jobs     int              // points that may be measured at once
	// Measure runs a point, and tells watch of its progress several times a second.
	Measure func(ctx context.Context, p Point, watch func(Progress)) (results.Point, error)
	Close   func(ctx context.Context) error
}

// Point is one replay of a trace under one scheme.
type Point struct {
	results.Coord
	Flows []traffic.Flow
}

// Lasts is the wall time of the starts of a point's trace; zero in virtual time, where
// nobody knows it ahead.
func (b *Backend) Lasts(p Point) time.Duration {
	if b.Virtual {
		return 0
	}
	return time.Duration(float64(traffic.End(p.Flows)) * b.Manifest.Dilation)
}

// Progress counts the flows of a point that is going on.
type Progress struct {
	Completed int64 // every byte came
	Failed    int64 // ended otherwise
	// Look tells what the point has measured so far, which takes a moment. It is
	// good during the call that it is passed to; nil where nothing is known.
	Look func() (results.Seen, error) `json:"-"`
	// Last is what the last look found. A run looks once a second.
	Last results.Seen `json:"-"`
}

// ManifestOf is what the manifests of all runtimes have in common.
func ManifestOf(lab *labs.Lab) results.Manifest {
	version, revision := results.ThisBuild()
	m := results.Manifest{
		Version:     version,
		GitRevision: revision,
		Start:       time.Now().UTC(),
		Host:        results.ThisMachine(),
		Dilation:    1,
		Transport:   results.Transport{Name: lab.Host.Transport},
		RTTBy:       results.RTTByDelayLine,
		Lab:         lab.Name,
		Loads:       slices.Clone(lab.Workload.Load),
		Seeds:       slices.Clone(lab.Seeds),
		Baseline:    lab.Baseline,
	}
	for _, s := range lab.Schemes {
		m.Schemes = append(m.Schemes, s.Name)
	}
	return m
}
