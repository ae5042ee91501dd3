package live

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"aqmlab/results"
	"aqmlab/trafficgen/traffic"
)

// PacketNetwork makes the sockets of probes, on hosts that are numbered as in
// the trace.
type PacketNetwork interface {
	ListenPacket(host int) (*net.UDPConn, error)   // where a host answers probes
	DialPacket(from, to int) (*net.UDPConn, error) // from any port of a host to there
}

// ProbeConfig says what a prober sends.
type ProbeConfig struct {
	Probes   []traffic.Probe
	Dilation float64       // wall time over lab time, above zero
	Patience time.Duration // wall time that the answer to one of the last packets may take
}

func (cfg ProbeConfig) check() error {
	if !(cfg.Dilation > 0) || math.IsInf(cfg.Dilation, 0) {
		return fmt.Errorf("dilation %v is not above zero", cfg.Dilation)
	}
	return traffic.CheckProbes(cfg.Probes, math.MaxInt)
}

// Prober sends the packets of probes and takes the answers.
type Prober struct {
	cfg    ProbeConfig
	probes []*probe
}

// OpenProbes opens the sockets of all probes. The prober must be run or closed.
func OpenProbes(network PacketNetwork, cfg ProbeConfig) (*Prober, error) {
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("opening probes: %w", err)
	}
	p := &Prober{cfg: cfg}
	for _, one := range cfg.Probes {
		opened, err := openProbe(network, one)
		if err != nil {
			p.Close()
			return nil, fmt.Errorf("opening probe %s: %w", one.Name, err)
		}
		p.probes = append(p.probes, opened)
	}
	return p, nil
}

// Close closes all sockets, which ends Run. Closing twice does nothing.
func (p *Prober) Close() {
	for _, one := range p.probes {
		_ = one.Close() // a UDP socket's, perhaps for the second time
	}
}

// Run sends each packet at start + its lab time x dilation, where start is the
// wall time of lab time zero, until over is closed. It waits for the last
// answers and returns what was measured, probe after probe. When ctx ends it
// returns at once, with its cause. It closes the prober.
func (p *Prober) Run(ctx context.Context, start time.Time, over <-chan struct{}) ([]results.ProbeSample, error) {
	defer context.AfterFunc(ctx, p.Close)()
	sending, stop := context.WithCancel(ctx)
	times := dilated{start, p.cfg.Dilation}
	var measuring errgroup.Group
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-over:
			stop()
		case <-sending.Done():
		}
	})
	for _, one := range p.probes {
		measuring.Go(one.receive)
		measuring.Go(func() error {
			err := one.sendAll(sending, times)
			return errors.Join(err, one.last(p.cfg.Patience))
		})
	}
	err := measuring.Wait()
	stop()
	watching.Wait()
	p.Close()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("probing: %w", err)
	}
	var all []results.ProbeSample
	for _, one := range p.probes {
		all = append(all, one.measured(times)...)
	}
	return all, nil
}

// sendAll sends the packets of a probe at their times, until ctx ends.
func (p *probe) sendAll(ctx context.Context, times dilated) error {
	// The thread is not unlocked: its timer slack ends with it.
	runtime.LockOSThread()
	if err := PreciseThread(); err != nil {
		return err
	}
	for n := 0; ; n++ {
		at, ok := p.At(n)
		if !ok {
			return nil
		}
		if time.Since(times.wall(at+p.Every)) > 0 {
			continue // late by more than the time to the next: a burst would not be a probe
		}
		err := SleepUntil(ctx, times.wall(at))
		if ctx.Err() != nil {
			return nil
		}
		if err == nil {
			err = p.send()
		}
		if err != nil {
			return err
		}
	}
}

// probe is one of a prober's.
type probe struct {
	traffic.Probe
	*stamped

	mu       sync.Mutex
	echoes   []echo
	patience time.Duration // once all is sent; zero: more is to come
}

// echo is one packet and its answer.
type echo struct {
	sent time.Time
	rtt  time.Duration // wall time; zero: no answer has come
}

func openProbe(network PacketNetwork, p traffic.Probe) (*probe, error) {
	c, err := network.DialPacket(p.From, p.To)
	if err != nil {
		return nil, err
	}
	s, err := newStamped(c)
	if err == nil {
		err = s.setTOS(int(p.DSCP) << 2)
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return &probe{Probe: p, stamped: s}, nil
}

// send sends the next packet.
func (p *probe) send() error {
	sent := time.Now()
	p.mu.Lock()
	k := probePacket{number: uint64(len(p.echoes))}
	p.echoes = append(p.echoes, echo{sent: sent})
	p.mu.Unlock()
	k.put(&p.out)
	if _, err := p.Write(p.out[:]); err != nil {
		return unlessClosed(fmt.Errorf("probe %s: %w", p.Name, err))
	}
	return nil
}

// receive takes answers, until there are no more to be waited for.
func (p *probe) receive() error {
	for {
		k, from, err := p.read()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil
		}
		if err == nil {
			err = p.note(k, from.at, time.Now())
		}
		if err != nil {
			return unlessClosed(fmt.Errorf("probe %s: %w", p.Name, err))
		}
	}
}

// note records an answer, with the times at which the kernel received it and at which
// we read it. Only the first answer to a packet counts.
func (p *probe) note(k probePacket, received, now time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if k.number >= uint64(len(p.echoes)) || p.echoes[k.number].rtt > 0 {
		return nil
	}
	p.echoes[k.number].rtt = roundTrip(p.echoes[k.number].sent, received, now, k)
	return p.setDeadline()
}

// roundTrip is what the network took. The kernel's clock may be set meanwhile,
// the one that now is read from is not: it bounds the result.
func roundTrip(sent, received, now time.Time, k probePacket) time.Duration {
	rtt := time.Duration(received.UnixNano() - sent.UnixNano() - (k.left - k.arrived))
	if most := now.Sub(sent); rtt <= 0 || rtt > most {
		return max(most, 1)
	}
	return rtt
}

// last is called when everything is sent. patience is how long an answer may take.
func (p *probe) last(patience time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.patience = max(patience, 1)
	return p.setDeadline()
}

// setDeadline ends the wait for answers when the newest packet without an answer is
// older than the patience, and at once when all have one.
func (p *probe) setDeadline() error {
	if p.patience == 0 {
		return nil
	}
	deadline := time.Unix(1, 0)
	for i := len(p.echoes) - 1; i >= 0; i-- {
		if p.echoes[i].rtt == 0 {
			deadline = p.echoes[i].sent.Add(p.patience)
			break
		}
	}
	return unlessClosed(p.SetReadDeadline(deadline))
}

// measured is what the probe has measured, in lab time.
func (p *probe) measured(times dilated) []results.ProbeSample {
	samples := make([]results.ProbeSample, len(p.echoes))
	for i, e := range p.echoes {
		samples[i] = results.ProbeSample{Probe: p.Name, At: times.lab(e.sent.Sub(times.start)), RTT: times.lab(e.rtt), Lost: e.rtt == 0}
	}
	return samples
}

// unlessClosed is err, or nil when we closed the socket ourselves.
func unlessClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

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
