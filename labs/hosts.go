package labs

import (
	"fmt"
	"slices"

	"aqmlab/kind"
	"aqmlab/switch/port"
	"aqmlab/switch/sched"
	"aqmlab/trafficgen/transport"
)

// Hosts is what the hosts of a runtime are. The tag "only" of a key names the fact
// that they need to follow it.
type Hosts struct {
	Modelled   bool // models of a kernel, which follow all keys; else a kernel's own
	Containers bool // real ones with an image and limits of their own
	Guests     bool // real ones under a kernel of their own, with a file system of the lab's choice
}

func (h Hosts) follow(only string) bool {
	switch only {
	case onlyContainers:
		return h.Containers || h.Modelled // models have no use for it, and lose nothing
	case onlyGuests:
		return h.Guests || h.Modelled
	}
	return h.Modelled || only == ""
}

// What the tag "only" may be.
const (
	onlyModelled   = "modelled"
	onlyContainers = "containers"
	onlyGuests     = "guests"
)

// Unsupported lists, one line each, the settings of the lab that such hosts do not
// follow, and what they do instead. Real hosts do as Linux does in wall time,
// whatever the dilation; the defaults are Linux's.
func (l *Lab) Unsupported(hosts Hosts) []string {
	var modelled, others []string
	warn := func(path, only string, want, have any) {
		switch {
		case hosts.follow(only):
		case only == onlyModelled:
			modelled = append(modelled, fmt.Sprintf("%s: %v is for modelled hosts only, real hosts have %v", path, want, have))
		default:
			others = append(others, fmt.Sprintf("%s: only hosts that are %s follow it", path, only))
		}
	}
	for _, k := range schemaOf(l.Kinds).Keys {
		if value := k.Of(l); !k.IsDefault(value) {
			warn(k.Path, k.Only, kind.Encode(value), k.Default)
		}
	}
	for i, s := range l.Speaks() {
		path := l.pathOf(i)
		row, _ := transport.Table().Find(s.Transport.Kind) // a lab that was not loaded may name any
		for _, p := range row.Params {
			if want, given := s.Transport.Params[p.Name]; given && fmt.Sprint(want) != p.Default {
				warn(path+"."+p.Name, p.Only, want, p.Default)
			}
		}
	}
	return append(modelled, others...)
}

// DefaultKernel is the version of Linux of guests, unless host.kernel names another.
const DefaultKernel = "6.1"

// NamesKernel tells whether the lab asks for guests of another kernel.
func (l *Lab) NamesKernel() bool {
	return l.Host.Kernel != "" && l.Host.Kernel != DefaultKernel // a lab that was not loaded has none
}

// CheckReal tells whether the lab's switches can serve real hosts.
func (l *Lab) CheckReal() error {
	for _, s := range l.Schemes {
		scheduler, err := l.scheduler(s)
		if err != nil {
			return fmt.Errorf("lab %s: %w", l.Name, err)
		}
		path := schedulerPath
		if s.Scheduler.Kind != "" {
			path = schemePath(s.Name) + ".scheduler"
		}
		if by, ok := scheduler.(sched.ByMessage); ok && by.ByMessage() {
			return fmt.Errorf("lab %s: %s: packets of real hosts do not tell where in their message they stand: run it with modelled hosts (--runtime sim), or choose a rank that the switch computes, such as las by flow", l.Name, path)
		}
		if err := l.checkRealSharing(s, scheduler); err != nil {
			return fmt.Errorf("lab %s: %w", l.Name, err)
		}
	}
	return l.checkOneDCTCP()
}

// checkOneDCTCP wants no two sorts of DCTCP: a kernel has one.
func (l *Lab) checkOneDCTCP() error {
	first, has := "", ""
	for i, s := range l.Speaks() {
		t, err := s.Build()
		switch {
		case err != nil || t.DCTCP.OnLoss == "":
		case has == "":
			first, has = l.pathOf(i), t.DCTCP.OnLoss
		case has != t.DCTCP.OnLoss:
			return fmt.Errorf("lab %s: %s.%s: %s, and %s at %s: a kernel has one dctcp: want the same of all, or modelled hosts (--runtime sim)",
				l.Name, l.pathOf(i), transport.OnLoss, t.DCTCP.OnLoss, has, first)
		}
	}
	return nil
}

// checkRealSharing is CheckReal of how a scheme shares the buffer.
func (l *Lab) checkRealSharing(s Scheme, scheduler sched.Scheduler) error {
	c, path := l.sharingOf(s), bufferPath
	if s.Sharing.Kind != "" {
		path = schemePath(s.Name) + ".sharing"
	}
	if c.Kind == "" {
		return nil // a lab that was not loaded names none
	}
	made, err := port.Sharings().New(c.Kind, c.Params, l.sharingEnv(scheduler))
	if err == nil && made.Modelled {
		return fmt.Errorf("%s: packets of real hosts do not tell where in their message they stand: run it with modelled hosts (--runtime sim), or leave unscheduled out", path)
	}
	return err
}

// InsteadOfTransport is the lab with hosts that speak what stands in for their transports
// where a kernel does not provide them. A lab that asks for more of such a transport than
// the defaults has none.
func (l *Lab) InsteadOfTransport() (*Lab, error) {
	other := *l
	other.Transports = slices.Clone(l.Transports)
	replaced := false
	for i, s := range l.Speaks() {
		t, err := s.Build()
		switch {
		case err != nil:
			return nil, err
		case t.Instead == "" && len(l.Transports) > 0:
			continue // it may be there
		case t.Instead == "" || len(s.Transport.Params) > 0:
			return nil, fmt.Errorf("lab %s: %s: nothing stands in for %s", l.Name, l.pathOf(i), s.Transport.Kind)
		case i == 0:
			other.Host.Transport, other.Host.TransportParams = t.Instead, nil
		default:
			other.Transports[i-1].Transport = kind.Choice{Kind: t.Instead}
		}
		replaced = true
	}
	if !replaced {
		return nil, fmt.Errorf("lab %s: nothing stands in for %s", l.Name, l.Spoken())
	}
	return &other, nil
}

// BuildTransport is the host's transport with the lab's parameters.
func (h Host) BuildTransport() (transport.Transport, error) {
	return transport.Table().New(h.Transport, h.TransportParams, struct{}{})
}
