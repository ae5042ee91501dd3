package role

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/host/cc"
	"aqmlab/results"
	"aqmlab/trafficgen/live"
)

// take ends what is sampled beside a replay, if anything is, and hands it over.
func take[T any](h *Hosts, from **background[T], idle error, samples *[]T) (err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if *from == nil {
		return idle
	}
	*samples, err = (*from).end()
	*from = nil
	return err
}

// Probing says what to send beside a replay. This process carries the hosts that send
// the probes.
type Probing struct {
	live.ProbeConfig
	Zero int64 // lab time zero on CLOCK_MONOTONIC
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
	prober, err := live.OpenProbes(h.ends, p.ProbeConfig)
	if err != nil {
		return err
	}
	start, err := host.WallTime(p.Zero)
	if err != nil {
		prober.Close()
		return err
	}
	h.probing = inBackground(func(over <-chan struct{}) ([]results.ProbeSample, error) { return prober.Run(h.ctx, start, over) })
	return nil
}

// Probed sends no more probes, waits for answers, and returns what was measured.
func (h *Hosts) Probed(_ agent.Nothing, samples *[]results.ProbeSample) error {
	return take(h, &h.probing, errNotProbing, samples)
}

// Watching says how the senders of a replay are looked at, see [live.Sampling].
type Watching struct {
	Every    time.Duration // lab time
	Dilation float64
	Zero     int64 // lab time zero on CLOCK_MONOTONIC
	States   bool  // the process has inherited, as its first file, what [cc.OpenReader] reads
}

var (
	errWatching    = errors.New("the senders are being sampled")
	errNotWatching = errors.New("the senders are not being sampled")
)

// Watch samples the senders of this process's hosts from now on.
func (h *Hosts) Watch(w Watching, _ *agent.Nothing) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.server == nil:
		return errNotServing
	case h.watching != nil:
		return errWatching
	}
	if w.States && h.states == nil {
		var err error
		if h.states, err = openStates(); err != nil {
			return err
		}
	}
	start, err := host.WallTime(w.Zero)
	if err != nil {
		return err
	}
	sampling := live.Sampling{Start: start, Dilation: w.Dilation, Every: w.Every, Alpha: h.alpha()}
	server := h.server
	h.watching = inBackground(func(over <-chan struct{}) ([]results.SenderSample, error) { return server.Sample(sampling, over), nil })
	return nil
}

// openStates opens the states of DCTCP from eBPF.
func openStates() (*cc.Reader, error) {
	file := agent.File(0)
	defer file.Close()
	r, err := cc.OpenReader(file)
	if err != nil {
		return nil, fmt.Errorf("sampling senders: %w", err)
	}
	return r, nil
}

// alpha reads DCTCP's estimate from wherever it is kept. A connection that was
// closed meanwhile has none.
func (h *Hosts) alpha() func(syscall.RawConn) float64 {
	reader := h.states
	if reader == nil {
		reader = &cc.Reader{}
	}
	return func(conn syscall.RawConn) float64 {
		state, err := reader.Read(conn)
		if err != nil || state.DCTCP == nil {
			return results.Unknown
		}
		return state.DCTCP.Alpha
	}
}

// Watched ends the look and returns what was seen.
func (h *Hosts) Watched(_ agent.Nothing, samples *[]results.SenderSample) error {
	err := take(h, &h.watching, errNotWatching, samples)
	*samples = append([]results.SenderSample{}, *samples...) // net/rpc takes no null for a reply
	return err
}
