package store

import (
	"fmt"
	"slices"

	"aqmlab/results"
)

// Damage is a point that cannot be used, and why: the error names the file.
type Damage struct {
	results.Coord
	Folder string
	Err    error
}

// Damaged lists the points that should be there and cannot be used.
func (r *Run) Damaged() []Damage { return slices.Clone(r.damaged) }

// Sound is the run without the points for which check fails, which join the damaged.
func (r *Run) Sound(check func(Point) error) *Run {
	sound := *r
	sound.points, sound.damaged = nil, slices.Clone(r.damaged)
	for _, p := range r.points {
		if err := check(p); err != nil {
			sound.damaged = append(sound.damaged, Damage{p.Coord, p.Folder(), err})
		} else {
			sound.points = append(sound.points, p)
		}
	}
	return &sound
}

// Without is the run without the points that leave chooses.
func (r *Run) Without(leave func(results.Coord) bool) *Run {
	rest := *r
	rest.points = slices.DeleteFunc(slices.Clone(r.points), func(p Point) bool { return leave(p.Coord) })
	return &rest
}

// Check tells whether the tables of the point are whole: by their checksums, or, where
// an older version noted none, by reading them.
func (s Point) Check() error {
	if s.sums == nil {
		_, err := s.Read()
		return err
	}
	for name := range schemas() {
		if s.sums[name] == "" && name != flowsFile && name != seriesFile {
			continue
		}
		file, err := s.open(name)
		if err == nil {
			err = file.Close()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Remedy says what to do about the damage of a run.
func Remedy(dir string) string {
	return fmt.Sprintf("aqmlab results repair %s drops what is damaged, and aqmlab run --resume measures it again", dir)
}

// coordOf is the point of the manifest that has a folder of that name.
func (r *Run) coordOf(folder string) (at results.Coord) {
	for _, scheme := range r.Manifest.Schemes {
		for _, load := range r.Manifest.Loads {
			for _, seed := range r.Manifest.Seeds {
				if c := (results.Coord{Scheme: scheme, Load: load, Seed: seed}); c.Folder() == folder {
					return c
				}
			}
		}
	}
	return at
}
