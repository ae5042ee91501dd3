package cc

import (
	"fmt"

	"aqmlab/orchestrator/host"
	"aqmlab/trafficgen/transport"
)

// Support says what [Acquire] would do for one transport on this machine.
type Support struct {
	Transport string
	Provider  Provider // empty if the transport is missing
	Module    string   // kernel module that would be loaded for it, or empty
	Missing   error    // why it is missing, an [*UnsupportedError] where that is known
}

// Probe finds out which transports this machine has, of those that real hosts
// may speak. It changes nothing: no
// module is loaded and nothing is registered. Our own programs are shown to
// the kernel's verifier and dropped again.
func Probe() ([]Support, error) {
	var all []Support
	for _, name := range transport.Table().Names() {
		t, err := transport.Table().New(name, nil, struct{}{})
		if err != nil {
			return nil, fmt.Errorf("transport: %w", err)
		}
		if t.Modelled {
			continue
		}
		s, err := algorithmOf(t).probe()
		if err != nil {
			return nil, fmt.Errorf("probe transport %s: %w", name, err)
		}
		all = append(all, s)
	}
	return all, nil
}

func (a algorithm) probe() (Support, error) {
	s := Support{Transport: a.Name, Provider: Kernel}
	if has, err := a.kernels(); has || err != nil {
		return s, err
	}
	module := "tcp_" + a.kernel
	has, err := hasModule(module)
	switch {
	case err != nil:
		return s, err
	case has && !host.InUserNamespace():
		s.Module = module
	case has: // its root loads none
		s.Provider, s.Missing = "", a.missingModule()
	case a.ours:
		s.Provider, s.Missing = a.rehearse()
	default:
		s.Provider, s.Missing = "", a.missingModule()
	}
	return s, nil
}

// rehearse loads our programs as register does, up to the registration.
func (a algorithm) rehearse() (Provider, error) {
	if err := verify(); err != nil {
		return "", a.explain(err, thisMachine())
	}
	return EBPF, nil
}
