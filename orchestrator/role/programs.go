package role

import (
	"errors"

	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/program"
)

var (
	errPrograms   = errors.New("the hosts run programs already")
	errNoPrograms = errors.New("the hosts run no programs")
)

// Launch readies programs of the hosts that this process carries, and starts those that
// listen. It returns when they do.
func (h *Hosts) Launch(c program.Config, _ *agent.Nothing) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.server == nil:
		return errNotServing
	case h.programs != nil:
		return errPrograms
	}
	c.Others = []int{serverPort}
	r, err := program.Launch(h.ctx, c, func(host int) program.Place {
		e := h.ends[host]
		return program.Place{Namespace: e.Namespace, Hosts: e.Hosts, Root: e.Root}
	})
	h.programs = r
	return err
}

// BeginPrograms starts the programs at their times from a time of CLOCK_MONOTONIC on.
func (h *Hosts) BeginPrograms(zero int64, _ *agent.Nothing) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.programs == nil {
		return errNoPrograms
	}
	return h.programs.Begin(zero)
}

// ProgramsLeft counts the programs that have not ended and do not serve.
func (h *Hosts) ProgramsLeft(_ agent.Nothing, left *int) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.programs == nil {
		return errNoPrograms
	}
	*left = h.programs.Left()
	return nil
}

// EndPrograms stops programs that serve, waits for all, and says how they ended.
func (h *Hosts) EndPrograms(_ agent.Nothing, all *[]program.Ended) error {
	h.mu.Lock()
	r := h.programs
	h.programs = nil
	h.mu.Unlock() // Close must not wait for what may take long
	if r == nil {
		return errNoPrograms
	}
	var err error
	*all, err = r.Finish()
	return err
}
