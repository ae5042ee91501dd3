package store

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"aqmlab/results"
)

// record is point.json: all of a point but its flows and samples. It is written
// last.
type record struct {
	results.PointInfo
	Samples   int                    `json:"samples"`             // rows of series.parquet
	Goodput   int                    `json:"goodput,omitempty"`   // rows of goodput.parquet
	Senders   int                    `json:"senders,omitempty"`   // rows of senders.parquet
	Estimates int                    `json:"estimates,omitempty"` // rows of estimates.parquet
	Delays    int                    `json:"delays,omitempty"`    // rows of delays.parquet
	Probes    []results.ProbeSummary `json:"probes,omitempty"`    // what is in probes.parquet
	Programs  int                    `json:"programs,omitempty"`  // rows of programs.parquet
	Figures   int                    `json:"figures,omitempty"`   // rows of figures.parquet
	results.Counters
	Capture *captured `json:"capture,omitempty"` // what is in capture.pcapng
}

// captured sums up a [Capture].
type captured struct {
	Packets int64 `json:"packets"`
	LeftOut int64 `json:"left_out"`
}

func writePoint(dir string, p results.Point) error {
	to := folder{dir, make(map[string]string)}
	err := cmp.Or(
		flowTable().write(to, p.Coord, p.Flows),
		queueTable().write(to, p.Coord, p.Queues),
		serviceTable().write(to, p.Coord, p.Services),
		probeTable().write(to, p.Coord, p.Probes),
		senderTable().write(to, p.Coord, p.Senders),
		estimateTable().write(to, p.Coord, p.Estimates),
		delayTable().write(to, p.Coord, p.Delays),
		programTable().write(to, p.Coord, p.Programs),
		figureTable().write(to, p.Coord, p.Figures),
	)
	if err != nil {
		return err
	}
	r := record{
		PointInfo: results.InfoOf(p), Samples: len(p.Queues), Goodput: len(p.Services), Senders: len(p.Senders), Estimates: len(p.Estimates), Delays: len(p.Delays),
		Probes: results.SummarizeProbes(p.Probes), Programs: len(p.Programs), Figures: len(p.Figures), Counters: p.Counters,
	}
	for _, o := range p.Outputs {
		if err := to.write(o.Name, contents(o.Text)); err != nil {
			return err
		}
	}
	if len(p.Capture.Chunks) > 0 {
		if err := to.write(captureFile, contents(slices.Concat(p.Capture.Chunks...))); err != nil {
			return err
		}
		r.Capture = &captured{p.Capture.Packets, p.Capture.LeftOut}
	}
	text, err := asJSON(r)
	if err != nil {
		return err
	}
	return cmp.Or(to.write(pointFile, contents(text)), to.writeSums())
}

// Point is a point on disk. Its records are read on demand.
type Point struct {
	record
	folder
}

func openPoint(dir string) (Point, error) {
	f, err := openFolder(dir)
	p := Point{folder: f}
	if err == nil {
		err = f.readJSON(pointFile, &p.record)
	}
	if err == nil && (p.Scheme == "" || min(p.Flows, p.Completed, p.Samples, p.Goodput, p.Senders, p.Estimates, p.Delays, p.Programs, p.Figures) < 0) {
		err = damaged(f.path(pointFile), errors.New("it does not say which point it is, or how much was measured"))
	}
	if err != nil {
		return Point{}, fmt.Errorf("opening point %s: %w", filepath.Base(dir), err)
	}
	return p, nil
}

// Path is the folder of the point.
func (s Point) Path() string { return s.dir }

// Read reads the whole point but for its capture and what programs wrote. The error names the file that is damaged.
func (s Point) Read() (results.Point, error) {
	p, err := s.ReadFlows()
	queues, qerr := s.ReadQueues()
	services, verr := s.ReadServices()
	senders, serr := s.ReadSenders()
	estimates, eerr := s.ReadEstimates()
	delays, derr := s.ReadDelays()
	p.Queues, p.Services, p.Senders, p.Estimates, p.Delays = queues, services, senders, estimates, delays
	return p, errors.Join(err, qerr, verr, serr, eerr, derr)
}

// ReadFlows reads the point without its samples of queues, services and senders and
// without estimates and delays, which are many times larger than all the rest, without its capture
// and what programs wrote.
func (s Point) ReadFlows() (p results.Point, err error) {
	p = results.Point{Coord: s.Coord, Counters: s.Counters, Fidelity: s.Fidelity}
	if p.Flows, err = flowTable().read(s.folder, s.Flows); err != nil {
		return p, err
	}
	sent := 0
	for _, probe := range s.Probes {
		sent += probe.Sent
	}
	if p.Probes, err = probeTable().read(s.folder, sent); err != nil {
		return p, err
	}
	if p.Programs, err = programTable().read(s.folder, s.record.Programs); err != nil {
		return p, err
	}
	p.Figures, err = figureTable().read(s.folder, s.record.Figures)
	return p, err
}

// ReadQueues reads the samples of queues.
func (s Point) ReadQueues() ([]results.QueueSample, error) {
	return queueTable().read(s.folder, s.Samples)
}

// ReadServices reads what services delivered over time. Points that were measured
// by versions before this was have nothing.
func (s Point) ReadServices() ([]results.ServiceSample, error) {
	return serviceTable().read(s.folder, s.Goodput)
}

// ReadSenders reads the samples of senders, of which most points have none.
func (s Point) ReadSenders() ([]results.SenderSample, error) {
	return senderTable().read(s.folder, s.Senders)
}

// ReadDelays reads how many packets waited how long, of points of labs that ask for it.
func (s Point) ReadDelays() ([]results.DelayCount, error) {
	return delayTable().read(s.folder, s.Delays)
}

// ReadEstimates reads what the schemes of the point estimated, of which most points
// have kept nothing.
func (s Point) ReadEstimates() ([]results.EstimateSample, error) {
	return estimateTable().read(s.folder, s.Estimates)
}
