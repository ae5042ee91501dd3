// Package results has the records of what runs measured and of how they were
// made, and their statistics. It imports none of the machinery that measures. The
// packages below it store runs, compare schemes, and show both.
//
// All times are lab time.
package results

import (
	"slices"
	"time"
)

// Tags with the key parquet name the columns that stored records have; added:"later"
// marks those that the first versions did not write.

// Flow is the record of one flow (one request and its response).
type Flow struct {
	ID        int64         // index in the trace, from 0
	Start     time.Duration // when the trace wants it sent
	Sent      time.Duration // when it was sent
	FCT       time.Duration // from the request to the last byte of the response; zero when it did not complete
	Bytes     int64         // asked for, or, if it stops, sent by then
	Received  int64         // arrived; equal to Bytes when the flow completed
	Client    int32         // host that asked, and received
	Server    int32         // host that sent
	Service   int32         // service, which is its DSCP and queue
	Workload  int32         // 0 is the lab's workload, 1 the first of its background
	Transport int32         // 0 is the hosts' transport, i the i-th of [Manifest.Transports]
	Query     int64         // from 1, distinct over the trace: the flows of one query; 0: of none
	Stops     bool          // its application stops at a time that the trace gives
	Stop      time.Duration // that time; zero for a flow that does not stop, and where it is not known
	Rate      int64         // most payload that its application offers, in bit/s; zero: no limit
	Push      bool          // the server sent by itself; otherwise the client asked
	Error     string        // why it did not complete; empty when it did

	Retransmits int64 // packets sent again for it, by either host; [Unknown] where nobody counted
	Timeouts    int64 // retransmission timers that expired for it, at either host; [Unknown] where nobody counted
}

// Unknown stands for a count that was not made.
const Unknown = -1

// Completed tells whether all bytes arrived.
func (f Flow) Completed() bool { return f.Error == "" && f.Received == f.Bytes }

// QueueSample is one reading of a switch queue.
type QueueSample struct {
	At        time.Duration `parquet:"at_ns,delta,zstd"`
	Switch    string        `parquet:"switch,dict,zstd"`
	Port      string        `parquet:"port,dict,zstd"` // name of the node at the port's far end
	Queue     int32         `parquet:"queue,zstd"`
	Bytes     int64         `parquet:"queue_bytes,zstd"` // at that time; lengths count what the lab's switch.lengths says
	PeakBytes int64         `parquet:"peak_bytes,zstd"`  // largest since the sample before
	Sent      int64         `parquet:"sent_bytes,zstd"`  // network-layer bytes that left since the sample before
	Marks     int64         `parquet:"marks,zstd"`       // packets marked since the sample before
	Drops     int64         `parquet:"drops,zstd"`       // packets dropped since the sample before

	DropsScheme int64         `parquet:"scheme_drops,zstd" added:"later"`    // those of them that the scheme dropped; the others found no room
	Packets     int64         `parquet:"sent_packets,zstd" added:"later"`    // that left since the sample before
	Waited      time.Duration `parquet:"sojourn_ns,zstd" added:"later"`      // in the queue, the mean of those packets
	PeakWaited  time.Duration `parquet:"peak_sojourn_ns,zstd" added:"later"` // the longest of them
}

// EstimateSample is one measurement that a scheme made of how fast a queue drains,
// and what it made of that. Rates count what lengths do, in bit/s.
type EstimateSample struct {
	At       time.Duration `parquet:"at_ns,delta,zstd"` // end of the measurement
	Switch   string        `parquet:"switch,dict,zstd"`
	Port     string        `parquet:"port,dict,zstd"` // name of the node at the port's far end
	Queue    int32         `parquet:"queue,zstd"`
	Rate     int64         `parquet:"rate_bps,zstd"`     // of the measurement alone
	Smoothed int64         `parquet:"smoothed_bps,zstd"` // averaged with those before: what the scheme goes by
}

// ServiceSample is what the flows of a service delivered in an interval of time, those of
// each workload and transport apart.
type ServiceSample struct {
	At      time.Duration `parquet:"at_ns,delta,zstd"`       // end of the interval
	Over    time.Duration `parquet:"interval_ns,delta,zstd"` // its length
	Service int32         `parquet:"service,dict,zstd"`
	Bytes   int64         `parquet:"bytes,delta,zstd"` // payload that reached the hosts that receive it, above zero

	Workload  int32 `parquet:"workload,dict,zstd" added:"later"`  // as [Flow.Workload]
	Transport int32 `parquet:"transport,dict,zstd" added:"later"` // as [Flow.Transport]
}

// SenderSample is what the sender of a flow that is under way knows at a time.
type SenderSample struct {
	At       time.Duration
	Flow     int64         // id
	Cwnd     int64         // congestion window in bytes; zero: it has a rate in its place
	SSThresh int64         // slow-start threshold in bytes; zero: slow start has not ended yet
	SRTT     time.Duration // smoothed round-trip time; zero: not measured
	Alpha    float64       // estimated share of marked packets (DCTCP, Prague, DCQCN), 0 to 1; [Unknown] for others, or where it cannot be read
	Rate     int64         // bits a second of a sender that has a rate (DCQCN), and of payload of one that paces its window; zero for others
}

// ProbeSample is one packet that a probe of the lab sent, and its answer.
type ProbeSample struct {
	Probe string        // name of the probe
	At    time.Duration // when it was sent
	RTT   time.Duration // until the answer was back; zero when it was lost
	Lost  bool          // no answer came
}

// PortCount adds up one queue of one port over a run.
type PortCount struct {
	Switch      string `json:"switch"`
	Port        string `json:"port"` // name of the node at the port's far end
	Queue       int    `json:"queue"`
	Enqueued    int64  `json:"enqueued"` // packets
	Sent        int64  `json:"sent"`
	Marked      int64  `json:"marked"`
	DropsFull   int64  `json:"drops_full"`   // no room in the buffer
	DropsScheme int64  `json:"drops_scheme"` // the scheme said so
	SentBytes   int64  `json:"sent_bytes"`   // network-layer bytes
	PeakBytes   int64  `json:"peak_bytes"`
}

// ClassCount adds up what became of the packets of one DSCP in one queue of one port over
// a run, of labs that ask for it. Sojourn times are of those that were sent.
type ClassCount struct {
	Switch      string        `json:"switch"`
	Port        string        `json:"port"` // name of the node at the port's far end
	Queue       int           `json:"queue"`
	DSCP        int           `json:"dscp"`
	Sent        int64         `json:"sent"`         // packets
	SentBytes   int64         `json:"sent_bytes"`   // of the network layer
	Marked      int64         `json:"marked"`       // of those sent, by this port
	DropsFull   int64         `json:"drops_full"`   // no room in the buffer
	DropsScheme int64         `json:"drops_scheme"` // the scheme said so
	Waited      time.Duration `json:"sojourn_ns"`   // all together
	Longest     time.Duration `json:"longest_sojourn_ns"`
}

// DelayCount is how many packets of one DSCP waited about as long in one queue of one
// port, of labs that ask for it: at most UpTo, and longer than the row before it says. A
// time is a 32nd of itself too long at most, and never too short.
type DelayCount struct {
	Switch  string        `parquet:"switch,dict,zstd"`
	Port    string        `parquet:"port,dict,zstd"` // name of the node at the port's far end
	Queue   int32         `parquet:"queue,zstd"`
	DSCP    int32         `parquet:"dscp,zstd"`
	UpTo    time.Duration `parquet:"sojourn_ns,delta,zstd"`
	Packets int64         `parquet:"packets,zstd"`
}

// IngressCount adds up what the ingress stage of one port did with ACKs over a
// run (ABQ). A port without such a stage has none.
type IngressCount struct {
	Switch      string `json:"switch"`
	Port        string `json:"port"`
	Held        int64  `json:"held"` // packets
	Released    int64  `json:"released"`
	MarkedECE   int64  `json:"marked_ece"`         // released with ECE set by the stage
	Replaced    int64  `json:"replaced,omitempty"` // gave way to a later ACK of their flow
	Cut         int64  `json:"cut,omitempty"`      // times that a window was cut
	PeakPackets int64  `json:"peak_packets"`
}

// PauseCount adds up what flow control (PFC) did to the node at the far end of one
// port over a run.
type PauseCount struct {
	Switch    string        `json:"switch"`
	Port      string        `json:"port"`       // that node
	Stops     int64         `json:"stops"`      // times that it was told to stop
	Stopped   time.Duration `json:"stopped_ns"` // between those and the words to go on
	PeakBytes int64         `json:"peak_bytes"` // most of what came from it that the switch held
}

// LinkCount adds up what one direction of a link, which its topology or an event makes
// lose packets, did over a run.
type LinkCount struct {
	From     string `json:"from"` // names of nodes
	To       string `json:"to"`
	Lost     int64  `json:"lost"`                // packets, by chance
	LostDown int64  `json:"lost_down,omitempty"` // packets that were on it when it went down, or were sent while it was
}

// HostCount adds up one host's kernel counters over a run.
type HostCount struct {
	Host        string `json:"host"`
	Timeouts    int64  `json:"timeouts"`     // retransmission timeouts (TCPTimeouts)
	Retransmits int64  `json:"retransmits"`  // segments retransmitted (RetransSegs)
	CEReceived  int64  `json:"ce_received"`  // packets received with CE (InCEPkts)
	ECEReceived int64  `json:"ece_received"` // packets that the host's senders learned were marked (TCPDeliveredCE)
}

// Counters are what was counted of a point from its begin to its end.
type Counters struct {
	Ports   []PortCount    `json:"ports"`
	Classes []ClassCount   `json:"classes,omitempty"` // of labs that ask for them
	Ingress []IngressCount `json:"ingress,omitempty"`
	Pauses  []PauseCount   `json:"pauses,omitempty"` // of networks with flow control
	Links   []LinkCount    `json:"links,omitempty"`  // those that may lose packets
	Hosts   []HostCount    `json:"hosts"`
}

// Labels of a run's fidelity.
const (
	FidelityOK    = "ok"
	FidelityLow   = "low-fidelity"
	FidelityExact = "exact" // virtual time
	FidelityOther = "other" // another simulator's: it is not for us to say
)

// Fidelity says how exactly a wall-clock run kept lab time. Times are lab
// time.
type Fidelity struct {
	Label       string   `json:"label"`
	LatenessP50 Micros   `json:"lateness_p50_us"`
	LatenessP99 Micros   `json:"lateness_p99_us"`
	LatenessMax Micros   `json:"lateness_max_us"`
	ShareOfRTT  float64  `json:"lateness_share_of_rtt"` // p99 lateness over the base RTT
	EdgeDrops   int64    `json:"edge_drops"`            // frames lost between kernel and switch
	Clamped     int64    `json:"clamped"`               // arrivals seen after a later event had run
	CPUHeadroom float64  `json:"cpu_headroom"`          // idle share of the busiest of switch and host CPUs
	Reasons     []string `json:"reasons,omitempty"`     // why the label is low-fidelity
	Clocks      []Clock  `json:"clocks,omitempty"`      // of the machines beside the first, where there are several
}

// Clock is how a machine's clock stood to that of the first machine. Times are wall time.
type Clock struct {
	Machine string        `json:"machine"`
	Ahead   time.Duration `json:"ahead_ns"` // by which its times were corrected
	Bound   Micros        `json:"bound_us"` // how wrong that was at most
	Drift   Micros        `json:"drift_us"` // how much it moved in the course of the point
}

// Off is how far the clock may have been off at most.
func (c Clock) Off() time.Duration {
	drift := time.Duration(c.Drift)
	return time.Duration(c.Bound) + max(drift, -drift)
}

// Low tells whether the run is labelled low-fidelity.
func (f Fidelity) Low() bool { return f.Label == FidelityLow }

// Foreign tells whether another simulator measured the point: nothing but its flows is known.
func (p Point) Foreign() bool { return p.Fidelity.Label == FidelityOther }

// WorstOf returns the less faithful of two: low-fidelity before ok before
// other before exact, and of one label the later one.
func WorstOf(a, b Fidelity) Fidelity {
	severity := func(f Fidelity) int {
		return slices.Index([]string{FidelityExact, FidelityOther, FidelityOK, FidelityLow}, f.Label)
	}
	if d := severity(b) - severity(a); d > 0 || d == 0 && b.LatenessP99 > a.LatenessP99 {
		return b
	}
	return a
}

// Capture is a file of the format pcapng, of packets at ports of switches. Times
// are lab time.
type Capture struct {
	Chunks  [][]byte // of the file, one after another
	Packets int64    // in it
	LeftOut int64    // that found it full
}

// Point is everything measured at one scheme, load and seed.
type Point struct {
	Coord
	Flows     []Flow
	Queues    []QueueSample
	Probes    []ProbeSample    // by probe, in the order of sending
	Senders   []SenderSample   // in the order of time; of labs that ask for it
	Estimates []EstimateSample // in the order of time; of labs that ask for it
	Services  []ServiceSample  // in the order of time, then of services, workloads and transports
	Delays    []DelayCount     // by port, queue, DSCP and time; of labs that ask for them
	Programs  []Program        // in the order of the lab
	Figures   []ProgramSample  // that programs measured themselves; by program, in the order of their output
	Outputs   []ProgramFile    // what they wrote
	Counters
	Fidelity Fidelity
	Capture  Capture // no chunks: nothing was captured
}
