package role

import (
	"errors"
	"net"
	"net/netip"
	"time"

	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/host"
	"aqmlab/results"
	"aqmlab/trafficgen/live"
	"aqmlab/trafficgen/traffic"
)

// Probing says what to send beside a replay, see [live.ProbeConfig].
type Probing struct {
	Probes   []traffic.Probe // this process carries the hosts that send them
	Dilation float64
	Patience time.Duration // wall time
	Zero     int64         // lab time zero on CLOCK_MONOTONIC
}

var (
	errProbing    = errors.New("the hosts are probing")
	errNotProbing = errors.New("the hosts are not probing")
)

// Probe sends probes from now on. The hosts of all processes answer as long as
// they serve.
func (h *Hosts) Probe(p Probing, _ *agent.Nothing) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.server == nil:
		return errNotServing
	case h.probing != nil:
		return errProbing
	}
	prober, err := live.OpenProbes(h.ends, live.ProbeConfig{Probes: p.Probes, Dilation: p.Dilation, Patience: p.Patience})
	if err != nil {
		return err
	}
	now, err := host.Monotonic()
	if err != nil {
		prober.Close()
		return err
	}
	start := time.Now().Add(time.Duration(p.Zero - now))
	h.probing = inBackground(func(over <-chan struct{}) ([]results.ProbeSample, error) { return prober.Run(h.ctx, start, over) })
	return nil
}

// Probed sends no more probes, waits for answers, and returns what was measured.
func (h *Hosts) Probed(_ agent.Nothing, samples *[]results.ProbeSample) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.probing == nil {
		return errNotProbing
	}
	var err error
	*samples, err = h.probing.end()
	h.probing = nil
	return err
}

var _ live.PacketNetwork = ends(nil)

// ListenPacket opens the port where a host answers probes: that of its server,
// of UDP.
func (e ends) ListenPacket(host int) (c *net.UDPConn, err error) {
	err = e.inside(host, func() error {
		c, err = net.ListenUDP("udp4", e.udp(host))
		return err
	})
	return c, err
}

// DialPacket connects a host to the port where another one answers probes.
func (e ends) DialPacket(from, to int) (c *net.UDPConn, err error) {
	err = e.inside(from, func() error {
		c, err = net.DialUDP("udp4", nil, e.udp(to))
		return err
	})
	return c, err
}

func (e ends) udp(host int) *net.UDPAddr {
	return net.UDPAddrFromAddrPort(netip.AddrPortFrom(e[host].Addr, serverPort))
}
