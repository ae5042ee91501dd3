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

// Reflect begins to answer at a port of an address of this machine, the same of UDP and
// TCP, until the reflector is closed.
func Reflect(addr netip.Addr) (*Reflector, error) {
	udp, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(addr, 0)))
	if err != nil {
		return nil, fmt.Errorf("answer other machines: %w", err)
	}
	port := udp.LocalAddr().(*net.UDPAddr).AddrPort().Port()
	tcp, err := net.ListenTCP("tcp4", net.TCPAddrFromAddrPort(netip.AddrPortFrom(addr, port)))
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
