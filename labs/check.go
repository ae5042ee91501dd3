package labs

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/aqm"
	"aqmlab/switch/packet"
	"aqmlab/switch/sched"
	"aqmlab/units"
)

// check looks at what no key can tell on its own, fills in the defaults that
// depend on other keys, and builds every kind that the lab names. Keys that
// have an error of their own are left out of it.
func (r *reader) check(l *Lab) {
	layout := r.checkTopology(l)
	r.checkRTT(l, layout)
	r.checkHost(l)
	r.checkSwitch(l)
	scheduler := r.checkScheduler(l)
	r.checkSchemes(l, scheduler)
	r.checkBaseline(l)
	r.checkTraffic(l, scheduler)
	r.checkPause(l)
	r.checkProbe(l, layout)
	r.checkCapture(l, layout)
}

func (r *reader) checkSwitch(l *Lab) {
	r.checkBuffer(l)
	mtu := units.Size(l.Host.MTU)
	limiter := l.Switch.Limiter
	if limiter.RateFraction == 1 {
		return
	}
	if frame := mtu + packet.FrameOverhead; r.sound("host.mtu", "switch.limiter.bucket") && limiter.Bucket < frame {
		r.fail("switch.limiter.bucket", "%v does not hold a frame: want at least host.mtu and the %d bytes of Ethernet, %dB",
			limiter.Bucket, packet.FrameOverhead, frame)
	}
	limit := limiter.RateFraction * float64(l.Topology.Rate)
	if l.Topology.Rate > 0 && limit < float64(slowest) && r.sound("switch.limiter.rate_fraction") {
		r.fail("switch.limiter.rate_fraction", "%v of %v is less than %v", limiter.RateFraction, l.Topology.Rate, slowest)
	}
}

// checkScheduler answers the scheduler, or nil when it cannot be built.
func (r *reader) checkScheduler(l *Lab) sched.Scheduler {
	s, schedulers := l.Switch, l.Kinds.Schedulers()
	scheduler := build(r, r.form.choice(schedulerPath), s.Scheduler, func(params map[string]any) (sched.Scheduler, error) {
		return schedulers.New(s.Scheduler.Kind, params, sched.Env{Queues: s.Queues, Schedulers: schedulers})
	})
	if scheduler == nil {
		return nil
	}
	r.checkQuantum(l, schedulerPath, s.Scheduler)
	if inner, ok := s.Scheduler.Params[innerKey].(map[string]any); ok {
		name, _ := inner["kind"].(string) // the scheduler was built: it is there
		r.checkQuantum(l, innerPath, kind.Choice{Kind: name, Params: inner})
	}
	return scheduler
}

// checkQuantum wants a turn to send at least the largest packet, which MQ-ECN
// and TCN take for granted, and without which a turn may send nothing.
func (r *reader) checkQuantum(l *Lab, path string, c kind.Choice) {
	row, err := l.Kinds.Schedulers().Find(c.Kind)
	i := slices.IndexFunc(row.Params, func(p kind.Param) bool { return p.Name == "quantum" })
	if err != nil || i < 0 || !r.sound("host.mtu") {
		return
	}
	raw, ok := c.Params["quantum"].(string)
	if !ok {
		raw = row.Params[i].Default
	}
	mtu := units.Size(l.Host.MTU)
	if quantum, err := units.ParseSize(raw); err == nil && quantum < mtu {
		r.fail(join(path, "quantum"), "%v does not hold one packet: want at least host.mtu, %dB", quantum, mtu)
	}
}

func (r *reader) checkSchemes(l *Lab, scheduler sched.Scheduler) {
	if len(l.Schemes) == 0 && len(r.schemes) == 0 && r.lines[schemesKey] == 0 {
		r.fail(schemesKey, "missing: want at least one {name: tcn, aqm: tcn}")
	}
	env := aqm.Env{
		Queues:  l.Switch.Queues,
		Weights: sched.Weights(scheduler, l.Switch.Queues),
		Quanta:  sched.Quanta(scheduler),
		Strict:  sched.Strict(scheduler),
		Rate:    l.Topology.Rate,
		RTT:     l.RTT.Min,
	}
	if scheduler == nil {
		env.Quanta = slices.Repeat([]int{l.Host.MTU}, l.Switch.Queues) // what is wrong with it is told already
	}
	if env.Rate == 0 {
		env.Rate = units.Gbps // the missing rate is told already
	}
	if !r.sound("rtt", "rtt.min") {
		env.RTT = time.Millisecond // and so is the RTT that makes no sense
	}
	for _, s := range l.Schemes {
		if s.AQM.Kind == "" && r.get(join(schemePath(s.Name), "aqm")) == nil {
			r.fail(join(schemePath(s.Name), "aqm"), "missing: want one of %s", strings.Join(r.form.schemeKinds(), ", "))
		}
		build(r, r.form.choice(schemePath(s.Name)), s.AQM, func(params map[string]any) (aqm.Scheme, error) {
			if !slices.Contains(r.form.schemeKinds(), s.AQM.Kind) {
				return nil, kind.Unknown("kind", s.AQM.Kind, r.form.schemeKinds())
			}
			env.Rand = rand.New(rand.NewPCG(1, 1))
			return l.Kinds.Schemes().New(s.AQM.Kind, params, env)
		})
		r.checkIngress(l, s)
	}
}

func (r *reader) checkBaseline(l *Lab) {
	if len(l.Schemes) == 0 {
		return
	}
	switch names := l.schemeNames(); {
	case slices.Contains(names, l.Baseline) || !r.sound("baseline"):
	case l.Baseline == "":
		l.Baseline = names[0]
	default:
		r.fail("baseline", "%w", kind.Unknown("scheme", l.Baseline, names))
	}
}

// build makes what a choice names, only to see whether it can be made. It
// reports every parameter that is wrong: having reported one, it tries again
// without. It answers the zero T when nothing could be made.
func build[T any](r *reader, c choice, ch kind.Choice, try func(params map[string]any) (T, error)) (made T) {
	kindPath := join(c.path, c.kindKey)
	if !r.sound(kindPath) {
		return made
	}
	params := maps.Clone(ch.Params)
	for {
		got, err := try(params)
		if err == nil {
			return got
		}
		var pe *kind.ParamError
		if !errors.As(err, &pe) || pe.Param == "" {
			r.fail(kindPath, "%w", err)
			return made
		}
		path := join(c.path, pe.Param)
		if r.sound(path) {
			r.fail(path, "%w", r.hint(c, pe))
		}
		if _, given := params[pe.Param]; !given {
			return made
		}
		delete(params, pe.Param)
	}
}

// hint adds to the error for an unknown parameter the key beside the parameters
// that may have been meant.
func (r *reader) hint(c choice, pe *kind.ParamError) error {
	near := kind.Nearest(pe.Param, r.form.below(c.path))
	if near == "" || near == pe.Param || !errors.Is(pe.Err, kind.ErrUnknown) {
		return pe.Err
	}
	return fmt.Errorf("%w (did you mean %s?)", pe.Err, near)
}
