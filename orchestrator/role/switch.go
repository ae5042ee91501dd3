package role

import (
	"errors"
	"sync"
	"time"

	"aqmlab/collectors"
	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/netns"
	"aqmlab/results"
	"aqmlab/switch/fabric"
	"aqmlab/switch/port"
	"aqmlab/switch/wire"
)

// Switch is the service of the switch's process, which runs in the switch's
// namespace.
type Switch struct {
	// What its ports are built of, and where its interfaces are: empty for the namespace
	// of the process. Neither is to be changed once it is open.
	Kinds     port.Kinds
	Namespace string

	mu        sync.Mutex
	sw        *wire.Switch
	session   *wire.Session
	queues    *collectors.Queues
	estimates *collectors.Estimates
	delays    *collectors.Delays
	capture   *collectors.Capture // nil: none
	live      *collectors.Live    // nil: none
	steerings []*host.Steering    // see Near

	uplinks // of hosts in namespaces
}

var (
	errNotOpen    = errors.New("the switch has no interfaces yet")
	errOpen       = errors.New("the switch has its interfaces already")
	errRunning    = errors.New("the switch is running")
	errNotRunning = errors.New("the switch is not running")
)

// Open attaches the switch to its interfaces.
func (s *Switch) Open(c wire.Config, _ *agent.Nothing) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sw != nil {
		return errOpen
	}
	open := func() (err error) {
		s.sw, err = wire.Open(c, s.Kinds)
		return err
	}
	if s.Namespace == "" {
		return open() // calls arrive on any thread; all of them are in the process's namespace
	}
	return netns.Do(s.Namespace, open)
}

// Fabric is what a switch runs.
type Fabric struct {
	Spec      fabric.Spec
	Dilation  float64
	Sample    time.Duration           // lab time between two samples of the queues; zero: none
	Estimates bool                    // keep what schemes estimate
	Delays    bool                    // count how long packets wait, by queue and DSCP
	Capture   *collectors.CaptureSpec // nil: nothing is captured
	Live      bool                    // [Switch.Look] may be called; not with Capture
}

// Start runs a fabric until Finish.
func (s *Switch) Start(f Fabric, _ *agent.Nothing) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.rests(); err != nil {
		return err
	}
	s.queues, s.estimates, s.delays = collectors.NewQueues(f.Sample), new(collectors.Estimates), new(collectors.Delays)
	var attach []fabric.Collector
	if f.Sample > 0 {
		attach = append(attach, s.queues)
	}
	if f.Estimates {
		attach = append(attach, s.estimates)
	}
	if f.Delays {
		attach = append(attach, s.delays)
	}
	s.capture = nil
	if f.Capture != nil {
		s.capture = collectors.NewCapture(*f.Capture, f.Spec.Hosts, nil) // frames are real
		attach = append(attach, s.capture)
	}
	s.live = nil
	if f.Live {
		s.live = &collectors.Live{}
		attach = append(attach, s.live)
	}
	session, err := s.sw.Start(f.Spec, f.Dilation, attach...)
	if err != nil {
		return err
	}
	s.session = session
	return nil
}

// rests wants the switch to have its interfaces, and not to run. The caller has the lock.
func (s *Switch) rests() error {
	switch {
	case s.sw == nil:
		return errNotOpen
	case s.session != nil:
		return errRunning
	}
	return nil
}

// Begin begins the timeline of the running fabric, see [wire.Session.Begin].
func (s *Switch) Begin(zero int64, _ *agent.Nothing) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session == nil {
		return errNotRunning
	}
	s.session.Begin(zero)
	return nil
}

// Measured is what a switch saw between Start and Finish.
type Measured struct {
	wire.Report
	Queues    []results.QueueSample    // times count from the report's start
	Estimates []results.EstimateSample // the same
	Capture   results.Capture          // the same
	Classes   []results.ClassCount     // by port, queue and DSCP
	Delays    []results.DelayCount     // the same, and then by time
}

// Recent returns the samples of the running fabric's queues from the given one
// on. Times count from its start.
func (s *Switch) Recent(from int, samples *[]results.QueueSample) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session == nil {
		return errNotRunning
	}
	if all := s.queues.Samples(); from < len(all) {
		*samples = all[from:]
	}
	return nil
}

// Finish ends the running fabric.
func (s *Switch) Finish(_ agent.Nothing, m *Measured) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session == nil {
		return errNotRunning
	}
	report, err := s.session.Stop()
	s.session = nil
	if err != nil {
		return err
	}
	*m = Measured{Report: report, Queues: s.queues.Samples(), Estimates: s.estimates.End()}
	m.Classes, m.Delays = s.delays.End()
	if s.capture != nil {
		m.Capture, s.capture = s.capture.End(), nil
	}
	return nil
}

// Close ends what runs and closes the interfaces. Closing twice is no error.
func (s *Switch) Close() error {
	s.closeRates()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session != nil {
		_, _ = s.session.Stop() // nobody asks for the report any more
		s.session = nil
	}
	var errs []error
	for _, steering := range s.steerings {
		errs = append(errs, steering.Close())
	}
	s.steerings = nil
	if s.sw == nil {
		return errors.Join(errs...)
	}
	sw := s.sw
	s.sw = nil
	return errors.Join(append(errs, sw.Close())...)
}
