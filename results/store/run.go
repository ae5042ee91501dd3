// Package store keeps runs on disk: it writes, opens, lists, goes on with and
// removes them.
package store

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aqmlab/bounded"
	"aqmlab/results"
)

// Run is a run on disk.
type Run struct {
	Dir      string
	Manifest results.Manifest
	LabYAML  []byte // the resolved lab

	points  []Point
	damaged []Damage
}

// Open opens a run, which may be partial or still growing. The error says
// which file of the run is missing or damaged; points that are, are in
// [Run.Damaged]. The records of the points are read, and checked, only when they
// are asked for.
func Open(dir string) (*Run, error) {
	r := &Run{Dir: dir}
	if err := r.load(); err != nil {
		return nil, fmt.Errorf("opening run %s: %w", dir, err)
	}
	return r, nil
}

func (r *Run) load() (err error) {
	if err := r.loadManifest(); err != nil {
		return err
	}
	// The manifest of a run that was killed does not know what is there.
	entries, err := os.ReadDir(r.Dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), unfinished) {
			continue
		}
		p, err := openPoint(filepath.Join(r.Dir, e.Name()))
		if err == nil && p.sums == nil && r.Manifest.Checksums && !slices.Contains(r.Manifest.Unsummed, e.Name()) {
			err = fmt.Errorf("opening point %s: %s is missing, and %s says that the point has it", e.Name(), p.path(sumsFile), filepath.Join(r.Dir, manifestFile))
		}
		if err != nil {
			r.damaged = append(r.damaged, Damage{r.coordOf(e.Name()), e.Name(), err})
			continue
		}
		r.points = append(r.points, p)
	}
	r.order()
	r.missing()
	return nil
}

// loadManifest reads what made the run, which must be all there.
func (r *Run) loadManifest() (err error) {
	path := filepath.Join(r.Dir, manifestFile)
	err = readJSON(path, &r.Manifest)
	if newer := results.CheckSchema(r.Manifest.Schema); newer != nil { // it explains the other, if any
		return fmt.Errorf("reading %s: %w", path, newer)
	}
	if err != nil {
		return err
	}
	if err := usable(r.Manifest); err != nil {
		return damaged(path, err)
	}
	path = filepath.Join(r.Dir, labFile)
	if r.LabYAML, err = bounded.ReadFile(path, maxLab); err != nil {
		return err
	}
	if hashOf(r.LabYAML) != r.Manifest.LabHash {
		return damaged(path, fmt.Errorf("%w, in %s", ErrChanged, filepath.Join(r.Dir, manifestFile)))
	}
	return nil
}

// usable tells what a manifest lacks that every one has.
func usable(m results.Manifest) error {
	switch {
	case !slices.Contains([]results.State{results.Running, results.Complete, results.Partial}, m.State):
		return fmt.Errorf("state %q: want one of %s, %s, %s", m.State, results.Running, results.Complete, results.Partial)
	case len(m.Schemes) == 0 || len(m.Loads) == 0 || len(m.Seeds) == 0:
		return errors.New("it has no schemes, loads or seeds")
	}
	return storable(m)
}

// order sorts points as the manifest lists their schemes, then by load and
// seed.
func (r *Run) order() {
	slices.SortStableFunc(r.points, func(a, b Point) int {
		return cmp.Or(cmp.Compare(r.rank(a.Scheme), r.rank(b.Scheme)), a.Coord.Compare(b.Coord))
	})
}

// rank is a scheme's place in the manifest; one that is not there comes last.
func (r *Run) rank(scheme string) int {
	if i := slices.Index(r.Manifest.Schemes, scheme); i >= 0 {
		return i
	}
	return len(r.Manifest.Schemes)
}

// missing adds to the damaged what the manifest lists and is not on disk, and corrects the
// manifest of a run that never got to list its points.
func (r *Run) missing() {
	if r.Manifest.State == results.Running {
		r.Manifest.Points = r.infos()
		return
	}
	for _, want := range r.Manifest.Points {
		there := slices.ContainsFunc(r.points, func(p Point) bool { return p.Coord == want.Coord }) ||
			slices.ContainsFunc(r.damaged, func(d Damage) bool { return d.Coord == want.Coord })
		if !there {
			err := fmt.Errorf("%v is listed in %s but missing", want.Coord, filepath.Join(r.Dir, manifestFile))
			r.damaged = append(r.damaged, Damage{want.Coord, want.Folder(), err})
		}
	}
}

// infos are the points that are there, without their records.
func (r *Run) infos() (infos []results.PointInfo) {
	for _, p := range r.points {
		infos = append(infos, p.PointInfo)
	}
	return infos
}

// Points are the points that are whole on disk, by scheme (in the manifest's
// order), load and seed. The slice is the caller's.
func (r *Run) Points() []Point { return slices.Clone(r.points) }

// ReadFlows reads every point as [Point.ReadFlows] does.
func (r *Run) ReadFlows() ([]results.Point, error) {
	var points []results.Point
	for _, s := range r.points {
		p, err := s.ReadFlows()
		if err != nil {
			return nil, err
		}
		points = append(points, p)
	}
	return points, nil
}

// ReadLive reads how far a run is that is being made in a folder. The error
// wraps [fs.ErrNotExist] when it has not published that yet, or is over.
func ReadLive(dir string) (results.Live, error) {
	var l results.Live
	if err := readJSON(filepath.Join(dir, liveFile), &l); err != nil {
		return results.Live{}, fmt.Errorf("reading the progress of a run: %w", err)
	}
	return l, nil
}
