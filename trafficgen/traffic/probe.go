package traffic

import (
	"errors"
	"fmt"
	"time"
)

// ProbeBytes is the network-layer length of a probe and of the answer to it.
const ProbeBytes = 64

// Probe is a small packet that one host sends another at regular lab times, and
// that is answered at once by one of the same length and DSCP. Neither is
// ECN-capable.
type Probe struct {
	Name  string
	From  int // index of the host that sends it, and measures
	To    int // index of the host that answers
	DSCP  uint8
	Start time.Duration // lab time of the first
	Every time.Duration // lab time between two, above zero
	Stop  time.Duration // lab time, above Start, from which on none is sent; zero: as long as there is traffic
}

// Check tells whether the probe can be sent between that many hosts.
func (p Probe) Check(hosts int) error {
	switch {
	case p.From < 0 || p.From >= hosts || p.To < 0 || p.To >= hosts:
		return fmt.Errorf("probe %s: hosts %d and %d are not both in 0 to %d", p.Name, p.From, p.To, hosts-1)
	case p.From == p.To:
		return fmt.Errorf("probe %s: host %d probes itself", p.Name, p.From)
	case p.DSCP > MaxDSCP:
		return fmt.Errorf("probe %s: DSCP %d is outside 0 to %d", p.Name, p.DSCP, MaxDSCP)
	case p.Every <= 0:
		return fmt.Errorf("probe %s: the time between two, %v, is not above zero", p.Name, p.Every)
	case p.Start < 0:
		return fmt.Errorf("probe %s: start %v is below zero", p.Name, p.Start)
	case p.Stop != 0 && p.Stop <= p.Start:
		return fmt.Errorf("probe %s: it stops at %v, and starts at %v", p.Name, p.Stop, p.Start)
	}
	return nil
}

// At is when the n-th is sent, from 0. ok is false when there are no more.
func (p Probe) At(n int) (at time.Duration, ok bool) {
	at = p.Start + time.Duration(n)*p.Every
	return at, p.Stop == 0 || at < p.Stop
}

// CheckProbes tells whether all can be sent and told apart.
func CheckProbes(probes []Probe, hosts int) error {
	seen := make(map[string]bool)
	for _, p := range probes {
		if p.Name == "" || seen[p.Name] {
			return errors.New("probes: each wants a name of its own")
		}
		seen[p.Name] = true
		if err := p.Check(hosts); err != nil {
			return err
		}
	}
	return nil
}
