package testbed

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"aqmlab/labs"
	"aqmlab/results"
)

// TestDilations: auto tries ever larger ones, from 1 to the largest, each about half
// as much again.
func TestDilations(t *testing.T) {
	const most = 108
	tried := dilations(0, most)
	if tried[0] != 1 || tried[len(tried)-1] != most {
		t.Errorf("tried %v; want them to reach from 1 to %v", tried, most)
	}
	if got := dilations(1e6, most); !slices.Equal(got, []float64{most}) {
		t.Errorf("for an overhead beyond all: %v", got)
	}
	for i, d := range tried {
		if i > 0 && (d <= tried[i-1] || d > 1.6*tried[i-1]) {
			t.Errorf("%v follows %v: too large a step, or none", d, tried[i-1])
		}
		if got := dilations(d, most); !slices.Equal(got, tried[i:]) {
			t.Errorf("from %v on: %v, want %v", d, got, tried[i:])
		}
		if got := dilations(d+0.01, most); d < most && !slices.Equal(got, tried[i+1:]) {
			t.Errorf("above %v: %v, want %v", d, got, tried[i+1:])
		}
	}
}

// TestLargest: no base RTT takes longer on the wall than a quarter of the second after which
// TCP takes a handshake for lost, and where there is none, a large fabric of 10 Gbps has what
// it needs.
func TestLargest(t *testing.T) {
	for rtt, want := range map[time.Duration]float64{
		0: 1800, 80 * time.Microsecond: 1800, 240 * time.Microsecond: 800, 2 * time.Millisecond: 108, 250 * time.Millisecond: 1, time.Second: 1,
	} {
		if got := largest(&labs.Lab{RTT: labs.RTT{Min: rtt / 2, Max: rtt}}); got != want {
			t.Errorf("base RTT %v: %v, want %v", rtt, got, want)
		}
	}
}

// TestChoose: the smallest dilation that is good is taken, a machine that was busy
// for a while is not held to what it could do then, and one that is never good
// enough does its best.
func TestChoose(t *testing.T) {
	all := []float64{1, 2, 3, 4, 6, 9, 14, 21}
	for _, tt := range []struct {
		name  string
		needs []float64 // by try; the last holds for the rest
		want  float64
		good  bool
		tries int
	}{
		{"quiet", []float64{1}, 1, true, 1},
		{"needs two", []float64{2}, 2, true, 2},
		{"needs three", []float64{3}, 3, true, 3},
		{"needs four", []float64{4}, 4, true, 5}, // and 2 again
		{"needs nine", []float64{9}, 9, true, 7},
		{"busy at first", []float64{99, 99, 99, 99, 99, 99, 2}, 2, true, 9}, // 14, 4, 2
		{"busy for two tries", []float64{99, 99, 3}, 3, true, 3},
		{"too slow", []float64{99}, 21, false, len(all)},
		{"busy at last", []float64{99, 99, 30, 99, 99, 99, 150, 300}, 3, false, len(all)},
		{"no better for it", []float64{2, 4, 6, 8, 12, 18, 28, 42}, 1, false, len(all)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tries := 0
			got, bad, err := choose(all, func(d float64) (trial, error) {
				tries++
				return trial{tt.needs[min(tries, len(tt.needs))-1] / d, 1}, nil
			})
			if err != nil || got != tt.want || bad <= 1 != tt.good || tries != tt.tries {
				t.Errorf("dilation %v, %.2g bad, after %d tries (%v); want %v, good: %v, after %d", got, bad, tries, err, tt.want, tt.good, tt.tries)
			}
		})
	}
	broken := errors.New("broken")
	for fail := 1; fail <= 6; fail++ {
		tries := 0
		_, _, err := choose(all, func(d float64) (trial, error) {
			if tries++; tries == fail {
				return trial{}, broken
			}
			return trial{9 / d, 1}, nil
		})
		if !errors.Is(err, broken) || tries != fail {
			t.Errorf("error %v after %d tries, want that of try %d", err, tries, fail)
		}
	}
}

// TestChooseLeaps: dilations at which a machine carries a small part of what is offered are
// not tried one by one, and the first good one is found all the same.
func TestChooseLeaps(t *testing.T) {
	all := dilations(2, 1800)
	for needs := 2.0; needs <= 2000; needs *= 1.1 {
		for _, exaggerates := range []float64{0.3, 1, 3, 10} {
			var tried []float64
			d, bad, err := choose(all, func(d float64) (trial, error) {
				if slices.Contains(tried, d) && needs > 32 {
					t.Errorf("needs %v: %v is tried again", needs, d)
				}
				tried = append(tried, d)
				return trial{needs / d, max(1, exaggerates*needs/d)}, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(all, func(d float64) bool { return d >= needs })
			switch {
			case i < 0 && (d != 1800 || bad <= 1):
				t.Errorf("needs %v: %v, %v bad; want the largest, and bad", needs, d, bad)
			case i >= 0 && (d != all[i] || bad > 1):
				t.Errorf("needs %v: %v, %v bad; want %v", needs, d, bad, all[i])
			case exaggerates == 1 && len(tried) > 8:
				t.Errorf("needs %v: %d trials, %v", needs, len(tried), tried)
			}
		}
	}
}

// TestSlower: a machine that serves a tenth of what is offered takes ten times as long, and
// one whose flows take as long as they do is not slow for it.
func TestSlower(t *testing.T) {
	serving := func(each time.Duration, n int) (flows []results.Flow) {
		for i := range n {
			at := time.Duration(i+1) * time.Millisecond
			f := results.Flow{Bytes: 1, Received: 1, Start: at, Sent: at, FCT: time.Duration(i+1)*each - at}
			if f.FCT <= 0 {
				f.FCT = 1
			}
			flows = append(flows, f)
		}
		return flows
	}
	for _, c := range []struct {
		flows []results.Flow
		want  float64
	}{
		{serving(10*time.Millisecond, 200), 10},
		{serving(0, 200), 1},
		{serving(10*time.Millisecond, 20), 1}, // too few to tell
		{nil, 1},
	} {
		if got := slower(c.flows); math.Abs(got-c.want) > 0.01*c.want {
			t.Errorf("%d flows: %v times slower, want %v", len(c.flows), got, c.want)
		}
	}
}
