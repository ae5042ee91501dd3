package orchestrator

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"time"

	"aqmlab/labs"
	"aqmlab/orchestrator/uml"
	"aqmlab/results"
	"aqmlab/units"
)

// GuestRole is what this program is as process 1 of a guest: "agent" and this
// are its arguments there.
const GuestRole = "guest"

// What a guest may use of memory, in MiB.
const (
	guestBase    = 192 // kernel, helper processes, what a point measures
	guestPerHost = 24  // receive ring, sockets and their packets
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

// runGuests runs the points on the kernel's own stack in virtual time, several
// at once, and stores them in the order of the plan.
func runGuests(ctx context.Context, lab *labs.Lab, points []point, o RunOptions) (run *results.Run, err error) {
	g, err := openGuests(lab)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.session.Close()) }()
	idle, err := g.do(ctx, lab, order{Task: taskCalibrate}, nil)
	if err != nil {
		return nil, fmt.Errorf("calibrating: %w", err)
	}
	jobs := o.Jobs
	if jobs == 0 {
		jobs = runtime.NumCPU()
	}
	jobs = min(jobs, len(points))
	o.Watcher.Note(fmt.Sprintf("%d hosts, %s from Linux %s in virtual time, base RTT %v, %d guests at once of at most %d MiB each",
		lab.Topology.Hosts, lab.Host.Transport, g.kernel.Release, idle.Calibration.BaseRTT.Round(time.Microsecond), jobs, guestMemory(lab.Topology.Hosts)))
	return store(lab, g.manifest(idle), o, func(w Watcher, add func(results.Point) error) error {
		watcher := &oneByOne{Watcher: w}
		return inOrder(ctx, jobs, len(points), func(ctx context.Context, i int) (results.Point, error) {
			return g.runOne(ctx, points[i], name(points, i, instant), watcher)
		}, add)
	})
}

func openGuests(lab *labs.Lab) (*guests, error) {
	k, err := uml.Find()
	if err != nil {
		return nil, err
	}
	s, err := uml.Open(k)
	if err != nil {
		return nil, err
	}
	return &guests{lab: lab, session: s, kernel: k}, nil
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
		Memory: guestMemory(g.lab.Topology.Hosts) + captureMemory(g.lab),
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
	g.Args = []string{"agent", GuestRole}
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

// runOne runs a point in the watcher's sight. Its guest is told of no other point
// of the lab, so that the result is the same whatever else there is: to read a
// longer lab takes nanoseconds more, which is enough for another course of events.
func (g *guests) runOne(ctx context.Context, p point, named Point, w Watcher) (results.Point, error) {
	w.Begin(named)
	one, err := g.lab.Restricted([]string{p.scheme}, p.load, p.seed)
	if err != nil {
		return results.Point{}, err
	}
	o := order{Task: taskPoint, Scheme: p.scheme, Load: p.load, Seed: p.seed}
	r, err := g.do(ctx, one, o, func(s step) {
		s.Look = s.look
		w.Progress(named, s.Progress)
	})
	if err != nil {
		return results.Point{}, fmt.Errorf("running %s at load %v, seed %d: %w", p.scheme, p.load, p.seed, err)
	}
	w.End(named, r.Point)
	return r.Point, nil
}

func (g *guests) manifest(idle reply) results.Manifest {
	m := manifest(g.lab)
	m.Runtime = string(UML)
	m.Dilation = 1
	m.Host.Kernel = fmt.Sprintf("%s (guest, User-Mode Linux) on %s", g.kernel.Release, m.Host.Kernel)
	m.Transport.Provider = idle.Provider
	m.RTTBy, m.BaseRTT, m.BaseRTTs = idle.RTTBy, results.Micros(idle.Calibration.BaseRTT), idle.Calibration.RTTs
	return m
}

// KernelTest is what a guest says of itself.
type KernelTest struct {
	Kernel    uml.Kernel    `json:"kernel"`
	Took      time.Duration `json:"took_ns"` // wall time from start to end
	Diagnosis Diagnosis     `json:"diagnosis"`
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
