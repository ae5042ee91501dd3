// Package guests is the runtime uml: every point has a guest kernel of its own (User-
// Mode Linux) with a testbed in it, in virtual time. Both sides are here: whoever
// starts guests, and process 1 of a guest.
package guests

import (
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"aqmlab/labs"
	"aqmlab/orchestrator/backend"
	"aqmlab/orchestrator/doctor"
	"aqmlab/orchestrator/testbed"
	"aqmlab/orchestrator/uml"
	"aqmlab/results"
	"aqmlab/units"
)

// Role is what this program is as process 1 of a guest: "agent" and this
// are its arguments there.
const Role = "guest"

// What a guest may use of memory, in MiB.
const (
	guestBase    = 192 // kernel, helper processes, what a point measures
	guestPerHost = 24  // receive ring, sockets and their packets
	guestImage   = 512 // programs, the files that they read, and what they write
)

// guestMemory bounds a guest of a lab with that many hosts.
func guestMemory(hosts int) int { return guestBase + guestPerHost*hosts }

// captureMemory is what the capture of a point takes in a guest: in the switch's
// process, in its answer, as the owner has it, and in the reply.
func captureMemory(lab *labs.Lab) int {
	if lab.Capture.Format == "" {
		return 0
	}
	const copies = 4
	return copies * int(lab.Capture.Size/units.MB)
}

// guests runs the points of a lab, each under a kernel of its own.
type guests struct {
	lab     *labs.Lab
	session *uml.Session
	kernel  uml.Kernel
}

// FindKernel says which kernel guests of a version have.
func FindKernel(version string) (string, error) {
	k, err := uml.Find(version)
	return "the TCP of Linux " + k.Release, err
}

// Open readies guests with the kernel's own stack in virtual time, and
// calibrates the lab in one of them.
func Open(ctx context.Context, lab *labs.Lab, o backend.Options) (*backend.Backend, error) {
	if err := lab.CheckReal(); err != nil {
		return nil, err
	}
	if err := testbed.CheckPrograms(lab, imageOf(lab), func(at string) error { return runs(imageOf(lab), at) }); err != nil {
		return nil, err
	}
	g, err := openGuests(lab)
	if err != nil {
		return nil, err
	}
	idle, err := g.do(ctx, lab, order{Task: taskCalibrate}, nil)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("calibrating: %w", err), g.session.Close())
	}
	o.Note(fmt.Sprintf("%d hosts, %s from Linux %s in virtual time, base RTT %v, %d guests at once of at most %d MiB each",
		lab.Topology.Hosts, lab.Spoken(), g.kernel.Release, idle.Calibration.BaseRTT.Round(time.Microsecond), o.Jobs, g.memory()))
	return &backend.Backend{
		Manifest: g.manifest(idle),
		Jobs:     o.Jobs,
		Measure:  g.measure,
		Close:    func(context.Context) error { return g.session.Close() },
	}, nil
}

func openGuests(lab *labs.Lab) (*guests, error) {
	k, err := uml.Find(lab.Host.Kernel)
	if err != nil {
		return nil, err
	}
	s, err := uml.Open(k)
	if err != nil {
		return nil, err
	}
	return &guests{lab: lab, session: s, kernel: k}, nil
}

// memory bounds a guest of the lab.
func (g *guests) memory() int {
	all := guestMemory(g.lab.Topology.Hosts) + captureMemory(g.lab)
	if len(g.lab.Programs) > 0 {
		all += guestImage
	}
	return all
}

// imageOf is the file system of a lab's programs; empty without any.
func imageOf(lab *labs.Lab) string {
	if len(lab.Programs) == 0 {
		return ""
	}
	return cmp.Or(lab.Host.RootFS, "/")
}

// do has a guest do one order with a lab, which is all that it knows.
func (g *guests) do(ctx context.Context, lab *labs.Lab, o order, watch func(step)) (reply, error) {
	yaml, err := lab.YAML()
	if err != nil {
		return reply{}, err
	}
	o.Lab = string(yaml)
	return askGuest(ctx, g.session, o, uml.Guest{
		Files:  g.lab.Files(),
		Image:  imageOf(g.lab),
		Memory: g.memory(),
		Seed:   o.Seed,
		Watch: func(text []byte) {
			var s step
			// One that cannot be read is followed by another.
			if err := json.Unmarshal(text, &s); err == nil && watch != nil {
				watch(s)
			}
		},
	})
}

// askGuest gives an order to a guest and returns its reply.
func askGuest(ctx context.Context, s *uml.Session, o order, g uml.Guest) (r reply, err error) {
	g.Args = []string{"agent", Role}
	if g.Order, err = json.Marshal(o); err != nil {
		return reply{}, err
	}
	text, err := s.Run(ctx, g)
	if err != nil {
		return reply{}, err
	}
	if err := gob.NewDecoder(bytes.NewReader(text)).Decode(&r); err != nil {
		return reply{}, fmt.Errorf("reading the guest's reply: %w", err)
	}
	return r, nil
}

// measure has a guest run a point. It is told of no other point of the lab, so that
// the result is the same whatever else there is: to read a longer lab takes
// nanoseconds more, which is enough for another course of events.
func (g *guests) measure(ctx context.Context, p backend.Point, watch func(backend.Progress)) (results.Point, error) {
	one, err := g.lab.Restricted([]string{p.Scheme}, p.Load, p.Seed)
	if err != nil {
		return results.Point{}, err
	}
	o := order{Task: taskPoint, Coord: p.Coord}
	r, err := g.do(ctx, one, o, func(s step) {
		s.Look = s.look
		watch(s.Progress)
	})
	return r.Point, err
}

func (g *guests) manifest(idle reply) results.Manifest {
	m := backend.ManifestOf(g.lab)
	m.Host = m.Host.OnGuest(g.kernel.Release)
	m.ProvidedBy(idle.Providers...)
	m.RTTBy, m.BaseRTT, m.BaseRTTs = idle.RTTBy, results.Micros(idle.Calibration.BaseRTT), idle.Calibration.RTTs
	return m
}

// KernelTest is what a guest says of itself.
type KernelTest struct {
	Kernel    uml.Kernel       `json:"kernel"`
	Took      time.Duration    `json:"took_ns"` // wall time from start to end
	Diagnosis doctor.Diagnosis `json:"diagnosis"`
}

// TryKernel boots a guest kernel, and has it look at what it has for labs. Errors
// wrap [uml.ErrUnavailable] where this machine runs none.
func TryKernel(ctx context.Context, k uml.Kernel) (KernelTest, error) {
	t := KernelTest{Kernel: k}
	s, err := uml.Open(k)
	if err != nil {
		return t, err
	}
	start := time.Now()
	r, err := askGuest(ctx, s, order{Task: taskDiagnose}, uml.Guest{Memory: guestMemory(1)})
	t.Took, t.Diagnosis = time.Since(start), r.Diagnosis
	if err != nil {
		err = fmt.Errorf("testing the guest kernel: %w", err)
	}
	return t, errors.Join(err, s.Close())
}
