package testbed

import (
	"fmt"
	"reflect"
	"time"

	"aqmlab/labs"
	"aqmlab/orchestrator/netns"
	"aqmlab/results"
	"aqmlab/switch/fabric"
)

// delaysByKernel tells whether the hosts' kernels hold back packets for the RTTs
// that the lab draws, rather than the switch. The switch alone changes them at lab times,
// and in a lab that stays.
func delaysByKernel(lab *labs.Lab, stays bool) (bool, error) {
	changes := lab.ChangesRTTs() || stays && lab.RTT.By != labs.ByNetem
	if lab.RTT.Max == lab.RTT.Min || lab.RTT.By == labs.ByDelayLine || changes {
		return false, nil
	}
	// A host that is held to no rate would have netem hold back all that it sends at once.
	if lab.Host.Port == labs.HostSwitchPort {
		if lab.RTT.By == labs.ByNetem {
			return false, fmt.Errorf("rtt.by is %s, which needs hosts that are held to their link's rate: want %s with host.port: %s", labs.ByNetem, labs.ByDelayLine, labs.HostSwitchPort)
		}
		return false, nil
	}
	err := netns.CanDelay()
	if err != nil && lab.RTT.By == labs.ByNetem {
		return false, fmt.Errorf("rtt.by is %s: %w", labs.ByNetem, err)
	}
	return err == nil, nil
}

// RTTBy is what makes the RTTs that are drawn.
func (t *Testbed) RTTBy() string {
	if t.netem {
		return results.RTTByNetem
	}
	return results.RTTByDelayLine
}

// fabric is the network of a point, with the delays of the hosts' links
// shortened by what the hosts and the switch's process add to a round trip, so
// that the base RTT is the lab's.
func (t *Testbed) fabric(scheme string, seed uint64) (fabric.Spec, error) {
	spec, err := t.lab.Fabric(scheme, seed)
	if err != nil {
		return fabric.Spec{}, err
	}
	names := map[string]bool{}
	// The lab numbers its hosts by itself; these are the addresses they have.
	for i, h := range t.net.Hosts {
		spec.Hosts[i].Addr = h.Addr
		names[h.Name] = true
	}
	const crossings = 4 // of hosts' links in a round trip
	extra := time.Duration(float64(t.overhead) / t.dilation / crossings)
	for i, l := range spec.Links {
		if names[l.A] || names[l.B] {
			spec.Links[i].Delay = max(0, l.Delay-extra)
		}
	}
	for _, c := range spec.Timeline.Links {
		if l := spec.Links[c.Link]; names[l.A] || names[l.B] {
			for i := range c.States {
				c.States[i].Delay = max(0, c.States[i].Delay-extra)
			}
		}
	}
	return spec, nil
}

// switchFabric is the network of a point as the switch has to make it, once the hosts
// have been told what they make of it.
func (t *Testbed) switchFabric(scheme string, seed uint64) (fabric.Spec, error) {
	spec, err := t.fabric(scheme, seed)
	if err != nil || !t.netem {
		return spec, err
	}
	if delays := wallDelays(spec.Hosts, t.dilation); !reflect.DeepEqual(delays, t.plan.Delays) {
		t.plan.Delays = delays
		if err := t.net.Retime(t.plan); err != nil {
			return fabric.Spec{}, err
		}
	}
	for i := range spec.Hosts {
		spec.Hosts[i].Delays = nil
	}
	return spec, nil
}

// wallDelays are the hosts' delays on the wall.
func wallDelays(hosts []fabric.Host, dilation float64) [][]time.Duration {
	all := make([][]time.Duration, len(hosts))
	for i, h := range hosts {
		for _, d := range h.Delays {
			all[i] = append(all[i], time.Duration(float64(d)*dilation))
		}
	}
	return all
}
