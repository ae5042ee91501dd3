package uml

import (
	"fmt"
	"net"

	"aqmlab/orchestrator/host"
)

// seat is a processor that a guest shares with no other guest; without a socket it
// is none, and the guest runs wherever there is room.
//
// A guest's kernel and its programs are processes that wait for each other at every
// system call: only one of them ever works. On one processor they change places in
// half the time that it takes to wake another processor.
type seat struct {
	cpu  int
	held net.Listener
}

// sit takes the first processor that no guest has, or none when all are taken or
// cannot be asked for: a guest runs without one, too, if slower.
func (s *Session) sit() seat {
	all, err := host.CPUs()
	if err != nil {
		return seat{}
	}
	for _, cpu := range all {
		if held, err := net.Listen("unix", fmt.Sprintf("%s-%d", s.cpus, cpu)); err == nil {
			return seat{cpu, held}
		}
	}
	return seat{}
}

// take puts the calling thread there, and what it starts.
func (s seat) take() error {
	if s.held == nil {
		return nil
	}
	return host.UseCPU(s.cpu)
}

func (s seat) leave() error {
	if s.held == nil {
		return nil
	}
	return s.held.Close()
}
