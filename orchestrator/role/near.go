package role

import (
	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/netns"
)

// Near says whose receiving stacks may run on the CPU of the switch, see
// [wire.Switch.SteerReceive].
type Near struct {
	Namespaces []string // of the hosts, in the order of the switch's ports
	Device     string   // that they receive by
	Others     []int    // CPUs, those of the hosts
}

// ReceiveNear lets the switch, which has its interfaces and is not running, choose where
// its hosts receive.
func (s *Switch) ReceiveNear(n Near, _ *agent.Nothing) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.rests(); err != nil {
		return err
	}
	// Where no device of the machine has its receiving steered, the kernel leaves the code
	// for that out, and to change its code stops all CPUs. So some device always has, one
	// by which nothing comes in.
	if err := host.SteerReceive("lo", n.Others); err != nil {
		return err
	}
	const others, own = 0, 1
	for port, namespace := range n.Namespaces {
		var steering *host.Steering
		err := netns.Do(namespace, func() (err error) {
			steering, err = host.OpenSteering(n.Device, n.Others, nil)
			return err
		})
		if err != nil {
			return err
		}
		s.steerings = append(s.steerings, steering)
		s.sw.SteerReceive(port, func(near bool) error {
			if near {
				return steering.Choose(own)
			}
			return steering.Choose(others)
		})
	}
	return nil
}
