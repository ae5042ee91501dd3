package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aqmlab/results"
)

// Remove removes the folder of a run: one that is whole, or what a killed
// process left. Where "latest" beside it names the run, it is made to name the
// newest that is left, or goes.
//
// Remove refuses, and leaves everything as it is, when the folder is no run's,
// when a writer holds it, and when it has something in it that no run has: files
// that somebody put there are not for it to remove. It never follows a link.
func Remove(dir string) error {
	lock, err := holdForRemoval(dir)
	if err != nil {
		return fmt.Errorf("removing run %s: %w", dir, err)
	}
	defer lock.Close()
	if err := removeFiles(dir); err != nil {
		return fmt.Errorf("removing run %s: %w", dir, err)
	}
	return repointLatest(filepath.Dir(dir), filepath.Base(dir))
}

// CheckRemovable tells why [Remove] would refuse.
func CheckRemovable(dir string) error {
	lock, err := holdForRemoval(dir)
	if err != nil {
		return fmt.Errorf("removing run %s: %w", dir, err)
	}
	return lock.Close()
}

// holdForRemoval locks a folder that is a run's and holds nothing else.
func holdForRemoval(dir string) (lock *os.File, err error) {
	if info, err := os.Lstat(dir); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, errors.New("it is no folder")
	}
	if err := isRun(dir); err != nil {
		return nil, err
	}
	if lock, err = lockDir(dir); errors.Is(err, errLost) {
		return nil, errors.New("it is still being made")
	} else if err != nil {
		return nil, err
	}
	if err := onlyOurs(dir); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// isRun wants the name of a run, or, of a folder that got another name, a
// manifest that belongs to the lab beside it.
func isRun(dir string) error {
	if runName(filepath.Base(dir)) {
		return nil
	}
	var m results.Manifest
	lab, err := os.ReadFile(filepath.Join(dir, labFile))
	if err == nil {
		err = readJSON(filepath.Join(dir, manifestFile), &m)
	}
	if err != nil || m.LabHash != hashOf(lab) {
		return fmt.Errorf("it is not the folder of a run: it has neither the name of one nor a %s that belongs to its %s", manifestFile, labFile)
	}
	return nil
}

// onlyOurs names what is in a folder that no run has.
func onlyOurs(dir string) error {
	var foreign []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err == nil && !ours(name, d) {
			foreign = append(foreign, name)
			if d.IsDir() {
				err = fs.SkipDir
			}
		}
		return err
	})
	if err == nil && len(foreign) > 0 {
		err = fmt.Errorf("it holds what no run has, move it away first: %s", strings.Join(foreign, ", "))
	}
	return err
}

// ours tells whether a name in the folder of a run is one that a writer gives: a
// file of the run, a point, or a file of a point.
func ours(name string, d fs.DirEntry) bool {
	point, file := filepath.Split(name)
	switch {
	case d.IsDir():
		return point == "" && strings.Contains(file, "-load") && strings.Contains(file, "-seed")
	case !d.Type().IsRegular():
		return false
	}
	file = strings.TrimSuffix(file, ".new")
	if point == "" {
		return slices.Contains([]string{labFile, manifestFile, SummaryFile, ReportFile, liveFile}, file)
	}
	return ofPoint(file) || file == sumsFile || filepath.Ext(file) == tableExt
}

// removeFiles removes what onlyOurs has seen. The manifest and the lab go last:
// until then the folder is known for a run's, if this is cut short.
func removeFiles(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	last := func(e fs.DirEntry) int { return slices.Index([]string{labFile, manifestFile}, e.Name()) }
	slices.SortStableFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(last(a), last(b)) })
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return os.Remove(dir)
}

// repointLatest makes root/latest name the newest run that has its own name, if
// it named the run that is gone.
func repointLatest(root, gone string) error {
	link := filepath.Join(root, latestLink)
	if to, err := os.Readlink(link); err != nil || to != gone {
		return nil // there is none, or it names another
	}
	entries, err := List(root)
	if err != nil {
		return err
	}
	for _, e := range slices.Backward(entries) {
		if !strings.HasPrefix(e.Name, unfinished) && e.State != results.Broken {
			return pointLatest(root, e.Name)
		}
	}
	return os.Remove(link)
}
