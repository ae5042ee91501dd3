// Package live replays a flow trace over real TCP connections: clients that
// ask and servers that send what they are asked for.
//
// # Protocol
//
// A connection carries one exchange after another. The client writes a request
// of 24 bytes; the server answers with the same 24 bytes and then exactly as
// many bytes of payload as the request asks for, all zero. Numbers are
// big-endian:
//
//	0   3  "aqm"
//	3   1  version, 1
//	4   1  DSCP, 0 to 63
//	5   3  zero
//	8   8  flow id, the client's to choose
//	16  8  bytes of payload, 1 to [trafficgen.MaxBytes]
//
// Before the exchange each side gives its socket the DSCP, so that request,
// response and the ACKs of both are of the same class in every switch. A
// server closes a connection on which it reads anything else than a request.
//
// # What a flow completion time is
//
// As in the generator of the TCN, MQ-ECN and ECN# testbeds, a flow takes a
// connection that is idle, or a new one, and its clock runs from just before
// the client writes the request until it has read the last byte of the
// response. A handshake is never part of it.
//
// # Scheduling
//
// Clients and servers wait in the Go network poller, and one thread of [Client]
// sleeps in the kernel between the starts of flows. Give the process at least
// two Ps (GOMAXPROCS) beyond those of threads that are locked elsewhere, on
// however many CPUs: with a single one, a response may be noticed only when the
// runtime's monitor takes the P from the sleeping thread.
package live

import (
	"context"
	"net"
)

// Network makes the sockets of hosts, which are numbered as in the trace. Its
// connections are TCP connections of package net. It is used from several
// goroutines at once.
type Network interface {
	Listen(host int) (net.Listener, error)
	Dial(ctx context.Context, client, server int) (net.Conn, error)
}
