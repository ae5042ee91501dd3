package role

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/netns"
	"aqmlab/results"
	"aqmlab/trafficgen"
	"aqmlab/trafficgen/live"
)

// serverPort is where every host's server listens.
const serverPort = 5001

// dialTimeout bounds one handshake, in wall time. A first SYN that is lost is
// sent again after a second, so this allows several.
const dialTimeout = 15 * time.Second

// End is a host as the traffic sees it.
type End struct {
	Namespace string
	Addr      netip.Addr
}

// Hosts is the service of the process that carries the traffic of all hosts:
// every socket is made inside its host's namespace and stays there.
type Hosts struct {
	ctx    context.Context // ends with the process, or Close
	cancel context.CancelFunc
	mu     sync.Mutex
	ends   ends
	server *live.Server
	client *live.Client
	done   chan struct{} // closed when the client's run has ended
	flows  []results.Flow
	err    error
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
	errReplaying  = errors.New("the hosts are replaying a trace")
	errIdle       = errors.New("the hosts are not replaying a trace")
)

// Serve starts a server on every host.
func (h *Hosts) Serve(e []End, _ *agent.Nothing) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.server != nil {
		return errServing
	}
	h.ends = e
	all := make([]int, len(e))
	for i := range all {
		all[i] = i
	}
	server, err := live.Serve(h.ends, all, "")
	if err != nil {
		return err
	}
	h.server = server
	return nil
}

// BaseRTT measures round-trip times on an idle lab: for every pair (client,
// server) it opens and closes one connection, one after another, and returns
// what the kernel says of each handshake. The times are wall time and hold no
// scheduling delay of a process, since the kernel itself answers.
func (h *Hosts) BaseRTT(pairs [][2]int, rtts *[]time.Duration) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.server == nil {
		return errNotServing
	}
	for _, p := range pairs {
		rtt, err := h.ends.handshake(h.ctx, p[0], p[1])
		if err != nil {
			return fmt.Errorf("measuring the base RTT: %w", err)
		}
		*rtts = append(*rtts, rtt)
	}
	return nil
}

// Replay says what to replay, see [live.Config].
type Replay struct {
	Flows       []trafficgen.Flow
	Tagging     trafficgen.Tagging
	Dilation    float64
	Connections int
	Fresh       bool
	Handshake   bool
	Stall       time.Duration // wall time
}

// lead is the time between the call of Start and the trace's time zero.
const lead = 20 * time.Millisecond

// Start opens the connections, sets the trace's time zero, which it returns in
// nanoseconds of CLOCK_MONOTONIC, and replays the trace.
func (h *Hosts) Start(r Replay, zero *int64) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.server == nil:
		return errNotServing
	case h.client != nil:
		return errReplaying
	}
	client, err := live.Open(h.ctx, h.ends, live.Config{
		Flows:       r.Flows,
		Tagging:     r.Tagging,
		Dilation:    r.Dilation,
		Connections: r.Connections,
		Fresh:       r.Fresh,
		Handshake:   r.Handshake,
		Stall:       r.Stall,
	})
	if err != nil {
		return err
	}
	var mono unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &mono); err != nil {
		client.Close()
		return fmt.Errorf("reading the clock: %w", err)
	}
	start := time.Now().Add(lead)
	*zero = mono.Nano() + int64(lead)
	h.client, h.done = client, make(chan struct{})
	go func() {
		defer close(h.done)
		h.flows, h.err = client.Run(h.ctx, start)
	}()
	return nil
}

// State is how far a replay is.
type State struct {
	live.Progress
	Done bool
}

// Progress says how far the replay is.
func (h *Hosts) Progress(_ agent.Nothing, s *State) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.client == nil {
		return errIdle
	}
	s.Progress = h.client.Progress()
	select {
	case <-h.done:
		s.Done = true
	default:
	}
	return nil
}

// Finish waits for the end of the replay and returns its records.
func (h *Hosts) Finish(_ agent.Nothing, flows *[]results.Flow) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.client == nil {
		return errIdle
	}
	<-h.done
	*flows = h.flows
	h.client, h.flows = nil, nil
	return h.err
}

// Close ends what runs, calls that wait included. Closing twice is no error.
func (h *Hosts) Close() error {
	h.cancel() // before the lock, which such a call holds
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.client != nil {
		<-h.done
		h.client = nil
	}
	if h.server == nil {
		return nil
	}
	server := h.server
	h.server = nil
	return server.Close()
}

// ends makes sockets inside the hosts' namespaces.
type ends []End

var _ live.Network = ends(nil)

// Listen opens a host's server port.
func (e ends) Listen(host int) (l net.Listener, err error) {
	err = netns.Do(e[host].Namespace, func() error {
		l, err = net.Listen("tcp4", netip.AddrPortFrom(e[host].Addr, serverPort).String())
		return err
	})
	return l, err
}

// Dial connects a host to another one's server port.
func (e ends) Dial(ctx context.Context, client, server int) (c net.Conn, err error) {
	d := net.Dialer{Timeout: dialTimeout, KeepAlive: -1}
	err = netns.Do(e[client].Namespace, func() error {
		c, err = d.DialContext(ctx, "tcp4", netip.AddrPortFrom(e[server].Addr, serverPort).String())
		return err
	})
	return c, err
}

// handshake measures the round-trip time of one handshake.
func (e ends) handshake(ctx context.Context, client, server int) (time.Duration, error) {
	c, err := e.Dial(ctx, client, server)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	raw, err := c.(syscall.Conn).SyscallConn()
	if err != nil {
		return 0, fmt.Errorf("reaching the socket: %w", err)
	}
	var info *unix.TCPInfo
	if cerr := raw.Control(func(fd uintptr) {
		info, err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
	}); cerr != nil || err != nil {
		return 0, fmt.Errorf("reading TCP_INFO: %w", errors.Join(cerr, err))
	}
	return time.Duration(info.Rtt) * time.Microsecond, nil
}
