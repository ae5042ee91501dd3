// Package underlay measures the network between machines that share a lab: round-trip
// times, how far their clocks are apart, the largest packet that passes, and throughput.
package underlay

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
)

// Reflector answers probes, and takes what throughput is measured with.
type Reflector struct {
	udp *net.UDPConn
	tcp *net.TCPListener
}

// Reflect begins to answer at an address of this machine, the same port of UDP and TCP,
// until the reflector is closed. Port 0 is any one that is free.
func Reflect(at netip.AddrPort) (*Reflector, error) {
	udp, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(at))
	if err != nil {
		return nil, fmt.Errorf("answer other machines: %w", err)
	}
	tcp, err := net.ListenTCP("tcp4", net.TCPAddrFromAddrPort(udp.LocalAddr().(*net.UDPAddr).AddrPort()))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("answer other machines: %w", err), udp.Close())
	}
	if err := stamp(udp); err != nil {
		return nil, errors.Join(fmt.Errorf("answer other machines: %w", err), udp.Close(), tcp.Close())
	}
	r := &Reflector{udp, tcp}
	go answer(udp)
	go accept(tcp)
	return r, nil
}

// Addr is where it answers.
func (r *Reflector) Addr() netip.AddrPort { return r.udp.LocalAddr().(*net.UDPAddr).AddrPort() }

// Close ends it.
func (r *Reflector) Close() error { return errors.Join(r.udp.Close(), r.tcp.Close()) }
