package record

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"aqmlab/results"
)

// Precedence says which of two measurements of the same a record keeps.
type Precedence struct {
	// CurrentFigure and CurrentPoint tell whether the lab is still as it was when
	// something was measured, and the claim.
	CurrentFigure func(Figure) bool
	CurrentPoint  func(Point) bool
	Since         time.Time // what was measured before gives way to what was not
}

// Merge takes over what has precedence over what the record has. What is the same
// keeps its origin: to read the same runs again measures nothing.
func (r *Record) Merge(fresh *Record, p Precedence) {
	maps.Copy(r.Origins, fresh.Origins)
	r.Figures = merge(r.Figures, fresh.Figures, Figure.subject, Figure.anonymous, p.ofFigure)
	r.Points = merge(r.Points, fresh.Points, Point.subject, Point.anonymous, p.ofPoint)
}

// merge compares what is about the same subject, by its text without the origin.
func merge[E any, S comparable](have, fresh []E, subject func(E) S, anonymous func(E) string, rank func(E) rank) []E {
	for _, f := range fresh {
		i := slices.IndexFunc(have, func(h E) bool { return subject(h) == subject(f) })
		switch {
		case i < 0:
			have = append(have, f)
		case anonymous(have[i]) != anonymous(f) && rank(f).beats(rank(have[i])):
			have[i] = f
		}
	}
	return have
}

// rank is what decides between two measurements of the same.
type rank struct {
	current      bool // of the lab as it is
	since        bool // not before the time that was asked for
	flows, seeds int
	measured     time.Time
}

func (p Precedence) ofFigure(f Figure) rank {
	return rank{p.CurrentFigure(f), !f.Measured.Before(p.Since), f.Flows, f.Seeds, f.Measured}
}

func (p Precedence) ofPoint(k Point) rank {
	return rank{p.CurrentPoint(k), !k.Measured.Before(p.Since), k.Flows, 1, k.Measured}
}

// beats tells whether a measurement takes the place of another: the lab as it is
// counts most, then more flows and seeds, then the later time.
func (r rank) beats(o rank) bool {
	for _, is := range [][2]bool{{r.current, o.current}, {r.since, o.since}} {
		if is[0] != is[1] {
			return is[0]
		}
	}
	return cmp.Or(cmp.Compare(r.flows, o.flows), cmp.Compare(r.seeds, o.seeds), r.measured.Compare(o.measured)) >= 0
}

// subject is what a figure is of, and by what it was measured.
type subject struct {
	name, runtime string // of the claim or the lab
	results.Coord
}

func (f Figure) subject() subject {
	return subject{f.Claim, f.Runtime, results.Coord{Scheme: f.Scheme, Load: f.Load}}
}

func (k Point) subject() subject { return subject{k.Lab, k.Runtime, k.Coord} }

// anonymous is a figure as text, but for who measured it.
func (f Figure) anonymous() string {
	f.Origin = ""
	return compact(f)
}

func (k Point) anonymous() string {
	k.Origin = ""
	return compact(k)
}
