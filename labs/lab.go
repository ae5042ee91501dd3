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

// Buffer is a port's packet memory.
type Buffer struct {
	PerPort units.Size
	Sharing string // "port": all queues of the port share it, first come, first served
}

// Limiter is the egress token bucket. A rate fraction of 1 turns it off.
type Limiter struct {
	RateFraction float64
	Bucket       units.Size
}

// Scheme is one contender: an AQM kind and its parameters, under a name.
type Scheme struct {
	Name string
	AQM  kind.Choice
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
