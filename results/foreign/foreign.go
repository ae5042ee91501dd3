// Package foreign reads what other simulators say of the flows of a trace, so that runs of
// theirs can be stored and compared beside ours.
package foreign

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"aqmlab/bounded"
)

// Seen is a flow as another simulator saw it. Times are of that simulator's clock.
type Seen struct {
	ID         int64         // in the trace, from 0; [Unnumbered] where flows have the order of their starts
	Start, End time.Duration // first packet sent, last packet of data received; a Start below zero is not known
	Exact      time.Duration // how far its times may be off, as they were rounded
	Bytes      int64         // payload that arrived, at most
	From, To   string        // who sent the data to whom, as that simulator calls them; empty where it does not say
}

// Unnumbered is the ID of a flow of which the simulator does not say which one it is.
const Unnumbered = -1

// Format is a kind of file that holds flows.
type Format struct {
	Name      string
	Simulator string // what writes it
	Doc       string // one line
	read      func(io.Reader) ([]Seen, error)
}

// Bounds of a file: a million flows of FlowMonitor with its histograms take less.
const (
	maxFile = 4 << 30
	maxLine = 1 << 20
)

// ReadFile reads the flows of a file. The error names the file.
func (f Format) ReadFile(path string) ([]Seen, error) {
	file, err := os.Open(path)
	if err != nil {
		if pathErr := new(fs.PathError); errors.As(err, &pathErr) {
			err = pathErr.Err
		}
		return nil, fmt.Errorf("reading flows of %s: %s: %w", f.Simulator, path, err)
	}
	defer file.Close()
	seen, err := f.Read(file)
	if err != nil {
		return nil, fmt.Errorf("reading %s as %s: %w", path, f.Name, err)
	}
	return seen, nil
}

// Read reads flows.
func (f Format) Read(in io.Reader) ([]Seen, error) {
	seen, err := f.read(bounded.Lines(in, maxFile, maxLine))
	if err == nil && len(seen) == 0 {
		err = errors.New("it has no flows")
	}
	return seen, err
}
