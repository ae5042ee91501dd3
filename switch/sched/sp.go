package sched

import (
	"errors"
	"math/bits"
	"strings"
	"time"

	"aqmlab/kind"
)

// SP is strict priority: at each departure the first busy queue is served, and a
// packet that has begun to leave is not interrupted. With an inner scheduler it
// shares among the queues behind the strict ones whatever those leave (TCN,
// section 5): SP/DWRR, SP/WRR, SP/WFQ.
//
// A strict queue has weight and quantum 0: it is bounded by no share.
type SP struct {
	Strict int            `lab:"strict" doc:"how many queues, from 0, are strict above the inner scheduler; 1 when absent"`
	Inner  map[string]any `lab:"inner" kinds:"schedulers" doc:"scheduler of the other queues, {kind: dwrr, weights: [2, 1]}; all are strict when absent"`
}

type sp struct {
	heads  Heads
	queues int
	strict int
	busy   []uint64  // a bit for every strict queue
	inner  Scheduler // nil when all are strict
}

var (
	_ Scheduler   = (*sp)(nil)
	_ Weighted    = (*sp)(nil)
	_ Prioritized = (*sp)(nil)
)

// spOverRounds is sp above a scheduler that has rounds.
type spOverRounds struct{ *sp }

var (
	_ Scheduler   = spOverRounds{}
	_ Rounds      = spOverRounds{}
	_ Prioritized = spOverRounds{}
)

func newSP(p SP, env Env) (Scheduler, error) {
	s := &sp{heads: env.Heads, queues: env.Queues, strict: env.Queues}
	if p.Inner == nil {
		if p.Strict != 0 && p.Strict != env.Queues {
			return nil, kind.Invalid("strict", "%d of %d queues: the others want an inner scheduler", p.Strict, env.Queues)
		}
	} else if err := s.over(p, env); err != nil {
		return nil, err
	}
	s.busy = make([]uint64, (s.strict+63)/64)
	if Quanta(s.inner) != nil {
		return spOverRounds{s}, nil
	}
	return s, nil
}

// over builds the scheduler of the queues behind the strict ones.
func (s *sp) over(p SP, env Env) error {
	s.strict = p.Strict
	if s.strict == 0 {
		s.strict = 1
	}
	if s.strict < 0 || s.strict >= env.Queues {
		return kind.Invalid("strict", "%d of %d queues: want at least 1, and one left for the inner scheduler", s.strict, env.Queues)
	}
	name, ok := p.Inner["kind"].(string)
	if !ok {
		return kind.Invalid("inner.kind", "missing: want one of %s", strings.Join(env.Schedulers.Names(), ", "))
	}
	params := make(map[string]any, len(p.Inner))
	for key, value := range p.Inner {
		if key != "kind" {
			params[key] = value
		}
	}
	var err error
	if s.inner, err = env.Schedulers.New(name, params, behind(env, s.strict)); err != nil {
		return inInner(err)
	}
	if _, ok := s.inner.(Sorter); ok {
		return kind.Invalid("inner.kind", "%s ranks flows of the whole port: want an inner scheduler that serves queues", name)
	}
	return nil
}

// inInner blames the parameter of the inner scheduler, or else its kind.
func inInner(err error) error {
	var pe *kind.ParamError
	if errors.As(err, &pe) && pe.Param != "" {
		return &kind.ParamError{Param: "inner." + pe.Param, Err: pe.Err}
	}
	return &kind.ParamError{Param: "inner.kind", Err: err}
}

// behind is the environment of the queues from first on, counted from 0.
func behind(env Env, first int) Env {
	inner := Env{Queues: env.Queues - first, Heads: shifted{env.Heads, first}, FullPacket: env.FullPacket, Schedulers: env.Schedulers}
	if env.TurnEnded != nil {
		inner.TurnEnded = func(now time.Duration, q int, emptied bool) { env.TurnEnded(now, q+first, emptied) }
	}
	return inner
}

// shifted shows the queues from first on.
type shifted struct {
	heads Heads
	first int
}

func (s shifted) HeadSize(q int) int { return s.heads.HeadSize(q + s.first) }

func (s *sp) Strict() int {
	if s.inner == nil {
		return s.strict
	}
	return s.strict + Strict(s.inner)
}

func (s *sp) Weights() []int {
	weights := make([]int, s.strict)
	if s.inner == nil {
		return weights
	}
	return append(weights, Weights(s.inner, s.queues-s.strict)...)
}

func (s spOverRounds) Quanta() []int { return append(make([]int, s.strict), Quanta(s.inner)...) }

func (s *sp) Enqueued(now time.Duration, q, size int) {
	if q >= s.strict {
		s.inner.Enqueued(now, q-s.strict, size)
		return
	}
	s.busy[q/64] |= 1 << (q % 64)
}

func (s *sp) Next(now time.Duration) (int, bool) {
	for i, word := range s.busy {
		if word != 0 {
			return i*64 + bits.TrailingZeros64(word), true
		}
	}
	if s.inner == nil {
		return 0, false
	}
	q, ok := s.inner.Next(now)
	return q + s.strict, ok
}

func (s *sp) Sent(now time.Duration, q, size int) {
	if q >= s.strict {
		s.inner.Sent(now, q-s.strict, size)
		return
	}
	if s.heads.HeadSize(q) == 0 {
		s.busy[q/64] &^= 1 << (q % 64)
	}
}
