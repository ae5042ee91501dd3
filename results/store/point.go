package store

import (
	"aqmlab/results"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
)

// pointRecord is point.json: all of a point but its flows and samples. It is
// written last.
type pointRecord struct {
	results.PointInfo
	Samples   int                    `json:"samples"`             // rows of series.parquet
	Goodput   int                    `json:"goodput,omitempty"`   // rows of goodput.parquet
	Senders   int                    `json:"senders,omitempty"`   // rows of senders.parquet
	Estimates int                    `json:"estimates,omitempty"` // rows of estimates.parquet
	Probes    []results.ProbeSummary `json:"probes,omitempty"`    // what is in probes.parquet
	Ports     []results.PortCount    `json:"ports"`
	Ingress   []results.IngressCount `json:"ingress,omitempty"`
	Pauses    []results.PauseCount   `json:"pauses,omitempty"`
	Links     []results.LinkCount    `json:"links,omitempty"`
	Hosts     []results.HostCount    `json:"hosts"`
	Capture   *captured              `json:"capture,omitempty"` // what is in capture.pcapng
}

// captured sums up a [Capture].
type captured struct {
	Packets int64 `json:"packets"`
	LeftOut int64 `json:"left_out"`
}

func writePoint(dir string, p results.Point) error {
	if err := writeParquet(filepath.Join(dir, flowsFile), flowRows(p)); err != nil {
		return err
	}
	if err := writeParquet(filepath.Join(dir, seriesFile), queueRows(p)); err != nil {
		return err
	}
	if len(p.Services) > 0 {
		if err := writeParquet(filepath.Join(dir, goodputFile), serviceSampleRows(p)); err != nil {
			return err
		}
	}
	if len(p.Probes) > 0 {
		if err := writeParquet(filepath.Join(dir, probesFile), probeRows(p)); err != nil {
			return err
		}
	}
	if len(p.Senders) > 0 {
		if err := writeParquet(filepath.Join(dir, sendersFile), senderRows(p)); err != nil {
			return err
		}
	}
	if len(p.Estimates) > 0 {
		if err := writeParquet(filepath.Join(dir, estimatesFile), estimateRows(p)); err != nil {
			return err
		}
	}
	r := pointRecord{
		PointInfo: results.InfoOf(p), Samples: len(p.Queues), Goodput: len(p.Services), Senders: len(p.Senders), Estimates: len(p.Estimates), Probes: results.SummarizeProbes(p.Probes),
		Ports: p.Ports, Ingress: p.Ingress, Pauses: p.Pauses, Links: p.Links, Hosts: p.Hosts,
	}
	if len(p.Capture.Chunks) > 0 {
		if err := writeFile(filepath.Join(dir, captureFile), slices.Concat(p.Capture.Chunks...)); err != nil {
			return err
		}
		r.Capture = &captured{p.Capture.Packets, p.Capture.LeftOut}
	}
	return writeJSON(filepath.Join(dir, pointFile), r)
}

// Point is a point on disk. Its records are read on demand.
type Point struct {
	results.PointInfo
	Ports   []results.PortCount
	Ingress []results.IngressCount
	Pauses  []results.PauseCount
	Links   []results.LinkCount
	Hosts   []results.HostCount
	Probes  []results.ProbeSummary

	dir       string
	samples   int
	senders   int
	goodput   int
	estimates int
}

func openPoint(dir string) (Point, error) {
	var r pointRecord
	if err := readJSON(filepath.Join(dir, pointFile), &r); err != nil {
		return Point{}, fmt.Errorf("opening point %s: %w", filepath.Base(dir), err)
	}
	return Point{r.PointInfo, r.Ports, r.Ingress, r.Pauses, r.Links, r.Hosts, r.Probes, dir, r.Samples, r.Senders, r.Goodput, r.Estimates}, nil
}

// Read reads the whole point but for its capture. The error names the file that is damaged.
func (s Point) Read() (results.Point, error) {
	p, err := s.ReadFlows()
	queues, qerr := s.ReadQueues()
	p.Queues = queues
	senders, serr := s.ReadSenders()
	p.Senders = senders
	estimates, eerr := s.ReadEstimates()
	p.Estimates = estimates
	services, gerr := s.ReadServices()
	p.Services = services
	return p, errors.Join(err, qerr, serr, eerr, gerr)
}

// ReadFlows reads the point without its samples of queues, services and senders and
// without estimates, which are many times larger than all the rest, and without its capture.
func (s Point) ReadFlows() (results.Point, error) {
	p := results.Point{Coord: s.Coord, Ports: s.Ports, Ingress: s.Ingress, Pauses: s.Pauses, Links: s.Links, Hosts: s.Hosts, Fidelity: s.Fidelity}
	rows, err := readParquet[flowRow](filepath.Join(s.dir, flowsFile), s.Flows)
	if err != nil {
		return p, err
	}
	p.Flows = make([]results.Flow, len(rows))
	for i, r := range rows {
		p.Flows[i] = r.flow()
	}
	p.Probes, err = s.readProbes()
	return p, err
}

// readProbes reads what the probes of the point measured, if it has any.
func (s Point) readProbes() ([]results.ProbeSample, error) {
	sent := 0
	for _, p := range s.Probes {
		sent += p.Sent
	}
	if sent == 0 {
		return nil, nil
	}
	rows, err := readParquet[probeRow](filepath.Join(s.dir, probesFile), sent)
	if err != nil {
		return nil, err
	}
	samples := make([]results.ProbeSample, len(rows))
	for i, r := range rows {
		samples[i] = r.sample()
	}
	return samples, nil
}

// ReadQueues reads the queue samples.
func (s Point) ReadQueues() ([]results.QueueSample, error) {
	rows, err := readParquet[queueRow](filepath.Join(s.dir, seriesFile), s.samples)
	if err != nil {
		return nil, err
	}
	samples := make([]results.QueueSample, len(rows))
	for i, r := range rows {
		samples[i] = r.sample()
	}
	return samples, nil
}
