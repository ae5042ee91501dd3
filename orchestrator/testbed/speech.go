package testbed

import (
	"errors"
	"net/netip"
	"os"

	"aqmlab/labs"
	"aqmlab/orchestrator/host/cc"
	"aqmlab/orchestrator/netns"
	"aqmlab/trafficgen/live"
)

// acquireAll has the kernel provide all that the hosts of a lab speak, and says which of
// them each transport has, by its number. Some may be acquired when it fails.
func acquireAll(lab *labs.Lab, suffix string) (all, spoken controls, err error) {
	made := map[string]*cc.Handle{}
	for _, s := range lab.Speaks() {
		t, err := s.Build()
		if err != nil {
			return all, nil, err
		}
		h := made[t.Name]
		if h == nil {
			if h, err = cc.Acquire(t, suffix); err != nil {
				return all, nil, err
			}
			made[t.Name], all = h, append(all, h)
		}
		spoken = append(spoken, h)
	}
	return all, spoken, nil
}

// sortsOf says how hosts send what they speak, by the numbers of transports.
func sortsOf(lab *labs.Lab) (sorts []live.Sort, err error) {
	for _, s := range lab.Speaks() {
		t, err := s.Build()
		if err != nil {
			return nil, err
		}
		sort := live.Stream
		if t.Datagrams {
			sort = live.Datagrams
		}
		sorts = append(sorts, sort)
	}
	return sorts, nil
}

// describe says what they are, once it is known which of them are offered.
func (c controls) describe() (all []Congestion) {
	for _, h := range c {
		all = append(all, Congestion{h.Name(), h.Common(), h.Provider(), h.ECN()})
	}
	return all
}

// offer makes them known by the names that all know.
func (c controls) offer() error {
	for _, h := range c {
		if err := h.Offer(); err != nil {
			return err
		}
	}
	return nil
}

// stateFile is the file by which a process reads the states of DCTCP from eBPF, or nil
// where the kernel tells them by itself. The caller closes it.
func (c controls) stateFile() (*os.File, error) {
	for _, h := range c {
		if file, err := h.StateFile(); !errors.Is(err, cc.ErrStays) {
			return file, err
		}
	}
	return nil, nil
}

// linkFiles are descriptors that keep them registered. The caller closes them.
func (c controls) linkFiles() (files []*os.File, err error) {
	for _, h := range c {
		some, err := h.LinkFiles()
		if err != nil {
			for _, f := range files {
				f.Close()
			}
			return nil, err
		}
		files = append(files, some...)
	}
	return files, nil
}

func (c controls) close() error { return c.each((*cc.Handle).Close) }

// leave gives them up for a lab that stays.
func (c controls) leave() error { return c.each((*cc.Handle).Leave) }

// each lets go of them in one way.
func (c controls) each(how func(*cc.Handle) error) error {
	var errs []error
	for _, h := range c {
		errs = append(errs, how(h))
	}
	return errors.Join(errs...)
}

// subnet holds the hosts of a lab. Labs have namespaces of their own, so all
// may use the same one.
var subnet = netip.MustParsePrefix("10.77.0.0/16")

// alsoSpeaks are the transports of the hosts' further addresses, in a plan.
func (t *Testbed) alsoSpeaks() []netns.Speech {
	var all []netns.Speech
	for i, c := range t.speaks[1:] {
		a := subnet.Addr().As4()
		a[1] += byte(1 + i)
		all = append(all, netns.Speech{Subnet: netip.PrefixFrom(netip.AddrFrom4(a), subnet.Bits()), Congestion: c.Name, ECN: c.ECN})
	}
	return all
}

// expect is what connections have, where hosts speak several transports.
func (t *Testbed) expect() []live.Expected {
	if len(t.speaks) == 1 {
		return nil
	}
	var all []live.Expected
	for _, c := range t.speaks {
		all = append(all, live.Expected{Congestion: c.Name, ECN: c.ECN})
	}
	return all
}

// Providers say what provides the transports, by their numbers.
func (t *Testbed) Providers() []string {
	var all []string
	for _, c := range t.speaks {
		all = append(all, string(c.Provider))
	}
	return all
}
