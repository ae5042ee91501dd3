package fabric

import (
	"net/netip"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/event"
	"aqmlab/switch/packet"
	"aqmlab/switch/port"
	"aqmlab/units"
)

// TestLookahead: a network may run ahead of its hosts by the shortest delay of their
// links, and not at all where the hosts' end of a link is part of it.
func TestLookahead(t *testing.T) {
	star := func() Spec {
		p := port.Spec{Queues: 1, Buffer: 96 * units.KB, Scheduler: kind.Choice{Kind: "fifo"}, Scheme: kind.Choice{Kind: "droptail"}}
		return Spec{
			Switches: []string{"s"},
			Hosts:    []Host{{Name: "a", Addr: netip.MustParseAddr("10.0.0.1")}, {Name: "b", Addr: netip.MustParseAddr("10.0.0.2")}},
			Links: []Link{
				{A: "a", B: "s", Rate: units.Gbps, Delay: 20 * time.Microsecond, Jitter: time.Millisecond},
				{A: "s", B: "b", Rate: units.Gbps, Delay: 10 * time.Microsecond},
			},
			Port: p,
		}
	}
	for name, c := range map[string]struct {
		change func(*Spec)
		want   time.Duration
	}{
		"links":        {func(*Spec) {}, 10 * time.Microsecond},
		"held back":    {func(s *Spec) { s.Hosts[1].Delays = []time.Duration{time.Second} }, 10 * time.Microsecond},
		"no delay":     {func(s *Spec) { s.Links[0].Delay = 0 }, 0},
		"flow control": {func(s *Spec) { s.Pause = Pause{XOff: 9000, XOn: 3000} }, 0},
		"host ports":   {func(s *Spec) { s.HostPorts = true }, 0},
	} {
		spec := star()
		c.change(&spec)
		pool := packet.NewPool(0)
		n, err := New(&event.Loop{}, spec, Attachment{Release: pool.Put})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := n.Lookahead(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
