package role

import (
	"errors"
	"net"
	"net/netip"
	"time"

	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/host"
	"aqmlab/results"
	"aqmlab/trafficgen"
	"aqmlab/trafficgen/live"
)

// Probing says what to send beside a replay, see [live.ProbeConfig].
type Probing struct {
	Probes   []trafficgen.Probe // this process carries the hosts that send them
	Dilation float64
	Patience time.Duration // wall time
	Zero     int64         // lab time zero on CLOCK_MONOTONIC
}

// probing is a prober that runs.
type probing struct {
	over    chan struct{} // closed to end it
	done    chan struct{} // closed when it has ended
	samples []results.ProbeSample
	err     error
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
	run := &probing{over: make(chan struct{}), done: make(chan struct{})}
	h.probing = run
	go func() {
		defer close(run.done)
		run.samples, run.err = prober.Run(h.ctx, start, run.over)
	}()
	return nil
}

// Probed sends no more probes, waits for answers, and returns what was measured.
func (h *Hosts) Probed(_ agent.Nothing, samples *[]results.ProbeSample) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	run := h.probing
	if run == nil {
		return errNotProbing
	}
	h.probing = nil
	close(run.over)
	<-run.done
	*samples = run.samples
	return run.err
}

// closeProbing ends what is left of it; h.mu is held, and h.ctx over.
func (h *Hosts) closeProbing() error {
	if h.probing != nil {
		<-h.probing.done
		h.probing = nil
	}
	if h.echoes == nil {
		return nil
	}
	echoes := h.echoes
	h.echoes = nil
	return echoes.Close()
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
