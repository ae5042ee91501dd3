package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"aqmlab/bounded"
)

// sumsFile has the SHA-256 of every other file of a point, a line each, as sha256sum
// writes and checks them. It lies with the point, so that a point can be copied.
const sumsFile = "SHA256SUMS"

// folder is the folder of a point, with the checksums of its files.
type folder struct {
	dir  string
	sums map[string]string // by the names of files; nil: a version stored the point that noted none
}

// openFolder reads the checksums.
func openFolder(dir string) (folder, error) {
	path := filepath.Join(dir, sumsFile)
	text, err := bounded.ReadFile(path, maxJSON)
	if errors.Is(err, fs.ErrNotExist) {
		return folder{dir: dir}, nil
	}
	if err != nil {
		return folder{}, damaged(path, err)
	}
	f := folder{dir, make(map[string]string)}
	format := regexp.MustCompile(`^([0-9a-f]{64})  (\S+)\n$`)
	for line := range bytes.Lines(text) {
		parts := format.FindSubmatch(line)
		if parts == nil {
			return folder{}, damaged(path, fmt.Errorf("%q is not a checksum and a name", line))
		}
		name := string(parts[2])
		if !ofPoint(name) {
			return folder{}, damaged(path, fmt.Errorf("it names %s, which no point has", name))
		}
		f.sums[name] = string(parts[1])
	}
	return f, nil
}

// path is that of a file.
func (f folder) path(name string) string { return filepath.Join(f.dir, name) }

// write writes a new file, and notes its checksum.
func (f folder) write(name string, write func(io.Writer) error) error {
	sum := sha256.New()
	err := writeNew(f.path(name), func(w io.Writer) error { return write(io.MultiWriter(w, sum)) })
	f.sums[name] = hex.EncodeToString(sum.Sum(nil))
	return err
}

// writeSums writes the checksums that were noted.
func (f folder) writeSums() error {
	var text bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(f.sums)) {
		fmt.Fprintf(&text, "%s  %s\n", f.sums[name], name)
	}
	return writeNew(f.path(sumsFile), contents(text.Bytes()))
}

// open opens a file that is as it was written, as far as that was noted. The error
// names the file.
func (f folder) open(name string) (*os.File, error) {
	file, err := os.Open(f.path(name))
	if err != nil && f.sums[name] != "" {
		err = fmt.Errorf("%w, and %s lists it", err, f.path(sumsFile))
	}
	if err != nil {
		return nil, damaged(f.path(name), err)
	}
	if err := f.compare(name, file); err != nil {
		return nil, errors.Join(damaged(f.path(name), err), file.Close())
	}
	return file, nil
}

// compare compares a file with its checksum.
func (f folder) compare(name string, file io.ReadSeeker) error {
	if f.sums == nil {
		return nil
	}
	want, ok := f.sums[name]
	if !ok {
		return fmt.Errorf("%s has no line for it", f.path(sumsFile))
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return err
	}
	if hex.EncodeToString(sum.Sum(nil)) != want {
		return fmt.Errorf("%w, in %s", ErrChanged, f.path(sumsFile))
	}
	_, err := file.Seek(0, io.SeekStart)
	return err
}

// readJSON reads a JSON file.
func (f folder) readJSON(name string, v any) error {
	file, err := f.open(name)
	if err != nil {
		return err
	}
	b, err := readObject(f.path(name))
	if f.sums == nil {
		b = inTodaysWords(b)
	}
	if err == nil {
		err = decode(f.path(name), b, v)
	}
	return errors.Join(err, file.Close())
}

// files lists what is in the folder and was noted, without what is being written.
func (f folder) files() ([]string, error) {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return nil, err
	}
	names := slices.Collect(maps.Keys(f.sums))
	for _, e := range entries {
		if name := e.Name(); name != sumsFile && !strings.HasSuffix(name, ".new") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

func damaged(path string, err error) error {
	return fmt.Errorf("reading %s: missing, cut short or damaged: %w", path, err)
}
