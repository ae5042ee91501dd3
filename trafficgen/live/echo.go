package live

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// Echoes answer the probes that reach hosts.
type Echoes struct {
	sockets []*stamped
	work    errgroup.Group // one goroutine a socket
}

// ServeEchoes answers on every one of the hosts until Close.
func ServeEchoes(network PacketNetwork, hosts []int) (*Echoes, error) {
	e := &Echoes{}
	for _, host := range hosts {
		s, err := openEcho(network, host)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("answering probes on host %d: %w", host, err), e.Close())
		}
		e.sockets = append(e.sockets, s)
		e.work.Go(s.echo)
	}
	return e, nil
}

func openEcho(network PacketNetwork, host int) (*stamped, error) {
	c, err := network.ListenPacket(host)
	if err != nil {
		return nil, err
	}
	s, err := newStamped(c)
	if err == nil {
		err = s.set("IP_RECVTOS", unix.IPPROTO_IP, unix.IP_RECVTOS, 1)
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return s, nil
}

// Close ends the answers. It returns what ended them before.
func (e *Echoes) Close() error {
	for _, s := range e.sockets {
		_ = s.Close() // a UDP socket's
	}
	if err := e.work.Wait(); err != nil {
		return fmt.Errorf("answering probes: %w", err)
	}
	return nil
}

// echo sends back what comes.
func (s *stamped) echo() error {
	for {
		k, from, err := s.read()
		if err != nil {
			return unlessClosed(err)
		}
		if err := s.setTOS(from.tos &^ ecnBits); err != nil {
			return unlessClosed(err)
		}
		k.arrived, k.left = from.at.UnixNano(), time.Now().UnixNano()
		k.put(&s.out)
		if _, err := s.WriteToUDPAddrPort(s.out[:], from.addr); err != nil {
			return unlessClosed(err)
		}
	}
}
