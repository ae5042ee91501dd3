package check

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/doctor"
	"aqmlab/orchestrator/underlay"
)

// Role is this program as the process that looks at its machine: "agent" and this are its
// arguments then.
const Role = "check"

// Serve is the life of that process. It is called over the standard input and output.
func Serve(ctx context.Context) error {
	stream, err := agent.Standard()
	if err != nil {
		return err
	}
	s := newService(ctx)
	err = agent.ServeStream(ctx, stream, func(ctx context.Context) any {
		s.ctx = ctx
		return s
	})
	return errors.Join(err, s.close())
}

// Service looks at its machine, and measures from there.
type Service struct {
	ctx        context.Context // ends with the process
	mu         sync.Mutex
	reflectors map[netip.AddrPort]*underlay.Reflector // by where they were asked to answer
	tags       *tags                                  // nil: none are open
}

func newService(ctx context.Context) *Service {
	return &Service{ctx: ctx, reflectors: map[netip.AddrPort]*underlay.Reflector{}}
}

// Look looks at the machine.
func (s *Service) Look(out Outlet, d *doctor.Diagnosis) error {
	*d = look(out)
	return nil
}

// Answering is where a machine answers.
type Answering struct {
	At    netip.AddrPort
	InUse bool // another program has the port
}

// Answer begins to answer other machines at an address, at any port if that is 0.
func (s *Service) Answer(at netip.AddrPort, a *Answering) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reflectors[at] == nil {
		r, err := underlay.Reflect(at)
		if errors.Is(err, unix.EADDRINUSE) {
			a.InUse = true
			return nil
		}
		if err != nil {
			return err
		}
		s.reflectors[at] = r
	}
	a.At = s.reflectors[at].Addr()
	return nil
}

// Hush ends that.
func (s *Service) Hush(at netip.AddrPort, _ *agent.Nothing) error {
	s.mu.Lock()
	r := s.reflectors[at]
	delete(s.reflectors, at)
	s.mu.Unlock()
	if r == nil {
		return fmt.Errorf("nobody answers at %s", at)
	}
	return r.Close()
}

// Compare compares the machine's clock with that of one that answers.
func (s *Service) Compare(with netip.AddrPort, o *underlay.Offset) (err error) {
	*o, err = underlay.Compare(s.ctx, with)
	return err
}

// MTU finds that of the way to a machine that answers.
func (s *Service) MTU(to netip.AddrPort, mtu *int) (err error) {
	*mtu, err = underlay.MTU(s.ctx, to)
	return err
}

// Load is a TCP connection to a machine that answers.
type Load struct {
	To   netip.AddrPort
	Over time.Duration
}

// Throughput is what the connection carries, in bits per second.
func (s *Service) Throughput(l Load, bits *float64) (err error) {
	*bits, err = underlay.Throughput(s.ctx, l.To, l.Over)
	return err
}

// Tag makes VLANs, and begins to answer other machines in them.
func (s *Service) Tag(o Tagging, a *Tagged) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tags != nil {
		return errors.New("the machine has VLANs already")
	}
	if s.tags, err = openTags(s.ctx, o); err == nil {
		*a = s.tags.answers(o.Number)
	}
	return err
}

// Cross tries VLANs.
func (s *Service) Cross(c Crossing, found *Crossed) (err error) {
	s.mu.Lock()
	t := s.tags
	s.mu.Unlock()
	if t == nil {
		return errors.New("the machine has no VLANs")
	}
	*found, err = t.cross(s.ctx, c)
	return err
}

// close ends all answers.
func (s *Service) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, r := range s.reflectors {
		errs = append(errs, r.Close())
	}
	if s.tags != nil {
		errs = append(errs, s.tags.close())
	}
	return errors.Join(errs...)
}
