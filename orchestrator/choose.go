package orchestrator

import (
	"fmt"
	"slices"
	"time"

	"aqmlab/labs"
	"aqmlab/orchestrator/backend"
	"aqmlab/units"
)

// What a machine does in real time: one switch process carries that much traffic,
// and what it and the hosts add to a round trip is well below that.
const (
	realRate = units.Gbps
	realRTT  = 200 * time.Microsecond
)

// slowed says why a lab cannot be expected to run in real time; it is empty for
// one that can, and for one whose user has settled on a dilation.
func slowed(lab *labs.Lab) string {
	offered := units.Rate(float64(lab.Topology.Rate) * slices.Max(lab.Workload.Load))
	if lab.Workload.Pattern != "many-to-one" {
		offered *= units.Rate(lab.Topology.Hosts)
	}
	switch {
	case lab.Dilation != 0:
		return ""
	case offered > realRate:
		return fmt.Sprintf("%v of traffic are more than %v", offered, units.Rate(realRate))
	case lab.RTT.Min > 0 && lab.RTT.Min < realRTT:
		return fmt.Sprintf("a base RTT of %v is less than %v", lab.RTT.Min, realRTT)
	}
	return ""
}

// user is what decides which runtimes somebody may have.
type user struct {
	root bool // of the machine
	// forbidden says why somebody else may have no user namespace; nil if he may.
	forbidden error
	// lacks says why real hosts of somebody else cannot have the lab's transport.
	lacks func(*labs.Lab) error
}

// choice is a runtime for a lab.
type choice struct {
	row backend.Row
	why string
	lab *labs.Lab // that it runs, in which hosts may speak another transport
}

// choose settles on a row for a lab, and tells why: real hosts in real time where the
// user may have them and the lab fits, else those of a guest kernel in virtual time,
// else real ones that are slowed down or speak another transport, else models.
func choose(rows []backend.Row, lab *labs.Lab, u user) choice {
	real := backend.First(rows, func(r backend.Row) bool { return !r.Modelled && !r.Virtual })
	guest := backend.First(rows, func(r backend.Row) bool { return !r.Modelled && r.Virtual })
	models := backend.First(rows, func(r backend.Row) bool { return r.Modelled })
	take := func(r backend.Row, what, because string) choice {
		return choice{r, fmt.Sprintf("runtime %s: %s%s", r.Name, what, because), lab}
	}
	if len(lab.Rack.Machines) > 0 {
		return take(backend.First(rows, func(r backend.Row) bool { return r.Containers }), "real hosts in containers of several machines", ", as the lab or --machines lists some")
	}
	for _, s := range lab.Speaks() {
		if t, err := s.Build(); err == nil && t.Modelled {
			return take(models, "no real host speaks "+s.Transport.Kind, "")
		}
	}
	if err := lab.CheckReal(); err != nil {
		return take(models, models.Doc, ", as the switches cannot serve real hosts")
	}
	kernel, lacks := guest.Find(lab.Host.Kernel)
	if lab.NamesKernel() {
		if lacks != nil {
			kernel = guest.Doc
		}
		return take(guest, kernel, " in virtual time, as the lab names it (host.kernel)")
	}
	slow := slowed(lab)
	if !u.root {
		return u.choose(choices{real, guest, models, take, slow}, lab)
	}
	if slow == "" {
		return take(real, real.Doc, ", as this is root and the lab fits into real time")
	}
	if lacks == nil {
		return take(guest, kernel, fmt.Sprintf(" in virtual time, as the lab does not fit into real time (%s)", slow))
	}
	return take(real, real.Doc, fmt.Sprintf(", slowed down if need be (%s); a guest kernel would do without (%v)", slow, lacks))
}

// choices are what there is to choose from.
type choices struct {
	real, guest, models backend.Row
	take                func(r backend.Row, what, because string) choice
	slow                string // why the lab does not fit into real time
}

// choose is that of an ordinary user, who may have real hosts in a user namespace.
func (u user) choose(c choices, lab *labs.Lab) choice {
	lacks := u.lacks(lab)
	inNamespace := c.real.Doc + " of this user's own"
	if u.forbidden == nil && lacks == nil && c.slow == "" {
		return c.take(c.real, inNamespace, ", as this is not root and the lab fits into real time")
	}
	kernel, err := c.guest.Find(lab.Host.Kernel)
	if err == nil {
		because := ""
		switch {
		case u.forbidden != nil:
			because = fmt.Sprintf("real hosts on this kernel need root or user namespaces: %v", u.forbidden)
		case lacks != nil:
			because = fmt.Sprintf("this kernel gives %s to root alone", lab.Spoken())
		default:
			because = fmt.Sprintf("the lab does not fit into real time (%s)", c.slow)
		}
		return c.take(c.guest, kernel, " in virtual time, as "+because)
	}
	if u.forbidden != nil {
		return c.take(c.models, c.models.Doc, fmt.Sprintf(", as real hosts need root (sudo), user namespaces (%v), or a guest kernel (%v)", u.forbidden, err))
	}
	because := ", as this is not root"
	if c.slow != "" {
		because += fmt.Sprintf(", slowed down if need be (%s)", c.slow)
	}
	chosen := c.take(c.real, inNamespace, because)
	if lacks == nil {
		return chosen
	}
	other, err := lab.InsteadOfTransport()
	if err != nil {
		return c.take(c.models, c.models.Doc, fmt.Sprintf(", as this kernel gives %s to root alone (sudo)", lab.Spoken()))
	}
	chosen.lab = other
	chosen.why += fmt.Sprintf("; they speak %s in place of %s, which this kernel gives to root alone", other.Spoken(), lab.Spoken())
	return chosen
}
