package sched

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"aqmlab/kind"
)

// TestStrictOrder: no queue is served while one of a lower number among the
// strict ones holds a packet, with up to 64 queues, alone and composed.
func TestStrictOrder(t *testing.T) {
	over := func(strict int, inner string) map[string]any {
		return map[string]any{"strict": strict, "inner": map[string]any{"kind": inner}}
	}
	for _, tt := range []struct {
		queues, strict int
		params         map[string]any
	}{
		{1, 1, nil}, {2, 2, nil}, {64, 64, nil}, {200, 200, nil},
		{64, 1, over(1, "dwrr")}, {64, 32, over(32, "wrr")}, {64, 63, over(63, "wfq")}, {130, 128, over(128, "pifo")},
	} {
		t.Run(fmt.Sprint(tt.queues, tt.params), func(t *testing.T) {
			r := newRig(t, tt.queues, "sp", tt.params)
			if got := Strict(r.s); got != tt.strict {
				t.Fatalf("%d strict queues, want %d", got, tt.strict)
			}
			rng := rand.New(rand.NewPCG(7, 8))
			for range 20000 {
				r.push(rng.IntN(tt.queues), 40+rng.IntN(1461))
				if rng.IntN(8) == 0 {
					r.drain()
				}
				first := slices.IndexFunc(r.queues, func(sizes []int) bool { return len(sizes) > 0 })
				if q := r.pop(); first >= 0 && first < tt.strict && q != first {
					t.Fatalf("served queue %d while queue %d held a packet", q, first)
				}
			}
		})
	}
}

// TestSPOverDWRR: the inner queues share what is left as if they were alone,
// and turn ends carry the port's numbers.
func TestSPOverDWRR(t *testing.T) {
	var turns []int
	r := newRigTold(t, 3, kind.Choice{Kind: "sp", Params: map[string]any{
		"inner": map[string]any{"kind": "dwrr", "weights": []any{1, 2}},
	}}, func(_ time.Duration, q int, _ bool) { turns = append(turns, q) })
	r.push(1, 1500, 1500)
	r.push(2, 1500, 1500, 1500)
	if q := r.pop(); q != 1 {
		t.Fatalf("served %d first", q)
	}
	r.push(0, 100, 100)
	if got, want := r.drain(), []int{0, 0, 2, 2, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("served %v, want %v", got, want)
	}
	if want := []int{1, 2, 1, 2}; !slices.Equal(turns, want) {
		t.Errorf("turns of queues %v ended, want %v", turns, want)
	}
	if got, want := Weights(r.s, 3), []int{0, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("weights %v, want %v", got, want)
	}
	if got, want := Quanta(r.s), []int{0, 1500, 3000}; !slices.Equal(got, want) {
		t.Errorf("quanta %v, want %v", got, want)
	}
}

// TestSPFacts: what a scheme is told about schedulers without rounds, shares or
// strict queues.
func TestSPFacts(t *testing.T) {
	over := func(inner string) kind.Choice {
		return kind.Choice{Kind: "sp", Params: map[string]any{"strict": 2, "inner": map[string]any{"kind": inner}}}
	}
	for _, tt := range []struct {
		choice  kind.Choice
		weights []int
		strict  int
	}{
		{kind.Choice{Kind: "sp"}, []int{0, 0, 0}, 3},
		{over("fifo"), []int{0, 0, 1}, 2},
		{over("wfq"), []int{0, 0, 1}, 2},
		{kind.Choice{Kind: "pifo", Params: map[string]any{"rank": "srpt"}}, []int{0, 0, 0}, 3},
		{kind.Choice{Kind: "wfq"}, []int{1, 1, 1}, 0},
	} {
		s := newRigTold(t, 3, tt.choice, nil).s
		if got := Weights(s, 3); !slices.Equal(got, tt.weights) || Strict(s) != tt.strict || Quanta(s) != nil {
			t.Errorf("%v: weights %v, %d strict, quanta %v; want %v, %d, none", tt.choice, got, Strict(s), Quanta(s), tt.weights, tt.strict)
		}
	}
}

func TestSPBadParameters(t *testing.T) {
	dwrr := map[string]any{"kind": "dwrr"}
	for _, tt := range []struct {
		params map[string]any
		param  string
	}{
		{map[string]any{"strict": 1}, "strict"},
		{map[string]any{"strict": 3, "inner": dwrr}, "strict"},
		{map[string]any{"strict": -1, "inner": dwrr}, "strict"},
		{map[string]any{"inner": map[string]any{"quantum": "1500B"}}, "inner.kind"},
		{map[string]any{"inner": map[string]any{"kind": "drr"}}, "inner.kind"},
		{map[string]any{"inner": map[string]any{"kind": "fifo"}}, "inner.kind"},
		{map[string]any{"inner": map[string]any{"kind": "dwrr", "quantum": "0B"}}, "inner.quantum"},
		{map[string]any{"inner": map[string]any{"kind": "dwrr", "weights": []any{1, 2, 3}}}, "inner.weights"},
		{map[string]any{"inner": "dwrr"}, "inner"},
	} {
		_, err := Table().New("sp", tt.params, Env{Queues: 3, Schedulers: Table()})
		var pe *kind.ParamError
		if !errors.As(err, &pe) || pe.Param != tt.param {
			t.Errorf("%v: error %v does not blame %s", tt.params, err, tt.param)
		}
	}
}
