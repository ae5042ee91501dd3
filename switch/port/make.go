package port

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	"aqmlab/switch/aqm"
	"aqmlab/switch/packet"
	"aqmlab/switch/sched"
)

// New builds a port of the kinds that spec names, which shares its packet memory
// with no other port. release takes the packets that the port drops. Errors name
// the scheduler or scheme and the parameter that does not fit.
func New(spec Spec, kinds Kinds, release func(*packet.Packet)) (*Port, error) {
	return NewInPool(spec, kinds, NewPool(spec.Buffer), release)
}

// NewInPool builds a port like [New] of a switch whose ports draw from one pool,
// if the spec's sharing says so.
func NewInPool(spec Spec, kinds Kinds, pool *Pool, release func(*packet.Packet)) (*Port, error) {
	if spec.Rate <= 0 || spec.Queues < 1 || spec.Buffer <= 0 {
		return nil, fmt.Errorf("port: rate %v, %d queues, buffer %v: each must be above zero", spec.Rate, spec.Queues, spec.Buffer)
	}
	p := &Port{release: release}
	made, err := p.design(spec, kinds, pool)
	if err != nil {
		return nil, err
	}
	p.assume(made)
	return p, nil
}

// design is the parts of a port that a spec describes. The port itself does not change.
func (p *Port) design(spec Spec, kinds Kinds, pool *Pool) (made parts, err error) {
	made.lengths = spec.Lengths
	made.queues = make([]queue, spec.Queues)
	for i := range made.queues {
		made.queues[i].Queue = packet.NewQueue(spec.Lengths)
	}
	if made.extras, err = newExtras(spec); err != nil {
		return made, err
	}
	schedulers := kinds.Schedulers()
	env := sched.Env{Queues: spec.Queues, Heads: p, FullPacket: spec.FullPacket(), Lengths: spec.Lengths, Buffer: spec.Buffer, Classes: made.extras.classesOf(), TurnEnded: p.turnEnded, Schedulers: schedulers}
	if made.scheduler, err = schedulers.New(spec.Scheduler.Kind, spec.Scheduler.Params, env); err != nil {
		return made, fmt.Errorf("scheduler: %w", err)
	}
	if made.memory, err = p.newMemory(spec, pool, made.scheduler); err != nil {
		return made, fmt.Errorf("sharing: %w", err)
	}
	_, made.sorted = made.scheduler.(sched.Sorter)
	_, made.classed = made.scheduler.(sched.Classifier)
	_, made.choosy = made.scheduler.(sched.Admitter)
	made.judge, err = newJudge(spec, kinds, made.scheduler)
	return made, err
}

// newExtras is nil if the spec asks for none.
func newExtras(spec Spec) (*extras, error) {
	limiter, err := newTokenBucket(spec.Limiter, spec.Rate)
	if err != nil {
		return nil, err
	}
	classes, err := Classifiers().New(cmp.Or(spec.Classifier.Kind, byDSCP), spec.Classifier.Params, ClassifierEnv{spec.Queues})
	switch {
	case err != nil:
		return nil, fmt.Errorf("classifier: %w", err)
	case limiter == nil && classes == nil:
		return nil, nil
	}
	return &extras{limiter, classes}, nil
}

func (x *extras) classesOf() *packet.Classes {
	if x == nil {
		return nil
	}
	return x.classes
}

// newJudge makes the scheme of a port with that scheduler.
func newJudge(spec Spec, kinds Kinds, scheduler sched.Scheduler) (j judge, err error) {
	queues := sched.Queues(scheduler, spec.Queues)
	j.scheme, err = kinds.Schemes().New(spec.Scheme.Kind, spec.Scheme.Params, aqm.Env{
		Queues:  queues,
		Weights: sched.Weights(scheduler, queues),
		Quanta:  sched.Quanta(scheduler),
		Strict:  sched.Strict(scheduler),
		Lengths: spec.Lengths,
		Rate:    spec.Rate,
		RTTs:    spec.RTTs,
		Rand:    rand.New(rand.NewPCG(spec.Seed, 0)),
	})
	if err != nil {
		return j, fmt.Errorf("scheme: %w", err)
	}
	if o, ok := j.scheme.(aqm.RoundObserver); ok {
		j.turns = &turns{o, spec.Rate}
	}
	return j, nil
}

// judge is the scheme of a port.
type judge struct {
	scheme aqm.Scheme
	turns  *turns // nil when the scheme does not observe rounds
}

// parts is what a spec says of a port.
type parts struct {
	judge
	queues    []queue
	memory    memory
	scheduler sched.Scheduler
	lengths   packet.Lengths
	sorted    bool
	classed   bool
	choosy    bool
	extras    *extras
}

// assume gives the port, which is empty, its parts.
func (p *Port) assume(m parts) {
	p.scheme, p.turns = m.scheme, m.turns
	p.queues, p.memory, p.scheduler = m.queues, m.memory, m.scheduler
	p.memory.draws()
	p.lengths, p.sorted, p.classed, p.choosy, p.extras = m.lengths, m.sorted, m.classed, m.choosy, m.extras
}
