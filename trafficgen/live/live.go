// Package live replays a flow trace over real sockets: clients that ask and servers that
// send what they are asked for, over connections of TCP or in datagrams.
//
// # Protocol
//
// A connection carries one exchange after another. The client writes a request
// of 104 bytes. The server answers with 24 bytes, of which the first 16 are
// those of the request and the others the nanoseconds of its monotonic clock
// when it began, and then with as many bytes of payload as the request asks for,
// all zero. Numbers are big-endian:
//
//	0   3  "aqm"
//	3   1  version, 2
//	4   1  service
//	5   1  number of thresholds, 0 to 8
//	6   2  silence that ends a message, in units of 100 microseconds; 0: the flow does
//	8   8  flow id, the client's to choose
//	16  8  bytes of payload, 1 to [traffic.MaxBytes]
//	24  8  most payload to be sent a second, in bytes; 0: no limit
//	32  8  nanoseconds until the server stops sending; 0: never
//	40  64 thresholds in bytes, rising; 0 beyond their number
//
// A server that stops before all payload is written closes its direction of the
// connection, so that the client knows the end. A server closes a connection on
// which it reads anything else than a request.
//
// # Tagging
//
// The bytes of a payload have the DSCP that [traffic.Tagging] says, and
// request, ACKs and the response's first bytes that of the first byte of the
// payload. At a threshold the server writes no more until the kernel has sent
// everything below it, and only then changes the DSCP of its socket: no packet
// holds bytes of both sides, and every byte has its own DSCP when it is first
// sent. What is sent again has the DSCP that the socket has by then. From when
// the kernel has caught up until the server has woken up and written more there
// is nothing to send, which for a connection that is not held back by its window
// is a gap, of wall time, at each threshold.
//
// A request may say how long a silence ends a message. If the server last wrote to the
// connection less long ago, or the kernel holds what the client has not acknowledged,
// the payload goes on with the offsets of the response before it.
//
// # Limits of the application
//
// The rate of a flow is kept by the kernel, which paces the connection's
// packets; a flow that the network held up does not catch up later. A flow that
// has a time to stop never has more than 128 KiB of payload in the kernel that
// was not sent yet, so that little comes after its time; all that was written
// does come. Such connections are closed behind the flow.
//
// # Datagrams
//
// Of a transport that sends datagrams, the client asks for each flow from a socket of its
// own, by the request above in one datagram. Where a connection has the silence, that says
// how much payload a full datagram has. Rate and time to stop must be there. If nothing
// comes, the client asks again; the server knows such a request by its flow and where it
// is from. The payload of each datagram begins with the 24 bytes of an answer, or as many
// of them as it has, which count as payload. Datagrams are sent when the application
// would have written them, each with the DSCP of its first byte. What is late goes out at
// once. Nothing is acknowledged or sent again. Behind the last datagram come up to five of
// 24 bytes, which say by a clock of zero that no more follow.
//
// The flow ends with the last datagram that came before one of these, or until a second of
// lab time after its stop. Its bytes are what came. It fails if nothing did, or if the client's kernel had no
// room for some: those were not lost in the network.
//
// # What a flow completion time is
//
// As in the generator of the TCN, MQ-ECN and ECN# testbeds, a flow takes a
// connection that is idle, or a new one, and its clock runs from just before
// the client writes the request until it has read the last byte of the
// response. A handshake is no part of it.
//
// With [Config.Fresh] each flow has a connection of its own, and with
// [Config.Handshake] the clock runs from just before the client opens it; else
// the flow starts when the connection stands.
//
// The clock of a flow that is pushed, as in the papers' simulations, runs from
// when the server begins to send. A real server learns of it by the request, so
// that all such flows start later than planned by the way of one packet. Client
// and server share a kernel, and so a clock; on hosts that do not, such flows
// fail.
//
// # Retransmissions
//
// The record of a flow holds what its client sent again for it, by the kernel's
// own counts (TCP_INFO). [Server.Accounts] has what the servers did, of whom a
// client knows nothing.
//
// # Probes
//
// A [Prober] sends UDP packets of 64 bytes, those of the IP header included,
// that [Echoes] on the far host send back with the DSCP that they came with:
//
//	0   4  "aqmp"
//	4   8  number of the packet, from 0
//	12  8  of an answer: when the packet had arrived
//	20  8  of an answer: when the answer left
//	28  8  zero
//
// Times are nanoseconds since 1970. A round-trip time runs from just before the
// packet is handed to the kernel until the kernel has received the answer, less
// what lay between the packet's reception by the far host's kernel and the
// answer's departure: what the processes take to wake up is no part of it. The
// two hosts' clocks need not agree.
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

// Network makes the sockets of hosts, which are numbered as in the trace. These are
// sockets of package net, of TCP or UDP as the sort of their transport says. It is used
// from several goroutines at once.
type Network interface {
	// Transports are what hosts speak, at least one.
	Transports() []Sort
	// Listen is for connections of TCP, at the address of a transport.
	Listen(host, transport int) (net.Listener, error)
	// ListenDatagrams is for requests of a transport of [Datagrams].
	ListenDatagrams(host, transport int) (*net.UDPConn, error)
	// Dial connects two hosts by a socket of a transport of any sort.
	Dial(ctx context.Context, client, server, transport int) (net.Conn, error)
}
