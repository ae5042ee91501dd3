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
	now, err := host.Monotonic()
	if err != nil {
		return err
	}
	sampling := live.Sampling{
		Start:    time.Now().Add(time.Duration(w.Zero - now)),
		Dilation: w.Dilation,
		Every:    w.Every,
		Alpha:    h.alpha(),
	}
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
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watching == nil {
		return errNotWatching
	}
	seen, err := h.watching.end()
	h.watching = nil
	*samples = append([]results.SenderSample{}, seen...) // net/rpc takes no null for a reply
	return err
}
