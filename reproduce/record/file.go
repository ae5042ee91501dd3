package record

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// file is where the record of an experiment is kept.
func file(root, paper, experiment string) string {
	return filepath.Join(root, paper, experiment+".json")
}

// Load reads a record. One that is not there is empty.
func Load(root, paper, experiment string) (*Record, error) {
	r := New(paper, experiment)
	b, err := os.ReadFile(file(root, paper, experiment))
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the record of %s: %w", experiment, err)
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(r); err != nil {
		return nil, fmt.Errorf("reading %s: %w", file(root, paper, experiment), err)
	}
	return r, nil
}

// Save writes the record whole or not at all, if it holds a figure.
func (r *Record) Save(root string) error {
	if len(r.Figures) == 0 {
		return nil
	}
	r.tidy()
	return WriteFile(file(root, r.Paper, r.Experiment), r.text())
}

// WriteFile replaces a file of the card in one step.
func WriteFile(name string, b []byte) error {
	err := os.MkdirAll(filepath.Dir(name), 0o755)
	if err == nil {
		err = os.WriteFile(name+".new", b, 0o644)
	}
	if err == nil {
		err = os.Rename(name+".new", name)
	}
	if err != nil {
		return fmt.Errorf("writing the card: %w", err)
	}
	return nil
}

// tidy puts a record into its one order, and drops origins of nothing.
func (r *Record) tidy() {
	slices.SortStableFunc(r.Figures, func(a, b Figure) int {
		return cmp.Or(strings.Compare(a.Claim, b.Claim), strings.Compare(a.Runtime, b.Runtime), cmp.Compare(a.Load, b.Load), strings.Compare(a.Scheme, b.Scheme))
	})
	slices.SortStableFunc(r.Points, func(a, b Point) int {
		return cmp.Or(strings.Compare(a.Runtime, b.Runtime), strings.Compare(a.Lab, b.Lab), cmp.Compare(a.Load, b.Load), strings.Compare(a.Scheme, b.Scheme), cmp.Compare(a.Seed, b.Seed))
	})
	maps.DeleteFunc(r.Origins, func(id string, _ Origin) bool {
		return !slices.ContainsFunc(r.Figures, func(f Figure) bool { return f.Origin == id }) &&
			!slices.ContainsFunc(r.Points, func(k Point) bool { return k.Origin == id })
	})
}

// text is the record as JSON, a line for every figure and point, so that a
// change shows which of them changed.
func (r *Record) text() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\"paper\": %q, \"experiment\": %q,\n\"origins\": {", r.Paper, r.Experiment)
	lines(&b, slices.Sorted(maps.Keys(r.Origins)), func(id string) string { return fmt.Sprintf("%q: %s", id, compact(r.Origins[id])) })
	b.WriteString("},\n\"figures\": [")
	lines(&b, r.Figures, func(f Figure) string { return compact(f) })
	b.WriteString("],\n\"points\": [")
	lines(&b, r.Points, func(k Point) string { return compact(k) })
	b.WriteString("]}\n")
	return b.Bytes()
}

func lines[E any](b *bytes.Buffer, elements []E, line func(E) string) {
	for i, e := range elements {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n  " + line(e))
	}
}
