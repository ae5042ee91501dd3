package play_test

import (
	"strings"
	"testing"

	"aqmlab/site/play"
)

// TestBook: every lab that is offered can be run as it is offered.
func TestBook(t *testing.T) {
	book, err := play.TheBook()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range book.Labs {
		s, err := play.Open(play.Ask{Lab: e.Name, Load: e.Load, Flows: e.Flows, Seed: e.Seed, Sides: e.Sides})
		if err != nil {
			t.Errorf("%s: %v", e.Name, err)
			continue
		}
		if more, err := s.Step(); err != nil || !more {
			t.Errorf("%s: the first slice is the last (%v)", e.Name, err)
		}
		s.Close()
	}
}

// TestSession: the scheme that is behind in lab time goes on, frames have what came since
// the one before, and all flows end.
func TestSession(t *testing.T) {
	s, err := play.Open(play.Ask{Lab: "quickstart", Flows: "60", Sides: [2]play.Side{{Scheme: "tcn"}, {Scheme: "tcn", Params: map[string]string{"threshold": "1ms"}}}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var windows [2]int
	const rounded = 0.1 // us, of the times of samples
	for more := true; more; {
		if more, err = s.Step(); err != nil {
			t.Fatal(err)
		}
		f := s.Frame()
		for i, side := range f.Sides {
			windows[i] += len(side.Windows.At)
			if n := len(side.Windows.At); n > 0 && side.Windows.At[n-1] > side.Now+rounded {
				t.Errorf("%s: a sample of %v us at %v us", side.Scheme, side.Windows.At[n-1], side.Now)
			}
		}
	}
	f := s.Frame()
	if f.Sides[0].Scheme != "tcn" || f.Sides[1].Scheme != "tcn-2" {
		t.Errorf("the schemes are %s and %s", f.Sides[0].Scheme, f.Sides[1].Scheme)
	}
	for i, side := range f.Sides {
		if side.Completed != 60 || !side.Over || windows[i] == 0 {
			t.Errorf("%s: %d flows completed, over: %v, %d samples of windows", side.Scheme, side.Completed, side.Over, windows[i])
		}
	}
	if f.Sides[0].Marks <= f.Sides[1].Marks {
		t.Errorf("%d marks above 256 us, and %d above 1 ms", f.Sides[0].Marks, f.Sides[1].Marks)
	}
}

// TestBadAsks: errors name what does not fit.
func TestBadAsks(t *testing.T) {
	good := func() play.Ask {
		return play.Ask{Lab: "quickstart", Sides: [2]play.Side{{Scheme: "droptail"}, {Scheme: "pie"}}}
	}
	for want, spoil := range map[string]func(*play.Ask){
		"no such lab":           func(a *play.Ask) { a.Lab = "slowstart" },
		"did you mean tcn":      func(a *play.Ask) { a.Sides[0].Scheme = "tnc" },
		"workload.load":         func(a *play.Ask) { a.Load = "1.5" },
		"want one load":         func(a *play.Ask) { a.Load = "0.5,0.9" },
		"want one seed":         func(a *play.Ask) { a.Seed = "1..3" },
		"at most 20000 in":      func(a *play.Ask) { a.Flows = "20001" },
		"schemes.pie.target":    func(a *play.Ask) { a.Sides[1].Params = map[string]string{"target": "soon"} },
		"schemes.pie.threshold": func(a *play.Ask) { a.Sides[1].Params = map[string]string{"threshold": "1ms"} },
	} {
		ask := good()
		spoil(&ask)
		if _, err := play.Open(ask); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if _, err := play.Open(good()); err != nil {
		t.Error(err)
	}
}
