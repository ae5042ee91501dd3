package record

import (
	"cmp"
	"slices"
	"time"
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
	for id, o := range fresh.Origins {
		r.Origins[id] = o
	}
	r.Figures = merge(r.Figures, fresh.Figures, Figure.same, Figure.differs, p.ofFigure)
	r.Points = merge(r.Points, fresh.Points, Point.same, Point.differs, p.ofPoint)
}

func merge[E any](have, fresh []E, same, differs func(E, E) bool, rank func(E) rank) []E {
	for _, f := range fresh {
		i := slices.IndexFunc(have, func(h E) bool { return same(h, f) })
		switch {
		case i < 0:
			have = append(have, f)
		case differs(have[i], f) && rank(f).beats(rank(have[i])):
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

// same tells whether two figures are of the same claim, scheme, load and runtime.
func (f Figure) same(o Figure) bool {
	return f.Claim == o.Claim && f.Runtime == o.Runtime && f.Scheme == o.Scheme && f.Load == o.Load
}

func (k Point) same(o Point) bool {
	return k.Lab == o.Lab && k.Runtime == o.Runtime && k.Coord == o.Coord
}

// differs tells whether two figures differ in anything but who measured them.
func (f Figure) differs(o Figure) bool {
	f.Origin = o.Origin
	return compact(f) != compact(o)
}

func (k Point) differs(o Point) bool {
	k.Origin = o.Origin
	return compact(k) != compact(o)
}
