package store

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"aqmlab/results"
)

// CheckResumable tells why a run cannot be gone on with by what m and labYAML
// describe, naming all in which that differs from what made the run. What m
// leaves empty is not known yet, and not looked at.
func (r *Run) CheckResumable(m results.Manifest, labYAML []byte) error {
	if e := EntryOf(r.Dir); e.State == results.Running || e.State == results.Broken {
		err := errors.New(strings.TrimSuffix(fmt.Sprintf("it is %s: %s", e.State, e.Reason), ": "))
		if e.State == results.Broken {
			err = fmt.Errorf("%w; %s", err, Remedy(r.Dir))
		}
		return err
	}
	var differs []string
	for _, s := range Settings([]*Run{r, {Manifest: m, LabYAML: labYAML}}) {
		was, is := s.Values[0], s.Values[1]
		known := is != "" && is != "0"
		measures := s.Matters || s.Name == "dilation" || s.Name == "kernel" && r.Manifest.OnOwnKernel()
		if s.Key != "" {
			was, is, known, measures = cmp.Or(was, "none"), cmp.Or(is, "none"), true, !describes(s.Key)
		}
		if known && measures {
			differs = append(differs, fmt.Sprintf("%s: %s then, %s now", s.Name, cmp.Or(was, "none"), is))
		}
	}
	if differs == nil {
		return nil
	}
	return fmt.Errorf("it was made in another way: %s", strings.Join(differs, "; "))
}

// describes lists the keys of a lab that are there for readers, and the dilation,
// which the manifest knows.
func describes(key string) bool {
	return key == "title" || key == "dilation" || strings.HasPrefix(key, "source.")
}

// Resume goes on with a run that ended early or was killed: a writer with the
// points that are there. The run keeps its folder, its lab and the begin of its
// manifest, which gets a time of resumption and the RTTs that were measured
// since. It refuses what [Run.CheckResumable] does, and a run that another
// writer has.
func Resume(dir string, m results.Manifest, labYAML []byte, d Describer) (w *Writer, err error) {
	defer func() {
		if err != nil {
			w, err = nil, fmt.Errorf("going on with run %s: %w", filepath.Base(dir), err)
		}
	}()
	run, err := Open(dir)
	if err != nil {
		return nil, err
	}
	if err := run.CheckResumable(m, labYAML); err != nil {
		return nil, err
	}
	w = &Writer{root: filepath.Dir(dir), name: strings.TrimPrefix(filepath.Base(dir), unfinished), dir: dir, manifest: run.Manifest, describer: d}
	if err := w.lockFolder(); err != nil {
		return nil, err
	}
	w.manifest.Schema = results.Schema
	w.manifest.State, w.manifest.Reason, w.manifest.Points, w.manifest.Files = results.Running, "", run.infos(), nil
	if !w.manifest.Checksums {
		w.manifest.Checksums, w.manifest.Unsummed = true, run.unsummed()
	}
	w.manifest.Resumed = append(w.manifest.Resumed, m.Start.UTC())
	w.manifest.BaseRTTs = append(w.manifest.BaseRTTs, m.BaseRTTs...)
	if err := errors.Join(removePieces(dir), w.writeManifest()); err != nil {
		return nil, errors.Join(err, w.lock.Close())
	}
	return w, nil
}

// unsummed are the folders of points without checksums.
func (r *Run) unsummed() (folders []string) {
	for _, p := range r.points {
		if p.sums == nil {
			folders = append(folders, p.Folder())
		}
	}
	return folders
}

// removePieces removes what was never whole of points.
func removePieces(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), unfinished) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return err
}
