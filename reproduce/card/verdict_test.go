package card

import (
	"math"
	"testing"

	"aqmlab/reproduce/papers"
)

func ptr(v float64) *float64 { return &v }

// A claim is reproduced when the direction is the same and the difference within
// 10 percentage points of the published one, or better.
func TestJudge(t *testing.T) {
	lower := papers.Claim{Relation: papers.Lower, Percent: 61.4}
	higher := papers.Claim{Relation: papers.Higher, Percent: 34}
	either := papers.Claim{Relation: papers.Lower}
	near := papers.Claim{Relation: papers.Close, Percent: 2.8}
	equal := papers.Claim{Relation: papers.Equal, To: ptr(375)}
	none := papers.Claim{Relation: papers.Equal, To: ptr(0)}
	least := papers.Claim{Relation: papers.AtLeast, To: ptr(99)}
	most := papers.Claim{Relation: papers.AtMost, To: ptr(600)}
	for _, tt := range []struct {
		name  string
		claim papers.Claim
		value float64
		want  Verdict
	}{
		{"as published", lower, -61.4, Reproduced},
		{"ten points less", lower, -51.4, Reproduced},
		{"more than ten points less", lower, -51.3, DirectionOnly},
		{"better", lower, -90, Reproduced},
		{"hardly", lower, -0.1, DirectionOnly},
		{"none", lower, 0, NotReproduced},
		{"the other way", lower, 61.4, NotReproduced},
		{"no number", lower, math.NaN(), NotReproduced},
		{"higher", higher, 24, Reproduced},
		{"higher by less", higher, 23.9, DirectionOnly},
		{"higher without end", higher, math.Inf(1), Reproduced},
		{"not higher", higher, -1, NotReproduced},
		{"a direction without a number", either, -0.5, Reproduced},
		{"against it", either, 0.5, NotReproduced},
		{"close", near, 12.8, Reproduced},
		{"close, from below", near, -12.8, Reproduced},
		{"not close", near, 12.9, NotReproduced},
		{"not close, from below", near, -12.9, NotReproduced},
		{"equal", equal, 412.5, Reproduced},
		{"not equal", equal, 337, NotReproduced},
		{"none, as published", none, 0, Reproduced},
		{"some where there should be none", none, 1, NotReproduced},
		{"at least", least, 99.5, Reproduced},
		{"nearly", least, 90, DirectionOnly},
		{"less", least, 89, NotReproduced},
		{"at most", most, 10, Reproduced},
		{"a little more", most, 650, DirectionOnly},
		{"more", most, 700, NotReproduced},
	} {
		if got := judge(tt.claim, tt.value); got != tt.want {
			t.Errorf("%s: %v is %s, want %s", tt.name, tt.value, got, tt.want)
		}
	}
}

// An interval is worth its value that supports the claim most: one end of it, or
// what lies between.
func TestMostFavourable(t *testing.T) {
	for _, tt := range []struct {
		name     string
		claim    papers.Claim
		interval [2]float64
		want     float64
	}{
		{"lower", papers.Claim{Relation: papers.Lower}, [2]float64{-40, -20}, -40},
		{"higher", papers.Claim{Relation: papers.Higher}, [2]float64{-40, 20}, 20},
		{"close, about the baseline", papers.Claim{Relation: papers.Close}, [2]float64{-40, 20}, 0},
		{"close, below it", papers.Claim{Relation: papers.Close}, [2]float64{-40, -20}, -20},
		{"equal, about it", papers.Claim{Relation: papers.Equal, To: ptr(375)}, [2]float64{300, 500}, 375},
		{"equal, above it", papers.Claim{Relation: papers.Equal, To: ptr(375)}, [2]float64{400, 500}, 400},
		{"at least", papers.Claim{Relation: papers.AtLeast, To: ptr(99)}, [2]float64{90, 100}, 100},
		{"at most", papers.Claim{Relation: papers.AtMost, To: ptr(99)}, [2]float64{90, 100}, 90},
	} {
		if got := mostFavourable(tt.claim, tt.interval[0], tt.interval[1]); got != tt.want {
			t.Errorf("%s: %v of %v, want %v", tt.name, got, tt.interval, tt.want)
		}
	}
}
