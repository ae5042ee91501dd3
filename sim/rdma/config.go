package rdma

import (
	"errors"
	"fmt"
	"time"

	"aqmlab/trafficgen/transport"
	"aqmlab/units"
)

// Config says what hosts a stack models.
type Config struct {
	transport.DCQCN
	// Uplinks are the rates of the hosts' links. A flow starts at that of its
	// host and never sends faster.
	Uplinks []units.Rate
	// MTU is the network-layer size of a full packet in bytes. RoCE's own path
	// MTUs are powers of two; the model fills the link's, so that a threshold of
	// some packets means the same as under TCP.
	MTU int
	// RTO is the time without progress after which a sender goes back to what
	// the receiver has not acknowledged. It does not back off.
	RTO time.Duration
}

// Payload is how many bytes of a message a full packet carries.
func (c *Config) Payload() int { return c.MTU - dataHeaders }

func (c *Config) check() error {
	if err := c.DCQCN.Check(); err != nil {
		return err
	}
	if len(c.Uplinks) == 0 {
		return errors.New("no hosts")
	}
	for i, r := range c.Uplinks {
		if r < c.MinRate {
			return fmt.Errorf("uplink of host %d: %v is below min_rate, %v", i, r, c.MinRate)
		}
	}
	if c.Payload() <= 0 {
		return fmt.Errorf("MTU of %d bytes leaves no payload behind %d of headers", c.MTU, dataHeaders)
	}
	if c.RTO <= 0 {
		return fmt.Errorf("RTO %v is not above zero", c.RTO)
	}
	return nil
}
