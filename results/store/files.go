package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"aqmlab/bounded"
	"aqmlab/results"
)

// Most bytes of files that are read whole. Those of runs with a hundred thousand points
// are smaller.
const (
	maxJSON = 256 << 20
	maxLab  = 16 << 20
)

// Names of the files of a run and of its points.
const (
	labFile       = "lab.yaml"
	manifestFile  = "manifest.json"
	flowsFile     = "flows.parquet"
	seriesFile    = "series.parquet"
	goodputFile   = "goodput.parquet"   // of points in which payload arrived
	probesFile    = "probes.parquet"    // of points with probes
	sendersFile   = "senders.parquet"   // of points whose senders were sampled
	delaysFile    = "delays.parquet"    // of points whose packets' sojourn times were counted
	estimatesFile = "estimates.parquet" // of points whose schemes' estimates were kept
	programsFile  = "programs.parquet"  // of points with programs
	figuresFile   = "figures.parquet"   // of points whose programs measured something themselves
	captureFile   = "capture.pcapng"    // of points with a capture
	pointFile     = "point.json"
	tableExt      = ".parquet" // of all tables of a point
	latestLink    = "latest"
	liveFile      = "progress.json" // of a run that is being made: its Live
	unfinished    = ".partial-"     // of a run or a point that is being written
)

// ofPoint tells whether a point may have a file of that name, but for that with their
// checksums.
func ofPoint(name string) bool {
	all := []string{flowsFile, seriesFile, goodputFile, probesFile, sendersFile, estimatesFile, delaysFile, programsFile, figuresFile, captureFile, pointFile}
	return slices.Contains(all, name) || results.IsOutputFile(name)
}

// Files that a [Describer] makes.
const (
	SummaryFile = "summary.json"
	ReportFile  = "report.html"
)

// WriteFile writes a file so that a reader, or a crash, finds the old content
// or the new one and nothing between.
func WriteFile(path string, b []byte) error {
	temp := path + ".new"
	if err := writeDurably(temp, contents(b)); err != nil {
		return err
	}
	return rename(temp, path)
}

func writeDurably(path string, write func(io.Writer) error) error {
	return writeThen((*os.File).Sync, path, write)
}

// writeNew writes a file of a folder that is made durable as a whole, see flush.
func writeNew(path string, write func(io.Writer) error) error {
	return writeThen(func(*os.File) error { return nil }, path, write)
}

func writeThen(end func(*os.File) error, path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("writing %s: %w", filepath.Base(path), err)
	}
	if err = write(f); err == nil {
		err = end(f)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// rename moves a file or folder within one folder and makes that durable.
func rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return syncDir(filepath.Dir(to))
}

// CheckWritable tells why no run can be stored below a folder, which need not be there
// yet. It makes nothing.
func CheckWritable(root string) error {
	dir, err := filepath.Abs(root)
	if err != nil {
		return fmt.Errorf("storing runs in %s: %w", root, err)
	}
	info, err := os.Stat(dir)
	for errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		info, err = os.Stat(dir)
	}
	switch {
	case err != nil:
	case !info.IsDir():
		err = syscall.ENOTDIR
	default:
		err = writable(dir)
	}
	if err != nil {
		return fmt.Errorf("storing runs in %s: %s: %w", root, dir, err)
	}
	return nil
}

// asJSON is the content of a JSON file.
func asJSON(v any) ([]byte, error) {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding JSON: %w", err)
	}
	return append(b, '\n'), nil
}

// contents writes bytes.
func contents(b []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	}
}

func readJSON(path string, v any) error {
	b, err := readObject(path)
	if err != nil {
		return err
	}
	return decode(path, b, v)
}

// readObject is the content of a JSON file, without its seal.
func readObject(path string) ([]byte, error) {
	b, err := bounded.ReadFile(path, maxJSON)
	if err != nil {
		return nil, err
	}
	return Unseal(path, b)
}

func decode(path string, b []byte, v any) error {
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	return nil
}
