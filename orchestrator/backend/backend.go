// Package backend says what a runtime is to whoever runs labs on it: a row of facts,
// and how it is opened for a lab. What all runtimes do alike is here, too: how often
// they sample, and how they record what a switch counted.
package backend

import (
	"cmp"
	"context"
	"io"
	"slices"
	"time"

	"aqmlab/collectors"
	"aqmlab/labs"
	"aqmlab/results"
	"aqmlab/switch/fabric"
	"aqmlab/trafficgen/traffic"
	"aqmlab/units"
)

// Row is a runtime: where the hosts of labs run.
type Row struct {
	Name string
	Doc  string // one line
	Facts
	// Find says what this machine has for the runtime and a lab's host.kernel, such as the
	// kernel of guests, or why it cannot run it. Nil: nothing is to be found.
	Find func(kernel string) (string, error)
	// Open readies the runtime for a lab.
	Open func(ctx context.Context, lab *labs.Lab, o Options) (*Backend, error)
}

// Facts are what labs, plans and commands need to know of a runtime.
type Facts struct {
	labs.Hosts      // what they are: models or real, containers or not
	Virtual    bool // time is virtual: nothing is late, nothing is dilated, and points run beside each other
	OwnKernel  bool // the hosts' kernel is this machine's, so that its release counts
	Stays      bool // hosts can be left up without a run
	Rootless   bool // an ordinary user may have it, as root of a user namespace
}

// First is the first row that fits, or the zero Row.
func First(rows []Row, fits func(Row) bool) Row {
	if i := slices.IndexFunc(rows, fits); i >= 0 {
		return rows[i]
	}
	return Row{}
}

// Options say how a runtime is opened.
type Options struct {
	Root string       // folder of the state of all labs; empty: this user's, see journal.Root
	Log  io.Writer    // gets what helper processes complain about, several at a time; may be nil
	Jobs int          // points to run at once where time is virtual
	Note func(string) // is told what the user should know

	Threads int // CPUs that a simulated point may have; zero is one
}

// Backend is a runtime that is ready to run the points of a lab.
type Backend struct {
	Row                       // that it was opened by
	Manifest results.Manifest // of the runs made on it
	Jobs     int              // points that may be measured at once
	// Measure runs a point, and tells watch of its progress several times a second.
	Measure func(ctx context.Context, p Point, watch func(Progress)) (results.Point, error)
	Close   func(ctx context.Context) error
}

// Point is one replay of a trace under one scheme.
type Point struct {
	results.Coord
	Flows []traffic.Flow
}

// Lasts is the wall time of the starts of a point's trace; zero in virtual time, where
// nobody knows it ahead.
func (b *Backend) Lasts(p Point) time.Duration {
	if b.Virtual {
		return 0
	}
	return time.Duration(float64(traffic.End(p.Flows)) * b.Manifest.Dilation)
}

// Progress counts the flows of a point that is going on.
type Progress struct {
	Completed int64 // every byte came
	Failed    int64 // ended otherwise
	// Look tells what the point has measured so far, which takes a moment. It is
	// good during the call that it is passed to; nil where nothing is known.
	Look func() (results.Seen, error) `json:"-"`
	// Last is what the last look found. A run looks once a second.
	Last results.Seen `json:"-"`
}

// ManifestOf is what the manifests of all runtimes have in common.
func ManifestOf(lab *labs.Lab) results.Manifest {
	version, revision := results.ThisBuild()
	m := results.Manifest{
		Version:     version,
		GitRevision: revision,
		Start:       time.Now().UTC(),
		Host:        results.ThisMachine(),
		Dilation:    1,
		Transport:   results.Transport{Name: lab.Host.Transport},
		RTTBy:       results.RTTByDelayLine,
		Lab:         lab.Name,
		Loads:       slices.Clone(lab.Workload.Load),
		Seeds:       slices.Clone(lab.Seeds),
		Baseline:    lab.Baseline,
	}
	for _, b := range lab.Background {
		m.Background = append(m.Background, b.Name)
	}
	if spec, err := lab.Fabric(lab.Schemes[0].Name, lab.Seeds[0]); err == nil {
		m.Rates = Rates(spec)
	}
	for _, s := range lab.Transports {
		m.Transports = append(m.Transports, s.Record())
	}
	for _, e := range lab.Events {
		m.Events = append(m.Events, results.Event{At: results.Micros(e.At), For: results.Micros(e.For), What: e.String()})
	}
	for _, s := range lab.Schemes {
		m.Schemes = append(m.Schemes, s.Name)
	}
	return m
}

// Counters is what a network and its hosts counted over a point. A port whose
// ingress stage held nothing, or that flow control knows nothing of, has no row of
// it; a link has one if it may lose packets.
func Counters(ports []fabric.PortCount, lost []fabric.LossCount, hosts []results.HostCount) results.Counters {
	all := results.Counters{Hosts: hosts}
	for _, p := range ports {
		for q, c := range p.Queues {
			all.Ports = append(all.Ports, results.PortCount{
				Switch: p.Switch, Port: p.Far, Queue: q,
				Enqueued: c.Enqueued, Sent: c.Sent, Marked: c.Marked, DropsFull: c.DropsFull, DropsScheme: c.DropsScheme,
				SentBytes: c.SentBytes, PeakBytes: int64(c.PeakBytes),
			})
		}
		if c := p.Ingress; c.Held > 0 {
			all.Ingress = append(all.Ingress, results.IngressCount{
				Switch: p.Switch, Port: p.Far, Held: c.Held, Released: c.Released, MarkedECE: c.MarkedECE,
				Replaced: c.Replaced, Cut: c.Cut, PeakPackets: int64(c.PeakPackets),
			})
		}
		if c := p.Pauses; c.PeakBytes > 0 {
			all.Pauses = append(all.Pauses, results.PauseCount{
				Switch: p.Switch, Port: p.Far, Stops: c.Stops, Stopped: c.Stopped, PeakBytes: int64(c.PeakBytes),
			})
		}
	}
	row := map[int]int{} // of a direction, whose two ends may be of switches that count apart
	inOrder := func(a, b fabric.LossCount) int { return cmp.Compare(a.Number, b.Number) }
	for _, l := range slices.SortedStableFunc(slices.Values(lost), inOrder) {
		i, known := row[l.Number]
		if !known {
			i = len(all.Links)
			row[l.Number] = i
			all.Links = append(all.Links, results.LinkCount{From: l.From, To: l.To})
		}
		all.Links[i].Lost += l.Packets
		all.Links[i].LostDown += l.Cut
	}
	return all
}

const (
	// samples is about how many samples of a queue a point yields, and maxSamples
	// that of all its queues together: a large network is sampled more coarsely.
	samples    = 2000
	maxSamples = 200_000
	// shortest is the least time between two samples that no lab asked for.
	shortest = 10 * time.Microsecond
	// ofPrograms is the time between samples where programs alone send, of which nobody
	// knows how long they take.
	ofPrograms = time.Millisecond
)

// SampleEvery is the lab's own interval between the samples of queues, or else
// spreads them over a trace.
func SampleEvery(lab *labs.Lab, flows []traffic.Flow, spec fabric.Spec) time.Duration {
	switch {
	case lab.Collect.Queues > 0:
		return lab.Collect.Queues
	case len(flows) == 0 && len(lab.Programs) > 0:
		return ofPrograms
	case len(flows) == 0:
		return 0
	}
	queues := (2*len(spec.Links) - len(spec.Hosts)) * spec.Port.Queues
	n := min(samples, max(1, maxSamples/max(1, queues)))
	return max(span(flows, lab.Topology.Rate)/time.Duration(n), shortest)
}

// span is the least lab time that a trace takes on links of a rate: to the last
// thing that it plans, or for all that a host has to receive or send.
func span(flows []traffic.Flow, rate units.Rate) time.Duration {
	in, out := map[int]int64{}, map[int]int64{}
	var most int64
	for _, f := range flows {
		if f.Stop > 0 { // it ends then, whatever its size
			continue
		}
		in[f.Client] += f.Bytes
		out[f.Server] += f.Bytes
		most = max(most, in[f.Client], out[f.Server])
	}
	return max(traffic.End(flows), rate.Time(int(most)))
}

// GoodputEvery is the time between two samples of what services deliver: that of
// queues, of which there are more the larger a network is.
func GoodputEvery(lab *labs.Lab, flows []traffic.Flow) time.Duration {
	if lab.Collect.Queues > 0 {
		return lab.Collect.Queues
	}
	return max(span(flows, lab.Topology.Rate)/samples, shortest)
}

// CaptureSpec is what the lab wants to be captured, or nil.
func CaptureSpec(lab *labs.Lab) *collectors.CaptureSpec {
	c := lab.Capture
	if c.Format == "" {
		return nil
	}
	return &collectors.CaptureSpec{Ports: c.Ports, Snap: int(c.Snap), Size: int(c.Size)}
}
