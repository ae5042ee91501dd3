package guests

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"aqmlab/labs"
	"aqmlab/orchestrator/backend"
	"aqmlab/orchestrator/doctor"
	"aqmlab/orchestrator/testbed"
	"aqmlab/orchestrator/uml/guest"
	"aqmlab/results"
	"aqmlab/switch/port"
	"aqmlab/trafficgen"
)

// task is what a guest is to do.
type task string

const (
	taskDiagnose  task = "diagnose"  // say what the guest has
	taskCalibrate task = "calibrate" // measure the idle lab
	taskPoint     task = "point"     // run one point
)

// order is the host's to a guest.
type order struct {
	Task task
	Lab  string // as YAML; its files are in the guest
	results.Coord
}

// reply is the guest's: what its task yields.
type reply struct {
	Diagnosis   doctor.Diagnosis
	Calibration testbed.Calibration
	Providers   []string // of the transports, by their numbers
	RTTBy       string
	Point       results.Point
}

// step is a guest's progress. The virtual time tells the host of steps between
// which no flow ended.
type step struct {
	backend.Progress
	At   time.Duration
	Seen json.RawMessage // a [results.Seen]; empty: nothing yet
}

// look is what the guest saw last.
func (s step) look() (seen results.Seen, err error) {
	if len(s.Seen) > 0 {
		err = json.Unmarshal(s.Seen, &seen)
	}
	return seen, err
}

// lookSchedule says when a guest looks at what it measures. The host passes on what it
// finds every second of wall time, which a guest knows nothing of. A look costs
// by what there is to see, so the time between two is a tenth of all before: all
// looks together cost ten times the last, however long the point.
type lookSchedule struct{ next time.Duration }

// due tells whether to look, at a time of the point.
func (l *lookSchedule) due(now time.Duration) bool {
	if now < l.next {
		return false
	}
	l.next = now + now/10
	return true
}

// Serve is the life of process 1 of a guest: it does what the host orders
// with a testbed of network namespaces, as on the host itself. The switch is
// built of kinds.
func Serve(ctx context.Context, kinds port.Kinds) error {
	return guest.Main(func(text []byte, progress func([]byte) error) ([]byte, error) {
		var o order
		if err := json.Unmarshal(text, &o); err != nil {
			return nil, fmt.Errorf("reading the order: %w", err)
		}
		r, err := o.do(ctx, kinds, progress)
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		err = gob.NewEncoder(&b).Encode(r)
		return b.Bytes(), err
	})
}

// labFile is where a guest has its lab.
const labFile = "/run/lab.yaml"

func (o order) do(ctx context.Context, kinds port.Kinds, progress func([]byte) error) (r reply, err error) {
	if o.Task == taskDiagnose {
		return reply{Diagnosis: doctor.DiagnoseKernel()}, nil
	}
	if err := os.WriteFile(labFile, []byte(o.Lab), 0o600); err != nil {
		return reply{}, err
	}
	lab, err := labs.Load(labFile, labs.Options{Kinds: kinds})
	if err != nil {
		return reply{}, err
	}
	lab.Dilation = 1 // virtual time keeps up with any lab
	options := testbed.Options{Log: os.Stderr, Virtual: true, Kinds: kinds}
	if o.Task == taskPoint && len(lab.Programs) > 0 {
		if options.Image, err = guest.Image(); err != nil {
			return reply{}, err
		}
	}
	t, err := testbed.Up(ctx, lab, options)
	if err != nil {
		return reply{}, err
	}
	r, err = o.on(ctx, t, progress)
	return r, errors.Join(err, t.Down(context.WithoutCancel(ctx)))
}

// on does a task with a testbed.
func (o order) on(ctx context.Context, t *testbed.Testbed, progress func([]byte) error) (r reply, err error) {
	if o.Task == taskCalibrate {
		r.Providers, r.RTTBy = t.Providers(), t.RTTBy()
		r.Calibration, err = t.Calibrate(ctx, func(string) {})
		return r, err
	}
	if err := t.FindOverhead(ctx); err != nil {
		return reply{}, err
	}
	flows, err := trafficgen.Trace(t.Lab().Traffic(o.Load, o.Seed))
	if err != nil {
		return reply{}, err
	}
	booted := time.Now()
	now, look := step{}, lookSchedule{}
	var told error
	p := backend.Point{Coord: o.Coord, Flows: flows}
	r.Point, err = t.Run(ctx, p, func(p backend.Progress) {
		now.Progress, now.At = p, time.Since(booted)
		var err error
		if p.Completed+p.Failed < int64(len(flows)) && look.due(now.At) {
			var seen results.Seen
			if seen, err = p.Look(); err == nil {
				now.Seen, err = json.Marshal(seen)
			}
		}
		text, merr := json.Marshal(now)
		told = errors.Join(told, err, merr, progress(text))
	})
	r.Point.Fidelity = exact(r.Point.Fidelity)
	return r, errors.Join(err, told)
}

// exact is the fidelity of a point in virtual time, in which no CPU is ever
// busy. What else makes a run low-fidelity, frames that were lost, still does.
func exact(f results.Fidelity) results.Fidelity {
	f.CPUHeadroom = 1
	if f.Label == results.FidelityOK {
		f.Label = results.FidelityExact
	}
	return f
}
