package labs

import (
	"slices"
	"strings"

	"aqmlab/kind"
	"aqmlab/switch/port"
	"aqmlab/units"
)

// plainAQM goes with the short form of a scheme that names a gate of the
// ingress side as its aqm.
const plainAQM = "droptail"

func ingressChoice(name string) choice {
	return choice{join(schemePath(name), "ingress"), "kind", params(port.Gates())}
}

// schemeKinds lists what the aqm of a scheme may be.
func (f form) schemeKinds() []string {
	return slices.Concat(f.kinds.Schemes().Names(), port.Gates().Names())
}

// isGate tells whether the aqm of a scheme is short for a gate of the ingress
// side.
func isGate(name string) bool { return slices.Contains(port.Gates().Names(), name) }

// scheme reads a scheme, and writes out the short form.
func (r *reader) scheme(name string) Scheme {
	s := Scheme{
		Name:    name,
		AQM:     r.choice(r.form.choice(schemePath(name)), kind.Choice{}),
		Ingress: r.choice(ingressChoice(name), kind.Choice{}),
	}
	if !isGate(s.AQM.Kind) {
		return s
	}
	if s.Ingress.Kind != "" || len(s.Ingress.Params) > 0 {
		r.fail(ingressChoice(name).path, "aqm: %s is short for aqm: %s with ingress: %s: want one of the two", s.AQM.Kind, plainAQM, s.AQM.Kind)
	}
	s.Ingress, s.AQM = s.AQM, kind.Choice{Kind: plainAQM}
	return s
}

// checkIngress builds the gate of a scheme that has one. What is wrong in the
// short form is wrong beside the aqm.
func (r *reader) checkIngress(l *Lab, s Scheme) {
	c := ingressChoice(s.Name)
	if short, _ := asString(r.get(join(schemePath(s.Name), "aqm"))); isGate(short) {
		c = r.form.choice(schemePath(s.Name))
	}
	env := port.GateEnv{Buffer: l.Switch.buffer()}
	if env.Buffer == 0 {
		env.Buffer = units.GB // the missing size is told already
	}
	switch {
	case s.Ingress.Kind != "":
		build(r, c, s.Ingress, func(params map[string]any) (port.Gate, error) {
			return port.Gates().New(s.Ingress.Kind, params, env)
		})
	case len(s.Ingress.Params) > 0 && r.sound(join(c.path, c.kindKey)):
		r.fail(join(c.path, c.kindKey), "missing: want one of %s", strings.Join(port.Gates().Names(), ", "))
	}
}
