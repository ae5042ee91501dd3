package live

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Expected is what a connection has whose hosts were set up as they should be.
type Expected struct {
	Congestion string // name of its congestion control in the kernel; empty: any
	ECN        bool   // the two ends have agreed on ECN
}

// optionECN is TCPI_OPT_ECN of linux/tcp.h: both ends are capable of ECN.
const optionECN = 8

// check tells whether a socket has it.
func (x Expected) check(s *socket) error {
	if x.Congestion != "" {
		has, err := s.congestion()
		switch {
		case err != nil:
			return err
		case has != x.Congestion:
			return fmt.Errorf("the connection has congestion control %s: want %s", has, x.Congestion)
		}
	}
	var info unix.TCPInfo
	if _, err := s.info(&info); err != nil {
		return fmt.Errorf("looking for ECN: %w", err)
	}
	if ecn := info.Options&optionECN != 0; ecn != x.ECN {
		return fmt.Errorf("the two ends have agreed on ECN: %v, want %v", ecn, x.ECN)
	}
	return nil
}

// congestion is the name of the socket's congestion control.
func (s *socket) congestion() (name string, err error) {
	err = control(s.raw, func(fd int) (err error) {
		name, err = unix.GetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("reading TCP_CONGESTION: %w", err)
	}
	return name, nil
}
