package uml

import (
	"errors"
	"fmt"
	"net"

	"golang.org/x/sys/unix"

	"aqmlab/orchestrator/host"
)

// cpuSockets begins the names of the abstract sockets by which guests of all
// programs tell each other which processors are theirs. The kernel removes them
// with the program, however that ends.
const cpuSockets = "@aqmlab-uml-cpu"

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

// sit takes the first processor that no guest has, or none when all are taken.
func (s *Session) sit() (seat, error) {
	all, err := host.CPUs()
	if err != nil {
		return seat{}, err
	}
	for _, cpu := range all {
		held, err := net.Listen("unix", fmt.Sprintf("%s-%d", s.cpus, cpu))
		if !errors.Is(err, unix.EADDRINUSE) {
			return seat{cpu, held}, err
		}
	}
	return seat{}, nil
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
