package role

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"

	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/host/cc"
	"aqmlab/orchestrator/netns"
	"aqmlab/orchestrator/program"
	"aqmlab/results"
	"aqmlab/trafficgen/live"
)

// serverPort is where every host's server listens, and answers probes.
const serverPort = 5001

// datagramPort is where it takes requests for datagrams.
const datagramPort = 5002

// dialTimeout bounds one handshake, in wall time. A first SYN that is lost is
// sent again after a second, so this allows several.
const dialTimeout = 15 * time.Second

// End is a host as the traffic sees it.
type End struct {
	Namespace string // empty: that of the process
	Addr      netip.Addr
	Also      []netip.Addr // for connections of other transports than the first, one each
	Sorts     []live.Sort  // of all transports; nil: the one is of streams
	Elsewhere bool         // another process carries its traffic
	Hosts     string       // path of the /etc/hosts of its programs, within Root; empty: that of the file system
	Root      string       // file system of its programs; empty: that of the process
}

// Hosts is the service of a process that carries the traffic of hosts, all of
// them or some: every socket is made inside its host's namespace and stays
// there.
type Hosts struct {
	ctx    context.Context // ends with the process, or Close
	cancel context.CancelFunc
	mu     sync.Mutex
	ends   ends
	server *live.Server
	echoes *live.Echoes // of probes; as long as the server
	client *live.Client
	done   chan struct{} // closed when the client's run has ended; nil before it begins
	flows  []results.Flow
	err    error

	probing  *background[results.ProbeSample]  // nil: no probe is being sent
	watching *background[results.SenderSample] // nil: no sender is being sampled
	programs *program.Runner                   // nil: there are none
	states   *cc.Reader                        // nil: what the kernel tells by itself is all there is

	uplinks // of the host in whose container this is
}

// NewHosts returns the service; ctx ends what its calls have started.
func NewHosts(ctx context.Context) *Hosts {
	h := &Hosts{}
	h.ctx, h.cancel = context.WithCancel(ctx)
	return h
}

var (
	errNotServing = errors.New("the hosts do not serve yet")
	errServing    = errors.New("the hosts serve already")
	errNotOpened  = errors.New("the hosts have no trace open")
	errReplaying  = errors.New("the hosts are replaying a trace")
	errIdle       = errors.New("the hosts are not replaying a trace")
)

// Serve starts a server on every host that this process carries.
func (h *Hosts) Serve(e []End, _ *agent.Nothing) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.server != nil {
		return errServing
	}
	h.ends = e
	var carried []int
	for i, end := range e {
		if !end.Elsewhere {
			carried = append(carried, i)
		}
	}
	server, err := live.Serve(h.ends, carried, "")
	if err != nil {
		return err
	}
	echoes, err := live.ServeEchoes(h.ends, carried)
	if err != nil {
		return errors.Join(err, server.Close())
	}
	h.server, h.echoes = server, echoes
	return nil
}

// Open opens the connections of a replay, whose clients this process carries.
func (h *Hosts) Open(r live.Config, _ *agent.Nothing) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.server == nil:
		return errNotServing
	case h.client != nil:
		return errReplaying
	}
	if err := h.ends.makeRoom(r); err != nil {
		return err
	}
	client, err := live.Open(h.ctx, h.ends, r)
	if err != nil {
		return err
	}
	h.client = client
	return nil
}

// Start replays the trace that is open. Its time zero is in nanoseconds of
// CLOCK_MONOTONIC, which all processes of a kernel share.
func (h *Hosts) Start(zero int64, _ *agent.Nothing) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.client == nil:
		return errNotOpened
	case h.done != nil:
		return errReplaying
	}
	start, err := host.WallTime(zero)
	if err != nil {
		return err
	}
	client, done := h.client, make(chan struct{})
	h.done = done
	go func() {
		defer close(done)
		h.flows, h.err = client.Run(h.ctx, start)
	}()
	return nil
}

// State is how far a replay is.
type State struct {
	live.Progress
	Ended []results.Flow // that completed since the state before
	Done  bool
}

// Progress says how far the replay is.
func (h *Hosts) Progress(_ agent.Nothing, s *State) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.done == nil {
		return errIdle
	}
	s.Progress = h.client.Progress()
	select {
	case <-h.done:
		s.Done = true
	default:
	}
	s.Ended = h.client.Ended()
	return nil
}

// Replayed is what a replay leaves at its clients.
type Replayed struct {
	Flows    []results.Flow // in the order of the trace
	Services []results.ServiceSample
}

// Finish waits for the end of the replay and returns what it leaves.
func (h *Hosts) Finish(_ agent.Nothing, r *Replayed) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.done == nil {
		return errIdle
	}
	<-h.done
	*r = Replayed{h.flows, h.client.Services()}
	h.client, h.done, h.flows = nil, nil, nil
	return h.err
}

// Accounts returns what the servers of this process sent again for the flows of
// a replay that is over, see [live.Server.Accounts].
func (h *Hosts) Accounts(_ agent.Nothing, all *[]live.Account) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.server == nil {
		return errNotServing
	}
	*all = append([]live.Account{}, h.server.Accounts()...) // net/rpc takes no null for a reply
	return nil
}

// Close ends what runs, calls that wait included. Closing twice is no error.
func (h *Hosts) Close() error {
	h.cancel() // before the lock, which such a call holds
	h.closeRates()
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.done != nil:
		<-h.done
	case h.client != nil:
		h.client.Close()
	}
	h.client, h.done = nil, nil
	if h.probing != nil {
		_, _ = h.probing.end() // nobody asks for the samples any more
	}
	if h.watching != nil {
		_, _ = h.watching.end()
	}
	var errs []error
	if h.programs != nil {
		errs = append(errs, h.programs.Close())
		h.programs = nil
	}
	if h.states != nil {
		errs = append(errs, h.states.Close())
	}
	if h.server != nil {
		errs = append(errs, h.echoes.Close(), h.server.Close())
	}
	h.probing, h.watching, h.states, h.server, h.echoes = nil, nil, nil, nil, nil
	return errors.Join(errs...)
}

// ends makes sockets inside the hosts' namespaces.
type ends []End

var _ live.Network = ends(nil)

// inside runs f in a host's namespace.
func (e ends) inside(host int, f func() error) error {
	return netns.Do(e[host].Namespace, f)
}

// in is inside for what makes something.
func in[T any](e ends, host int, f func() (T, error)) (made T, err error) {
	err = e.inside(host, func() error {
		made, err = f()
		return err
	})
	return made, err
}

// address is that of a host for a transport.
func (e ends) address(host, transport int) netip.Addr {
	if transport > 0 {
		return e[host].Also[transport-1]
	}
	return e[host].Addr
}

// server is where a host listens for connections of a transport.
func (e ends) server(host, transport int) netip.AddrPort {
	return netip.AddrPortFrom(e.address(host, transport), serverPort)
}

// datagrams is where a host listens for requests of a transport.
func (e ends) datagrams(host, transport int) netip.AddrPort {
	return netip.AddrPortFrom(e.address(host, transport), datagramPort)
}

// Transports are the sorts of what hosts have addresses for.
func (e ends) Transports() []live.Sort {
	if len(e) == 0 || len(e[0].Sorts) == 0 {
		return []live.Sort{live.Stream}
	}
	return e[0].Sorts
}

// Listen opens a host's server port.
func (e ends) Listen(host, transport int) (net.Listener, error) {
	return in(e, host, func() (net.Listener, error) { return net.Listen("tcp4", e.server(host, transport).String()) })
}

// Dial connects a host to another one's server port. Its routes say which of its addresses
// the connection has.
func (e ends) Dial(ctx context.Context, client, server, transport int) (net.Conn, error) {
	if e.Transports()[transport] == live.Datagrams {
		return e.connect(ctx, "udp4", client, e.datagrams(server, transport))
	}
	return e.connect(ctx, "tcp4", client, e.server(server, transport))
}

func (e ends) connect(ctx context.Context, network string, client int, to netip.AddrPort) (net.Conn, error) {
	d := net.Dialer{Timeout: dialTimeout, KeepAlive: -1}
	return in(e, client, func() (net.Conn, error) { return d.DialContext(ctx, network, to.String()) })
}

// ListenDatagrams opens the port where a host is asked for datagrams.
func (e ends) ListenDatagrams(host, transport int) (*net.UDPConn, error) {
	at := net.UDPAddrFromAddrPort(e.datagrams(host, transport))
	return in(e, host, func() (*net.UDPConn, error) { return net.ListenUDP("udp4", at) })
}

var _ live.PacketNetwork = ends(nil)

// ListenPacket opens the port where a host answers probes: that of its server,
// of UDP.
func (e ends) ListenPacket(host int) (*net.UDPConn, error) {
	return in(e, host, func() (*net.UDPConn, error) { return net.ListenUDP("udp4", e.udp(host)) })
}

// DialPacket connects a host to the port where another one answers probes.
func (e ends) DialPacket(from, to int) (*net.UDPConn, error) {
	return in(e, from, func() (*net.UDPConn, error) { return net.DialUDP("udp4", nil, e.udp(to)) })
}

func (e ends) udp(host int) *net.UDPAddr { return net.UDPAddrFromAddrPort(e.server(host, 0)) }

// background is what samples beside a replay, until it is ended.
type background[T any] struct {
	over    chan struct{} // closed to end it
	done    chan struct{} // closed when it has ended
	samples []T
	err     error
}

// inBackground runs something that ends when over does.
func inBackground[T any](run func(over <-chan struct{}) ([]T, error)) *background[T] {
	b := &background[T]{over: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(b.done)
		b.samples, b.err = run(b.over)
	}()
	return b
}

// end ends it, and returns what it sampled.
func (b *background[T]) end() ([]T, error) {
	close(b.over)
	<-b.done
	return b.samples, b.err
}
