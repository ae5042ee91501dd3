package testbed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"aqmlab/labs"
	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/journal"
	"aqmlab/orchestrator/underlay"
	"aqmlab/results"
	"aqmlab/switch/port"
)

// SiteRole is this program as the process that brings up a share of a lab on its machine:
// "agent" and this are its arguments then.
const SiteRole = "site"

// ServeSite is the life of a site. It is called over the standard input and output.
func ServeSite(ctx context.Context, kinds port.Kinds) error {
	stream, err := agent.Standard()
	if err != nil {
		return err
	}
	s := &Site{kinds: kinds, ctx: ctx}
	err = agent.ServeStream(ctx, stream, func(ctx context.Context) any {
		s.ctx = ctx
		return s
	})
	return errors.Join(err, s.close())
}

// Site is a machine's share of a lab, as its owner on another machine calls it.
type Site struct {
	kinds port.Kinds
	ctx   context.Context // ends with the site

	mu     sync.Mutex
	giveUp func() // ends the bringing up of the share, and waits for that
	share  *Testbed
	lost   chan string // why a link was lost
	others func(context.Context) (string, error)
	rates  func() error // ends what the site follows

	reflector *underlay.Reflector
	standing  map[string]*agent.Client // processes of a share that was left up, by their nodes
}

// errNoShare is the error of calls that need a share.
var errNoShare = errors.New("the machine has no share of a lab")

// Up brings up a share.
func (s *Site) Up(share Share, part *Part) error {
	ctx, cancel := context.WithCancelCause(s.ctx)
	ended := make(chan struct{})
	defer close(ended)
	s.mu.Lock()
	s.giveUp = func() {
		select {
		case <-ended: // the share has what was made with ctx
		default:
			cancel(errNoLongerWanted)
			<-ended
		}
	}
	s.mu.Unlock()
	lab, err := labs.Stored(share.Lab, s.kinds, "")
	if err != nil {
		return err
	}
	// This machine is one of the lab's.
	t, err := Up(ctx, lab.OnOneMachine(), Options{
		Log: os.Stderr, Containers: true, Detached: share.Stays, CPUs: share.CPUs, share: &share,
	})
	if err != nil {
		return err
	}
	lost := make(chan string, 1)
	stop, err := here{t}.watch(func(why error) {
		select {
		case lost <- why.Error():
		default: // one is enough
		}
	})
	if err != nil {
		return errors.Join(err, t.Down(context.WithoutCancel(ctx)))
	}
	t.whole = &wholeness{stop: []func(){stop}}
	*part = Part{ID: t.journal.ID(), Network: t.net, Speaks: t.speaks, Machine: results.ThisMachine()}
	for _, p := range t.switches {
		part.Switches = append(part.Switches, p.number)
	}
	for _, p := range t.hosts {
		part.Hosts = append(part.Hosts, p.number)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.share, s.lost = t, lost
	return nil
}

// errNoLongerWanted is why a share is not brought up to its end.
var errNoLongerWanted = errors.New("the lab is removed already")

// mine is the site's share.
func (s *Site) mine() (*Testbed, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.share == nil {
		return nil, errNoShare
	}
	return s.share, nil
}

// Forwarded is a call for one of the share's processes.
type Forwarded struct {
	Node   string
	Method string
	Args   json.RawMessage
}

// Forward makes a call to the process of a node.
func (s *Site) Forward(f Forwarded, answer *json.RawMessage) error {
	s.mu.Lock()
	standing := s.standing[f.Node]
	s.mu.Unlock()
	if standing != nil {
		return standing.Call(s.ctx, f.Method, f.Args, answer)
	}
	p, err := s.process(f.Node)
	if err != nil {
		return err
	}
	return p.Call(s.ctx, f.Method, f.Args, answer)
}

// process is that of a node.
func (s *Site) process(node string) (process, error) {
	t, err := s.mine()
	if err != nil {
		return process{}, err
	}
	for _, p := range t.switches {
		if t.plan.Switches[p.number] == node {
			return p.process, nil
		}
	}
	for _, p := range t.hosts {
		if t.plan.Hosts[p.number] == node {
			return p.process, nil
		}
	}
	return process{}, fmt.Errorf("node %s is not on this machine", node)
}

// Ended waits for the end of a node's process, and says why it ended on its own.
func (s *Site) Ended(node string, why *string) error {
	p, err := s.process(node)
	if err != nil {
		return err
	}
	select {
	case <-p.Done():
		if err := p.Err(); err != nil {
			*why = err.Error()
		}
		return nil
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	}
}

// Lost waits for the loss of a link, and says which.
func (s *Site) Lost(_ agent.Nothing, why *string) error {
	select {
	case *why = <-s.lost:
		return nil
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	}
}

// Clock tells CLOCK_MONOTONIC in ns.
func (s *Site) Clock(_ agent.Nothing, now *int64) (err error) {
	*now, err = host.Monotonic()
	return err
}

// Retime has the share run at another dilation.
func (s *Site) Retime(dilation float64, _ *agent.Nothing) error {
	return s.withShare(func(h here) error { return h.retime(s.ctx, dilation) })
}

// Counters reads those of the kernels of the share's hosts, by the hosts' numbers.
func (s *Site) Counters(_ agent.Nothing, all *map[int]host.Counters) error {
	return s.withShare(func(h here) (err error) {
		*all, err = h.counters(s.ctx)
		return err
	})
}

// Used tells what has been done on the CPUs of the share's hosts.
func (s *Site) Used(_ agent.Nothing, u *Usage) error {
	return s.withShare(func(h here) (err error) {
		*u, err = h.used(s.ctx)
		return err
	})
}

// WatchOthers begins to watch for other programs that use the CPUs.
func (s *Site) WatchOthers(agent.Nothing, *agent.Nothing) error {
	return s.withShare(func(h here) error {
		others, err := h.others(s.ctx)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.others = others
		return err
	})
}

// Others says which have since.
func (s *Site) Others(_ agent.Nothing, busy *string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.others == nil {
		return errNoShare
	}
	var err error
	*busy, err = s.others(s.ctx)
	return err
}

// Rates are other rates of hosts, and the time that they count from.
type Rates struct {
	Zero int64
	All  []Rerate
}

// FollowRates has the share's hosts send at other rates.
func (s *Site) FollowRates(r Rates, _ *agent.Nothing) error {
	return s.withShare(func(h here) error {
		end, err := h.followRates(s.ctx, r.Zero, r.All)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.rates = end
		return err
	})
}

// EndRates ends that.
func (s *Site) EndRates(agent.Nothing, *agent.Nothing) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rates == nil {
		return errNoShare
	}
	end := s.rates
	s.rates = nil
	return end()
}

func (s *Site) withShare(do func(here) error) error {
	t, err := s.mine()
	if err != nil {
		return err
	}
	return do(here{t})
}

// Down removes the share.
func (s *Site) Down(agent.Nothing, *agent.Nothing) error { return s.close() }

// close removes the share, if there is one, or what has been brought up of it.
func (s *Site) close() error {
	s.mu.Lock()
	giveUp := s.giveUp
	s.mu.Unlock()
	if giveUp != nil {
		giveUp()
	}
	s.mu.Lock()
	t, r := s.share, s.reflector
	standing := s.standing
	s.share, s.reflector, s.standing = nil, nil, nil
	s.mu.Unlock()
	var errs []error
	for _, c := range standing {
		errs = append(errs, c.Close())
	}
	if r != nil {
		errs = append(errs, r.Close())
	}
	if t != nil {
		errs = append(errs, t.Down(context.WithoutCancel(s.ctx)))
	}
	return errors.Join(errs...)
}

// Staying is how a share stays up.
type Staying struct {
	Scheme  string // that its switches run
	Runtime string // what the owner calls it, for who looks at the machine's labs
}

// Stay leaves the share up when the site ends.
func (s *Site) Stay(how Staying, _ *agent.Nothing) error {
	t, err := s.mine()
	if err != nil {
		return err
	}
	if _, err := t.leaveUp(s.ctx, how.Scheme, how.Runtime); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.share = nil // from here on the machine's journal has it
	return nil
}

// Attach connects to the processes of the share that an owner has left up here.
func (s *Site) Attach(owner string, _ *agent.Nothing) error {
	all, err := Labs(Options{})
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(l Standing) bool { return l.Owner == owner })
	if i < 0 {
		return fmt.Errorf("%w: %s has nothing here", ErrNoLab, owner)
	}
	if all[i].State == journal.Broken {
		return errors.New(all[i].Problem)
	}
	sockets, err := filepath.Glob(filepath.Join(Options{}.root(), all[i].ID, "*"+socketSuffix))
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.standing = make(map[string]*agent.Client)
	for _, socket := range sockets {
		client, err := agent.Dial(s.ctx, socket)
		if err != nil {
			return err
		}
		s.standing[strings.TrimSuffix(filepath.Base(socket), socketSuffix)] = client
	}
	return nil
}

// Clean removes what is left on this machine of an owner's lab, and of all whose owners
// are dead. It is an error that something stays.
func (s *Site) Clean(owner string, removed *[]string) error {
	all, err := Labs(Options{})
	if err != nil {
		return err
	}
	swept, err := Sweep(Options{})
	*removed = swept
	errs := []error{err}
	for _, l := range all {
		if owner == "" || l.Owner != owner || l.State != journal.Detached && l.State != journal.Broken {
			continue
		}
		errs = append(errs, TakeDown(l.ID, Options{}))
		*removed = append(*removed, l.ID)
	}
	return errors.Join(errs...)
}
