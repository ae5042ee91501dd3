package live

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"aqmlab/collectors/meter"
	"aqmlab/results"
	"aqmlab/trafficgen/traffic"
)

// Config says what a client replays and when it gives up.
type Config struct {
	Flows       []traffic.Flow // ordered by start
	Tagging     traffic.Tagging
	Dilation    float64 // wall time over lab time, above zero
	Connections int     // opened ahead between every pair of hosts in the trace, zero or more
	Datagram    int     // payload of a full datagram in bytes, where flows are of datagrams
	Fresh       bool    // every flow has a connection of its own; none is opened ahead
	Handshake   bool    // of Fresh: opening the connection is part of a flow's completion time
	// CongestionControl is that of the sockets that ask, by its kernel name;
	// empty leaves the host's default. It is set after the handshake, so ECN
	// must be on in the host (net.ipv4.tcp_ecn=1).
	CongestionControl string
	// Expect is what the sockets of each transport of the flows must have; none: nobody
	// looks.
	Expect  []Expected
	Limit   time.Duration // wall time from the last start to the end of the run; zero: none
	Stall   time.Duration // wall time without a byte for any flow under way that ends the run; zero: none
	Goodput time.Duration // lab time between two samples of what services deliver; zero: none
	// Awake keeps the Go runtime's monitor from going to sleep and waking up around every
	// response, which is dear where time is virtual. It takes one P, and whoever sleeps in
	// the kernel keeps its P for up to 10 ms: enough must be left for the flows.
	Awake bool
}

func (cfg Config) check() error {
	switch {
	case !(cfg.Dilation > 0) || math.IsInf(cfg.Dilation, 0):
		return fmt.Errorf("dilation %v is not above zero", cfg.Dilation)
	case cfg.Connections < 0:
		return fmt.Errorf("%d connections opened ahead are below zero", cfg.Connections)
	case cfg.Fresh && cfg.Connections > 0:
		return fmt.Errorf("%d connections are opened ahead, of which fresh ones make no use", cfg.Connections)
	case cfg.Limit < 0 || cfg.Stall < 0:
		return fmt.Errorf("limit %v or stall %v is below zero", cfg.Limit, cfg.Stall)
	case cfg.Goodput < 0:
		return fmt.Errorf("%v between two samples of what services deliver is below zero", cfg.Goodput)
	case float64(cfg.Tagging.Gap)*cfg.Dilation > math.MaxUint16*float64(gapUnit):
		return fmt.Errorf("a gap of %v at a dilation of %v is above %v", cfg.Tagging.Gap, cfg.Dilation, math.MaxUint16*gapUnit)
	}
	var before time.Duration
	for _, f := range cfg.Flows {
		if err := cfg.checkFlow(f); err != nil {
			return fmt.Errorf("flow %d: %w", f.ID, err)
		}
		if n := len(cfg.Expect); n > 0 && f.Transport >= n {
			return fmt.Errorf("flow %d: transport %d is outside 0 to %d", f.ID, f.Transport, n-1)
		}
		if f.Start < before {
			return fmt.Errorf("flow %d starts at %v, before the flow that precedes it", f.ID, f.Start)
		}
		before = f.Start
	}
	return cfg.Tagging.Check(1)
}

func (cfg Config) checkFlow(f traffic.Flow) error {
	most := traffic.MaxDSCP - cfg.Tagging.Queues(0)
	switch {
	case f.Bytes < 1 || f.Bytes > traffic.MaxBytes:
		return fmt.Errorf("%d bytes are outside 1 to %d", f.Bytes, int64(traffic.MaxBytes))
	case f.Service < 0 || f.Service > most:
		return fmt.Errorf("service %d has no DSCP: want 0 to %d", f.Service, most)
	case f.Stop != 0 && f.Stop <= f.Start:
		return fmt.Errorf("it stops at %v, and starts at %v", f.Stop, f.Start)
	case f.Rate < 0:
		return fmt.Errorf("rate %v is below zero", f.Rate)
	}
	return nil
}

// Progress counts what a client has done so far.
type Progress struct {
	Started   int64 // flows taken off the trace
	Completed int64 // flows of which every byte came
	Failed    int64 // flows that ended otherwise, never started ones included
	Bytes     int64 // payload received
}

// Client replays a trace from the asking side, for all its clients.
type Client struct {
	network Network
	sorts   []Sort // of transports
	cfg     Config
	pool    pool
	clock   clock
	ran     atomic.Bool

	started, completed, failed, bytes atomic.Int64
	goodput                           goodput

	mu    sync.Mutex
	ended []results.Flow // that completed since they were last asked for
}

// How many connections are opened at once: enough to hide the round trips, few enough for
// a small switch buffer on the way to a client, and for what the kernel keeps for a host.
const (
	openersEach = 16 // of a client
	openersMost = 256
)

// Open connects every client of the trace with every server it asks. The
// client must be run or closed.
func Open(ctx context.Context, network Network, cfg Config) (*Client, error) {
	sorts := network.Transports()
	if err := errors.Join(cfg.check(), cfg.checkDatagrams(sorts)); err != nil {
		return nil, fmt.Errorf("opening connections: %w", err)
	}
	c := &Client{sorts: sorts, network: network, cfg: cfg, goodput: goodput{every: cfg.Goodput, dilated: dilated{dilation: cfg.Dilation}}}
	c.pool.list = map[ends][]*connection{}
	var err error
	if c.clock, err = closestClock(time.Now, monotonic); err != nil {
		return nil, fmt.Errorf("opening connections: %w", err)
	}
	if err := c.openAhead(ctx); err != nil {
		c.Close()
		return nil, fmt.Errorf("opening connections: %w", err)
	}
	return c, nil
}

func (c *Client) openAhead(ctx context.Context) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	todo := make(chan ends)
	var work sync.WaitGroup
	ahead := c.cfg.ahead(c.sorts)
	for range openers(ahead) {
		work.Go(func() {
			for e := range todo {
				if conn, err := c.connect(ctx, e); err != nil {
					fail(err)
				} else {
					c.pool.put(conn)
				}
			}
		})
	}
	for _, e := range ahead {
		for range c.cfg.Connections {
			if ctx.Err() == nil {
				todo <- e
			}
		}
	}
	close(todo)
	work.Wait()
	return context.Cause(ctx)
}

// openers is how many connections between such ends are opened at once.
func openers(all []ends) int {
	clients := map[int]bool{}
	for _, e := range all {
		clients[e.client] = true
	}
	return min(openersEach*len(clients), openersMost)
}

// ahead lists the ends between which connections are opened before a replay.
func (cfg Config) ahead(sorts []Sort) []ends {
	return slices.DeleteFunc(pairs(cfg.Flows), func(e ends) bool {
		return cfg.Connections == 0 || sorts[e.transport] == Datagrams // each such flow has a socket of its own
	})
}

// Ahead lists the servers of the pairs of hosts, which have those transports, that
// Connections are opened between before a replay.
func (cfg Config) Ahead(sorts []Sort) (servers []int) {
	for _, e := range cfg.ahead(sorts) {
		servers = append(servers, e.server)
	}
	return servers
}

// pairs lists the distinct ends of the flows in order of appearance.
func pairs(flows []traffic.Flow) []ends {
	var list []ends
	seen := map[ends]bool{}
	for _, f := range flows {
		if e := endsOf(&f); !seen[e] {
			seen[e] = true
			list = append(list, e)
		}
	}
	return list
}

// connect adds a booked connection to the pool.
func (c *Client) connect(ctx context.Context, e ends) (*connection, error) {
	conn, err := c.dial(ctx, e)
	if err != nil {
		return nil, fmt.Errorf("connecting %v: %w", e, err)
	}
	if !c.pool.add(conn) {
		return nil, fmt.Errorf("connecting %v: %w", e, errClosed)
	}
	return conn, nil
}

func (c *Client) dial(ctx context.Context, e ends) (*connection, error) {
	nc, err := c.network.Dial(ctx, e.client, e.server, e.transport)
	if err != nil {
		return nil, err
	}
	s, err := newSocket(nc, c.cfg.CongestionControl)
	if err == nil && len(c.cfg.Expect) > 0 {
		err = c.cfg.Expect[e.transport].check(s)
	}
	if err != nil {
		nc.Close()
		return nil, err
	}
	conn := &connection{socket: s, ends: e, arrived: c.arrived, busy: true}
	conn.discard = conn.discardReady // bound once, not for every flow
	return conn, control(s.raw, func(fd int) error { tellLeft(fd); return nil })
}

var errClosed = errors.New("the client is closed")

// Close closes every connection; flows under way fail. Run does it at its end.
func (c *Client) Close() { c.pool.open.closeAll() }

// Progress is a snapshot of the counters. It may be called at any time.
func (c *Client) Progress() Progress {
	return Progress{c.started.Load(), c.completed.Load(), c.failed.Load(), c.bytes.Load()}
}

// Ended takes the records of the flows that completed since the call before, in
// no order. It may be called at any time.
func (c *Client) Ended() []results.Flow {
	c.mu.Lock()
	defer c.mu.Unlock()
	ended := c.ended
	c.ended = nil
	return ended
}

// end notes a flow that completed.
func (c *Client) end(f results.Flow) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = append(c.ended, f)
}

var errRan = errors.New("replaying flows: a client runs once")

// Run sends each flow's request at start + Start x dilation, where start is the
// wall time of lab time zero, and returns a record of every flow in the order
// of the trace, those that failed or never started included. It ends early when
// the limit or the stall of the configuration is reached, which the records
// say; or when ctx ends, which the error says, too. It closes the client.
func (c *Client) Run(ctx context.Context, start time.Time) ([]results.Flow, error) {
	if c.ran.Swap(true) {
		return nil, errRan
	}
	defer c.Close()
	c.goodput.begin(start)
	r := newRun(c, start)
	err := r.replay(ctx)
	return r.records, err
}

// goodput adds up what the connections of a client take off their sockets.
type goodput struct {
	every time.Duration // lab time between two samples; zero: none

	mu sync.Mutex
	dilated
	meter *meter.Meter
}

// begin counts from lab time zero on.
func (g *goodput) begin(start time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.start, g.meter = start, meter.New(g.every)
}

func (g *goodput) add(of meter.For, bytes int64) {
	if g.every == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.meter.Add(g.lab(time.Since(g.start)), g.meter.Line(of), bytes)
}

// arrived counts payload that came.
func (c *Client) arrived(of meter.For, bytes int64) {
	c.bytes.Add(bytes)
	c.goodput.add(of, bytes)
}

// Services are what the services of the trace have delivered since Run began, by
// the times at which payload was taken off sockets.
func (c *Client) Services() []results.ServiceSample {
	g := &c.goodput
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.meter == nil {
		return nil
	}
	return g.meter.Samples()
}
