// Package labs is the lab book: it reads lab files (YAML by Viper) into
// validated labs, and carries the labs that ship with aqmlab.
package labs

import (
	"time"

	"aqmlab/kind"
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
	Seeds    []uint64
	Baseline string   // name of the scheme that the others are compared with
	Dilation Dilation // wall-clock runtimes only
}

// Source says which published experiment a lab re-runs.
type Source struct {
	Paper      string
	Experiment string
}

// Topology is the network.
type Topology struct {
	Kind  string // "star"
	Hosts int
	Rate  units.Rate // of every link
}

// RTT is the base round-trip time between any two hosts, without queueing.
type RTT struct {
	Min          time.Duration
	Max          time.Duration
	Distribution string // "fixed"
}

// Host is how the end hosts are set up.
type Host struct {
	Transport   string // dctcp, ecn-star, reno or cubic
	InitCwnd    int    // initial congestion window in segments
	RTOMin      time.Duration
	MTU         int  // network-layer bytes
	IdleRestart bool // fall back to the initial window after an idle RTO (RFC 5681, section 4.1)
}

// Switch is how every switch port is set up.
type Switch struct {
	Buffer    Buffer
	Queues    int // taken from the scheduler's queues
	Scheduler kind.Choice
	Limiter   Limiter
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

// Workload is the traffic.
type Workload struct {
	Arrival     kind.Choice
	Sizes       kind.Choice
	Pattern     string
	Load        []float64
	Flows       int
	Services    []int // weights; service i is DSCP i and queue i
	Connections int   // persistent connections opened ahead to each server
}

// Dilation is how many times slower than lab time the wall clock runs. Zero
// means auto: the smallest factor for which the machine keeps up.
type Dilation float64
