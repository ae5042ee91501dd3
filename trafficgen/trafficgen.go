// Package trafficgen turns a workload and a seed into the ordered list of
// flows that every scheme and every runtime replays.
package trafficgen

import (
	"time"

	"aqmlab/kind"
	"aqmlab/units"
)

// Flow is one request: at Start the client asks the server for Bytes.
type Flow struct {
	ID      int           // index in the trace
	Start   time.Duration // lab time
	Client  int           // index of the host that asks and receives
	Server  int           // index of the host that sends
	Bytes   int64         // payload, at least 1
	Service int           // DSCP and queue of the response
}

// Spec says which flows to draw. It is plain data.
type Spec struct {
	Hosts    int
	Rate     units.Rate // capacity C of the bottleneck link
	Load     float64    // offered payload bytes over C, in (0, 1]
	Flows    int        // how many
	Sizes    kind.Choice
	Arrival  kind.Choice
	Pattern  string // who asks whom
	Services []int  // weight of each service; a flow picks one at random
	Seed     uint64
}
