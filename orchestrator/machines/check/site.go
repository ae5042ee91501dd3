package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"time"

	"aqmlab/labs/inventory"
	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/docker"
	"aqmlab/orchestrator/doctor"
	"aqmlab/orchestrator/journal"
	"aqmlab/orchestrator/machines"
	"aqmlab/orchestrator/testbed"
	"aqmlab/orchestrator/underlay"
)

// site is a machine, and the way to the process that looks at it.
type site struct {
	inventory.Machine
	container string // the name of the process's
	engine    *docker.Engine
	stream    *agent.Stream
	at        netip.AddrPort // where it answers others
	tagged    Tagged         // and in VLANs, where links are such
}

// means are what a process is started with.
type means struct {
	program string    // see [docker.Reach]
	log     io.Writer // gets what the process complains about
	journal *journal.Journal
}

// open starts the process, which the journal then has.
func (s *site) open(ctx context.Context, by means) error {
	api, err := machines.Client(ctx, s.Machine)
	if err != nil {
		return err // which names the machine
	}
	if s.engine, err = docker.Reach(ctx, api, by.program); err != nil {
		return errors.Join(s.named(err), api.Close())
	}
	owner := testbed.Owner(by.journal)
	e, err := testbed.SiteEntry(s.Machine, s.container, owner)
	if err != nil {
		return s.named(err)
	}
	if err := by.journal.Record(e); err != nil {
		return err
	}
	pipe, err := s.engine.StartSite(ctx, docker.Site{Name: s.container, Owner: owner, Args: []string{"agent", Role}, Socket: s.Socket, Log: by.log})
	if err != nil {
		return s.named(err)
	}
	s.stream = agent.NewStream(pipe)
	return nil
}

// named names the machine in an error.
func (s *site) named(err error) error {
	return fmt.Errorf("machine %s (%s): %w", s.Name, s.Docker, err)
}

// close ends the process, and removes its container.
func (s *site) close(ctx context.Context) error {
	if s.stream != nil {
		_ = s.stream.Close() // it may have ended
	}
	if s.engine == nil {
		return nil
	}
	if err := errors.Join(s.engine.RemoveSite(ctx, s.container), s.engine.Close()); err != nil {
		return s.named(err)
	}
	return nil
}

func (s *site) call(ctx context.Context, method string, args, reply any) error {
	err := s.stream.Call(ctx, method, args, reply)
	if lost := s.stream.Err(); lost != nil && errors.Is(err, agent.ErrLost) {
		err = lost
	}
	if err != nil {
		return s.named(err)
	}
	return nil
}

func (s *site) look(ctx context.Context, port int) (d doctor.Diagnosis, err error) {
	return d, s.call(ctx, "Look", Outlet{netip.AddrPortFrom(s.Address, uint16(port)), s.Interface}, &d)
}

// answer has the machine answer others at a port.
func (s *site) answer(ctx context.Context, port int) (a Answering, err error) {
	return a, s.call(ctx, "Answer", netip.AddrPortFrom(s.Address, uint16(port)), &a)
}

func (s *site) hush(ctx context.Context, port int) error {
	return s.call(ctx, "Hush", netip.AddrPortFrom(s.Address, uint16(port)), &agent.Nothing{})
}

func (s *site) compare(ctx context.Context, with netip.AddrPort) (o underlay.Offset, err error) {
	return o, s.call(ctx, "Compare", with, &o)
}

func (s *site) mtu(ctx context.Context, to netip.AddrPort) (mtu int, err error) {
	return mtu, s.call(ctx, "MTU", to, &mtu)
}

func (s *site) throughput(ctx context.Context, to netip.AddrPort, over time.Duration) (bits float64, err error) {
	return bits, s.call(ctx, "Throughput", Load{to, over}, &bits)
}

// tag makes its VLANs.
func (s *site) tag(ctx context.Context, ids []int, number int) error {
	return s.call(ctx, "Tag", Tagging{s.Interface, ids, number}, &s.tagged)
}

// cross tries VLANs to another one.
func (s *site) cross(ctx context.Context, ids []int, to *site) (c Crossed, err error) {
	return c, s.call(ctx, "Cross", Crossing{ids, to.tagged}, &c)
}
