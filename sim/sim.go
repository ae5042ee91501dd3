// Package sim runs a lab's network in virtual time: the switches of package
// fabric, modelled hosts at their edges, and a clock that jumps from event to
// event.
//
// A simulation reads no clock, no address and no map in its order of iteration: the same
// configuration gives the same bytes of results on every machine, and with any number of
// threads, see package crew. The hosts are always on one of them.
package sim

import (
	"context"
	"fmt"
	"slices"
	"time"

	"aqmlab/collectors"
	"aqmlab/collectors/meter"
	"aqmlab/results"
	"aqmlab/sim/crew"
	"aqmlab/sim/hugepages"
	"aqmlab/sim/rdma"
	"aqmlab/sim/tcp"
	"aqmlab/switch/event"
	"aqmlab/switch/fabric"
	"aqmlab/switch/packet"
	"aqmlab/switch/port"
	"aqmlab/trafficgen/traffic"
	"aqmlab/units"
)

// Config says what to simulate: one point of a lab.
type Config struct {
	Fabric fabric.Spec
	Kinds  port.Kinds
	Speech                // of flows whose transport is 0
	Others []Speech       // of flows whose transport is 1 and so on
	Flows  []traffic.Flow // ordered by start
	// Tagging gives the bytes of flows their DSCP.
	Tagging traffic.Tagging
	// Connections are how many are open between a client and a server before
	// the first flow; more are opened when all are busy. With zero, every flow
	// opens its own and closes it when it is done.
	Connections int
	Handshake   bool                    // of connections that flows open for themselves; their time counts
	Sample      time.Duration           // lab time between two samples of the queues; zero: none
	Goodput     time.Duration           // lab time between two samples of what services deliver; zero: none
	Senders     time.Duration           // lab time between two samples of what senders know; zero: none
	Estimates   bool                    // keep what schemes estimate
	Delays      bool                    // count how long packets wait, by queue and DSCP
	Capture     *collectors.CaptureSpec // nil: nothing is captured
	// Stall is the lab time without a byte for any flow under way after which
	// the simulation ends; zero: never.
	Stall time.Duration
	// Threads is how many cores the simulation may use: fewer where the network has not as
	// many parts, and one with a capture, which has all packets in one order. Zero is one.
	Threads int
	// Place tells the part of each switch, where the spec has it be in one
	// ([fabric.Parts]), in place of Threads. Nil leaves it to [fabric.Spec.Partition].
	Place []int
	// Probes are sent until the last flow has ended. Answers count that come
	// within Patience from then on.
	Probes   []traffic.Probe
	Patience time.Duration
}

// Speech is a transport of modelled hosts.
type Speech struct {
	TCP       *tcp.Config  // of hosts that speak TCP
	RDMA      *rdma.Config // of hosts that speak RDMA, in place of TCP
	Datagrams *Datagrams   // of hosts that speak UDP, in place of both
	Codepoint packet.Codepoint
}

// Progress counts what a simulation has done so far.
type Progress struct {
	Now       time.Duration // lab time
	Started   int           // flows taken off the trace
	Completed int           // flows of which every byte came
	Failed    int           // flows whose connection was given up
	Events    int64         // run
	Packets   int64         // with payload, that reached their host
	Others    int64         // without, that did
}

// Simulation is one point, ready to run or over.
type Simulation struct {
	config    Config
	loop      event.Loop // of the hosts
	common    event.Loop // of what concerns all parts: its events come first in their instant
	crew      *crew.Crew
	pool      packet.Pool
	network   *fabric.Network
	speakers  []*speaker // by the transport of flows
	queues    *collectors.Queues
	capture   *collectors.Capture // nil: none
	estimates *collectors.Estimates
	delays    collectors.Delays
	senders   *senders
	services  *meter.Meter
	sessions  sessions
	probes    *probes
	tags      *tags
	starts    *event.Timer // of the next flow
	records   []results.Flow
	progress  Progress
	moved     time.Duration // when a byte last came, or a flow started
	watchdog  *event.Timer
	stalled   bool
	last      time.Duration // when the last flow ended
	until     time.Duration // all before has happened, once the last flow has ended
}

// New prepares a simulation. Errors name the part of the configuration that
// does not fit.
func New(c Config) (*Simulation, error) {
	s := &Simulation{
		config: c, queues: collectors.NewQueues(c.Sample), estimates: new(collectors.Estimates), records: records(c.Flows),
		sessions: sessions{pairs: map[ends][]*session{}, seed: c.Fabric.Seed},
	}
	hugepages.Grow(c.footprint())
	var err error
	parts := s.spread()
	if s.network, err = fabric.New(&s.common, c.Fabric, fabric.Attachment{Edge: s, Parts: parts, Release: s.release, Kinds: c.Kinds, Rated: s.rated, Stopped: s.stopped}); err != nil {
		return nil, fmt.Errorf("preparing a simulation: %w", err)
	}
	s.crew = crew.New(parts.Loops, s.network, c.Fabric.Window())
	if err := s.learn(); err != nil {
		return nil, fmt.Errorf("preparing a simulation: hosts: %w", err)
	}
	if s.probes, err = newProbes(s); err != nil {
		return nil, fmt.Errorf("preparing a simulation: %w", err)
	}
	s.tags = newTags(c.Tagging, services(c.Flows))
	if c.Sample > 0 {
		s.queues.Attach(&s.common, s.network)
	}
	if c.Estimates {
		s.estimates.Attach(&s.common, s.network)
	}
	if c.Delays {
		s.delays.Attach(&s.common, s.network)
	}
	s.startCapture()
	s.senders, s.services = newSenders(s, c.Senders), meter.New(c.Goodput)
	s.network.Begin(0)
	s.starts = event.NewTimer(s.start)
	s.next()
	s.watchdog = event.NewTimer(s.look)
	if c.Stall > 0 {
		s.common.Schedule(s.watchdog, c.Stall)
	}
	return s, nil
}

// spread tells what runs on which loop.
func (s *Simulation) spread() fabric.Parts {
	n, of := 1, s.config.Place
	switch {
	case of != nil:
		n = slices.Max(of) + 1
	case s.config.Capture == nil:
		n, of = s.config.Fabric.Partition(max(1, s.config.Threads))
	}
	loops := []*event.Loop{&s.loop}
	for len(loops) < n {
		loops = append(loops, new(event.Loop))
	}
	return fabric.Parts{Loops: loops, Of: of}
}

// startCapture captures packets, if asked to.
func (s *Simulation) startCapture() {
	c := &s.config
	if c.Capture == nil {
		return
	}
	encode := packet.AppendTCP
	if c.RDMA != nil {
		encode = packet.AppendRoCE
	}
	s.capture = collectors.NewCapture(*c.Capture, c.Fabric.Hosts, encode)
	s.capture.Attach(&s.common, s.network)
}

// services is how many services the flows have.
func services(flows []traffic.Flow) int {
	n := 1
	for _, f := range flows {
		n = max(n, f.Service+1)
	}
	return n
}

// batch is how many events run between two looks at the world outside.
const batch = 1 << 14

// Run runs until every flow has ended, the simulation stalls, or ctx ends,
// which is the only error. watch is called now and then. What has begun with the last
// flow's end still goes on until the end of the window, see [crew.Crew.Run].
func (s *Simulation) Run(ctx context.Context, watch func(Progress)) error {
	s.network.Foresee()
	defer s.crew.Dismiss()
	for s.running() {
		if ctx.Err() != nil {
			return fmt.Errorf("simulating: %w", context.Cause(ctx))
		}
		for begun := s.progress.Events; s.running() && s.progress.Events-begun < batch; {
			s.move(forever, batch)
		}
		watch(s.Progress())
	}
	s.probes.finish()
	s.crew.Advance(s.crew.Now())
	s.network.Settle(max(s.until, s.crew.Now()))
	return nil
}

// forever is the last lab time that there is.
const forever time.Duration = 1<<63 - 1

// move runs about so many events, if as many are due until a lab time, and then what
// concerns all parts if that is due.
func (s *Simulation) move(until time.Duration, most int) {
	at, due := s.common.Next()
	if due = due && at <= until; due {
		until = at - 1
	}
	over := s.over()
	s.progress.Events += s.crew.Run(until, most)
	ended := s.over() && !over
	switch {
	case ended:
		s.until = min(until, s.crew.End(s.last)) + 1
	case s.over():
		s.until = until + 1
	}
	if next, pending := s.crew.Next(); due && pending && next >= at && !ended {
		s.crew.Advance(at)
		s.common.RunUntil(at)
	}
}

// look ends a simulation in which nothing moves any more.
func (s *Simulation) look(now time.Duration) {
	waiting := s.progress.Started == s.progress.ended() // for the next flow to start
	if waiting {
		s.moved = now
	}
	if s.stalled = now-s.moved >= s.config.Stall; !s.stalled {
		s.common.Schedule(s.watchdog, s.moved+s.config.Stall)
	}
}

// over tells whether every flow has ended.
func (s *Simulation) over() bool { return s.progress.ended() == len(s.records) }

func (p Progress) ended() int { return p.Completed + p.Failed }

// running tells whether a flow has yet to end and may do so.
func (s *Simulation) running() bool {
	if s.over() {
		return false
	}
	_, pending := s.crew.Next()
	return pending && !s.stalled
}

// Progress is how far the simulation is.
func (s *Simulation) Progress() Progress {
	p := s.progress
	p.Now = s.crew.Now()
	return p
}

// next waits for the start of the next flow of the trace.
func (s *Simulation) next() {
	if i := s.progress.Started; i < len(s.records) {
		s.loop.Schedule(s.starts, s.config.Flows[i].Start)
	}
}

// start begins the flow that is due, on a connection that is idle or else on a
// new one.
func (s *Simulation) start(now time.Duration) {
	i := s.progress.Started
	s.progress.Started++
	s.moved = now
	s.records[i].Sent = now
	f := &s.config.Flows[i]
	pair := ends{int32(f.Client), int32(f.Server), int32(f.Transport)}
	x := s.sessions.take(pair)
	if x == nil {
		x = s.connect(now, pair, i)
	}
	x.begin(now, i)
	s.next()
}

// connect opens a connection for a flow.
func (s *Simulation) connect(now time.Duration, pair ends, flow int) *session {
	x := s.sessions.get(s)
	x.message, x.drained = 0, false
	x.speaker = s.speakers[pair.transport]
	x.pair, x.pushed, x.once = pair, s.config.Flows[flow].Push, s.config.Connections == 0
	if x.once {
		x.hash = s.sessions.hash(uint64(flow))
	} else {
		n := s.sessions.keep(x)
		x.hash = s.sessions.hash(pair.numbers(n)...)
	}
	x.speaker.open(now, x, x.once && s.config.Handshake)
	return x
}

// ended writes the record of a flow that is over.
func (s *Simulation) ended(now time.Duration, x *session) {
	r := &s.records[x.flow]
	r.Received = r.Bytes - x.left
	if x.stopped {
		r.Bytes = r.Received // what its application came to offer
	}
	r.FCT = now - r.Sent
	r.Error = ""
	s.progress.Completed++
	s.settle()
}

// settle ends the simulation with the end of the last flow.
func (s *Simulation) settle() {
	if s.over() {
		s.last = s.loop.Now()
		s.loop.Stop()
	}
}

// failed writes the record of a flow whose connection was given up.
func (s *Simulation) failed(x *session) {
	r := &s.records[x.flow]
	r.Received = r.Bytes - x.left
	r.Error = givenUp
	s.progress.Failed++
	s.settle()
}

// leave closes a connection on which nothing more is sent.
func (s *Simulation) leave(x *session) {
	x.account()
	x.flown = idle
	x.client.Release()
	x.server.Release()
	x.client, x.server, x.flow = nil, nil, idle
	s.sessions.put(x)
}

func (s *Simulation) stopped(now time.Duration, host int, stop bool) {
	for _, h := range s.speakers {
		h.stopped(now, host, stop)
	}
}

func (s *Simulation) rated(now time.Duration, host int, rate units.Rate) {
	for _, h := range s.speakers {
		h.rated(now, host, rate)
	}
}

// Deliver takes a packet that reached a host.
func (s *Simulation) Deliver(now time.Duration, host int, k *packet.Packet) {
	if k.Segment.Len > 0 {
		s.progress.Packets++
	} else {
		s.progress.Others++
	}
	if isProbe(k) {
		s.probes.deliver(now, host, k)
		return
	}
	switch x := s.sessions.find(k.Segment.Conn); {
	case x == nil:
		s.pool.Put(k)
	case int32(host) == x.pair.client:
		x.client.Receive(now, k)
	default:
		x.server.Receive(now, k)
	}
}

// Outcome is what a simulation measured.
type Outcome struct {
	Flows  []results.Flow // in the order of the trace; those that did not end say so
	Queues []results.QueueSample
	Probes []results.ProbeSample // probe after probe; those without an answer are lost
	Ports  []fabric.PortCount
	Lost   []fabric.LossCount // by links that may lose packets
	Hosts  []results.HostCount

	Senders   []results.SenderSample   // in the order of time
	Estimates []results.EstimateSample // the same
	Services  []results.ServiceSample
	Classes   []results.ClassCount // by port, queue and DSCP
	Delays    []results.DelayCount // the same, and then by time
	Capture   results.Capture      // no chunks: nothing was captured
}

// Seen are the records and samples so far, of a simulation that may go on. They
// are good until it does.
func (s *Simulation) Seen() ([]results.Flow, []results.QueueSample) {
	return s.records, s.queues.Samples()
}

// Senders are the samples of what senders know so far, if the configuration asks for
// any. They are good until the simulation goes on.
func (s *Simulation) Senders() []results.SenderSample { return s.senders.samples }

// Outcome is what the simulation has measured when it is over, to be asked once.
func (s *Simulation) Outcome() Outcome {
	for _, x := range s.sessions.slots {
		x.account()
	}
	o := Outcome{Flows: s.records, Queues: s.queues.Samples(), Probes: s.probes.measured(), Ports: s.network.Counts(), Lost: s.network.Lost(), Senders: s.senders.samples, Estimates: s.estimates.End(), Services: s.services.Samples()}
	o.Classes, o.Delays = s.delays.End()
	for i, h := range s.config.Fabric.Hosts {
		sum := results.HostCount{Host: h.Name}
		for _, p := range s.speakers {
			c := p.count(i)
			sum.Timeouts += c.Timeouts
			sum.Retransmits += c.Retransmits
			sum.CEReceived += c.CEReceived
			sum.ECEReceived += c.ECEReceived
		}
		o.Hosts = append(o.Hosts, sum)
	}
	if s.capture != nil {
		o.Capture = s.capture.End()
	}
	return o
}

// records are the flows of a trace before they have run.
func records(flows []traffic.Flow) []results.Flow {
	list := make([]results.Flow, len(flows))
	for i, f := range flows {
		list[i] = f.Record()
		list[i].Error = unfinished
	}
	return list
}

// The errors of flows that did not complete.
const (
	unfinished = "not finished: no flow made progress any more"
	givenUp    = "not finished: its connection was given up after half a second of retransmissions without progress"
)
