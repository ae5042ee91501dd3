// Package labs is the lab book: it reads lab files (YAML by Viper) into
// validated labs, and carries the labs that ship with aqmlab.
package labs

import (
	"time"

	"aqmlab/kind"
	"aqmlab/switch/fabric"
	"aqmlab/switch/port"
	"aqmlab/units"
)

// Lab is one experiment, validated and with every default filled in. Times and
// rates are lab time.
type Lab struct {
	Name     string
	Title    string
	Source   Source
	Topology Topology
	RTT      RTT
	Host     Host
	Switch   Switch
	Schemes  []Scheme
	Workload Workload
	// Background is more traffic, beside the workload.
	Background []Background
	Probe      Probe
	Collect    Collect
	Capture    Capture
	Seeds      []uint64
	Baseline   string   // name of the scheme that the others are compared with
	Dilation   Dilation // wall-clock runtimes only
	// Kinds is what its switches can be built of: its schedulers and schemes are
	// rows of it.
	Kinds port.Kinds
}

// Source says which published experiment a lab re-runs.
type Source struct {
	Paper      string
	Experiment string
}

// Topology is the network: a kind of [Topologies] with its parameters, and what
// every kind has.
type Topology struct {
	Kind      string
	Params    map[string]any
	Hosts     int           // all of them; given for a star, derived for other kinds
	Rate      units.Rate    // of the links of hosts
	LinkDelay time.Duration // one way, of every link that says none of its own; zero: as [RTT] has it

	laid *Layout // of the kind that stands in a file: what was in it when the lab was loaded
}

// RTT is the base round-trip time, without queueing and transmission, between
// the hosts that are furthest apart. What a flow has above Min is added where
// its data is sent. Thresholds that a scheme computes from the base RTT take
// Min.
type RTT struct {
	Min          time.Duration
	Max          time.Duration
	Base         string      // what has Min as its delay: "links", all alike, or "hosts", their links alone; empty with a link delay
	Distribution kind.Choice // one of [RTTs]
	Per          string      // whose RTT is drawn: "host" or "flow"; empty when fixed
	At           string      // where it is added: "sender"; empty when fixed
	By           string      // what holds packets back for it: [ByAny], [ByNetem] or [ByDelayLine]; empty when fixed
}

// Host is how the end hosts are set up.
type Host struct {
	Transport       string         // one of [transport.Table]
	TransportParams map[string]any // what the lab sets of its parameters
	InitCwnd        int            // initial congestion window in segments
	RTOMin          time.Duration
	MTU             int    // network-layer bytes
	IdleRestart     bool   // fall back towards the initial window after an idle RTO (RFC 2861; RFC 5681, section 4.1)
	Port            string // what it sends by: HostNIC or HostSwitchPort
	Container       Container

	// What follows is for modelled hosts; see [Lab.Unsupported].

	RTOInitial time.Duration // before the first measurement of the RTT
	RTOMax     time.Duration // bound of the backoff
	DelayedACK int           // full segments that one ACK answers; 1: every segment
	ACKTimeout time.Duration // longest wait of an ACK for another segment

	LossRecovery string        // how losses are found: RecoverRACK or RecoverSACK
	Stack        string        // what is done around the transport: StackLinux or StackPlain
	SmallQueue   time.Duration // longest that what a connection sends may wait for its host's link; zero: any
}

// Switch is how every switch port is set up.
type Switch struct {
	Buffer    Buffer
	Queues    int // taken from the scheduler's queues
	Scheduler kind.Choice
	Limiter   Limiter
	Pause     fabric.Pause // flow control; zero: off
}

// Buffer is the packet memory of a switch. Sizes that its sharing does not use
// are zero.
type Buffer struct {
	Sharing  string     // one of [port.Sharings]
	PerPort  units.Size // of port: the buffer that all queues of a port share
	PerQueue units.Size // of static: the limit of every queue
	Pool     units.Size // of pool and dynamic: the buffer that all ports of the switch share
	Alpha    float64    // of dynamic: a queue's limit over the free bytes of the pool
}

// Limiter is the egress token bucket. A rate fraction of 1 turns it off.
type Limiter struct {
	RateFraction float64
	Bucket       units.Size
}

// Scheme is one contender, under a name: what the output queues do, and what
// the ingress side does. Each is a kind and its parameters.
type Scheme struct {
	Name    string
	AQM     kind.Choice
	Ingress kind.Choice // without a kind, every packet passes the ingress side at once
}

// Dilation is how many times slower than lab time the wall clock runs. Zero
// means auto: the smallest factor for which the machine keeps up.
type Dilation float64
