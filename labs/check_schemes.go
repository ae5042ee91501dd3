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
	"aqmlab/labs/schema"
	"aqmlab/labs/topologies"
	"aqmlab/results"
	"aqmlab/switch/aqm"
	"aqmlab/switch/port"
	"aqmlab/switch/sched"
	"aqmlab/units"
)

// checkSchemes builds every scheme for ports of every rate.
func checkSchemes(r *schema.Reader, l *Lab, layout topologies.Layout, schedulers []served) {
	if len(l.Schemes) == 0 && !r.InFile(schemesKey) {
		r.Fail(schemesKey, "missing: want at least one {name: tcn, aqm: tcn}")
	}
	aqms := slices.Concat(l.Kinds.Schemes().Names(), port.Gates().Names())
	for i, s := range l.Schemes {
		env := checkedEnv(r, l, schedulers[i].Scheduler)
		if s.AQM.Kind == "" && !r.Has(schemePath(s.Name)+".aqm") {
			r.Fail(schemePath(s.Name)+".aqm", "missing: want one of %s", strings.Join(aqms, ", "))
		}
		schema.Build(r, r.Choice(schemePath(s.Name)), s.AQM, func(params map[string]any) (aqm.Scheme, error) {
			if !slices.Contains(aqms, s.AQM.Kind) {
				return nil, kind.Unknown("kind", s.AQM.Kind, aqms)
			}
			made, err := l.Kinds.Schemes().New(s.AQM.Kind, params, env)
			for _, rate := range layout.Rates() {
				at := env
				at.Rate = rate
				if err == nil {
					_, err = l.Kinds.Schemes().New(s.AQM.Kind, params, at)
				}
			}
			return made, err
		})
		checkIngress(r, l, s)
	}
}

// checkedEnv is [Lab.schemeEnv] of a lab some of which may be wrong.
func checkedEnv(r *schema.Reader, l *Lab, scheduler sched.Scheduler) aqm.Env {
	env, err := l.schemeEnv(scheduler)
	if scheduler == nil {
		env.Quanta = slices.Repeat([]int{l.Host.MTU}, l.Switch.Queues) // what is wrong with it is told already
	}
	if env.Rate == 0 {
		env.Rate = units.Gbps // the missing rate is told already
	}
	if err != nil || !r.Sound("rtt", rttMinPath, rttMaxPath, distributionPath) {
		env.RTTs = aqm.OneRTT(time.Millisecond) // and so are RTTs that make no sense
	}
	return env
}

// schemeEnv is a port of the topology's rate, for a scheme.
func (l *Lab) schemeEnv(scheduler sched.Scheduler) (aqm.Env, error) {
	rtts, err := l.RTT.sums()
	queues := sched.Queues(scheduler, l.Switch.Queues)
	return aqm.Env{
		Queues:  queues,
		Weights: sched.Weights(scheduler, queues),
		Quanta:  sched.Quanta(scheduler),
		Lengths: l.Switch.lengths(),
		Strict:  sched.Strict(scheduler),
		Rate:    l.Topology.Rate,
		RTTs:    rtts,
		Rand:    rand.New(rand.NewPCG(1, 1)),
	}, err
}

// scheduler is that of a port under a scheme.
func (l *Lab) scheduler(s Scheme) (sched.Scheduler, error) {
	c := l.schedulerOf(s)
	scheduler, err := l.Kinds.Schedulers().New(c.Kind, c.Params, l.schedulerEnv())
	if err != nil {
		return nil, fmt.Errorf("scheduler: %w", err)
	}
	return scheduler, nil
}

// Derived lists the parameters that the lab leaves to its schemes, and what they
// are at a port of the topology's rate. The lab is one that was loaded.
func (l *Lab) Derived() ([]results.Derived, error) {
	var all []results.Derived
	var errs error
	for _, s := range l.Schemes {
		derived, err := l.derived(s)
		all, errs = append(all, derived...), errors.Join(errs, err)
	}
	if errs != nil {
		return nil, fmt.Errorf("deriving parameters of lab %s: %w", l.Name, errs)
	}
	return all, nil
}

// derived is what the lab leaves to one scheme.
func (l *Lab) derived(s Scheme) (all []results.Derived, err error) {
	scheduler, err := l.scheduler(s)
	if err != nil {
		return nil, err
	}
	env, err := l.schemeEnv(scheduler)
	env.Tell = func(d aqm.Derived) {
		all = append(all, results.Derived{Scheme: s.Name, Param: d.Param, Value: d.Value, From: d.From})
	}
	_, wrong := l.Kinds.Schemes().New(s.AQM.Kind, s.AQM.Params, env)
	return all, errors.Join(err, wrong)
}

func checkBaseline(r *schema.Reader, l *Lab) {
	if len(l.Schemes) == 0 {
		return
	}
	switch names := l.schemeNames(); {
	case slices.Contains(names, l.Baseline) || !r.Sound("baseline"):
	case l.Baseline == "":
		l.Baseline = names[0]
	default:
		r.Fail("baseline", "%w", kind.Unknown("scheme", l.Baseline, names))
	}
}

// checkIngress builds the gate of a scheme that has one. What is wrong in the
// short form is wrong beside the aqm.
func checkIngress(r *schema.Reader, l *Lab, s Scheme) {
	path := schemePath(s.Name) + ".ingress"
	if short, _ := kind.AsText(r.Value(schemePath(s.Name) + ".aqm")); isGate(short) && r.Value(path) == nil {
		path = schemePath(s.Name)
	}
	env := port.GateEnv{Buffer: l.buffer(), FullPacket: int(l.FullPacket()), FacesHost: true}
	if env.Buffer == 0 {
		env.Buffer = units.GB // the missing size is told already
	}
	switch kindPath := r.Choice(path).KindPath(); {
	case s.Ingress.Kind != "":
		schema.BuildOf(r, path, s.Ingress, port.Gates(), env)
	case len(s.Ingress.Params) > 0 && r.Sound(kindPath):
		r.Fail(kindPath, "missing: want one of %s", strings.Join(port.Gates().Names(), ", "))
	}
}

func schemePath(name string) string { return schemesKey + "." + name }

// plainAQM goes with the short form of a scheme that names a gate of the
// ingress side as its aqm.
const plainAQM = "droptail"

// isGate tells whether the aqm of a scheme is short for a gate of the ingress
// side.
func isGate(name string) bool { return slices.Contains(port.Gates().Names(), name) }

// expandGate writes out the short form of a scheme. Parameters may stand below ingress
// all the same: sets of keys then need not know which form a lab has.
func expandGate(r *schema.Reader, s *Scheme) {
	if !isGate(s.AQM.Kind) {
		return
	}
	if s.Ingress.Kind != "" {
		r.Fail(schemePath(s.Name)+".ingress", "aqm: %s is short for aqm: %s with ingress: %s: want one of the two", s.AQM.Kind, plainAQM, s.AQM.Kind)
	}
	params := maps.Clone(s.AQM.Params)
	if params == nil {
		params = s.Ingress.Params
	}
	maps.Copy(params, s.Ingress.Params)
	s.Ingress, s.AQM = kind.Choice{Kind: s.AQM.Kind, Params: params}, kind.Choice{Kind: plainAQM}
}
