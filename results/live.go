package results

import (
	"math"
	"time"
)

// Live is how far a run is that is being made. Its maker rewrites it in the
// run's folder about once a second.
type Live struct {
	At     time.Time   `json:"at"`     // wall-clock time of this state
	Of     int         `json:"of"`     // points in all
	Points []LivePoint `json:"points"` // that have begun, in that order
}

// LivePoint is one point of a run that is being made.
type LivePoint struct {
	Coord
	Number    int   `json:"number"` // from 1
	Flows     int   `json:"flows"`  // in its trace
	Completed int64 `json:"completed"`
	Failed    int64 `json:"failed"` // ended otherwise
	Done      bool  `json:"done"`
	Seen
}

// Seen is what a point has measured so far.
type Seen struct {
	FCT   map[Class]FCT `json:"fct_us,omitempty"` // of the flows that completed
	Queue *LiveQueue    `json:"queue,omitempty"`  // the bottleneck's; nil when nothing passed yet, or the point is done
}

// LiveQueue is what a port's queues together held and marked over time.
type LiveQueue struct {
	Port string    `json:"port"`
	Us   []float64 `json:"us"` // lab time
	Mean []float64 `json:"mean_kb"`
	Peak []float64 `json:"peak_kb"`

	Marks   []int64 `json:"marks"`   // packets that were marked since the place before
	Packets []int64 `json:"packets"` // that left; a packet that was marked on arrival leaves later
}

// See sums up the flows and samples that a point has so far.
func See(flows []Flow, samples []QueueSample) Seen {
	s := Seen{FCT: make(map[Class]FCT)}
	for _, c := range Classes() {
		if f := Summarize(flows, c); f.Count > 0 {
			s.FCT[c] = f
		}
	}
	port, ok := Bottleneck(samples)
	if !ok {
		return s
	}
	s.Queue = LiveQueueOf(samples, port)
	return s
}

// LiveQueueOf is that of a port, up to the last sample.
func LiveQueueOf(samples []QueueSample, port PortName) *LiveQueue {
	o := Occupy("", samples, port, LastSample(samples))
	q := &LiveQueue{Port: port.String(), Marks: o.Marks, Packets: o.Packets}
	tenth := func(v float64) float64 { return math.Round(10*v) / 10 }
	for i, p := range o.Mean {
		q.Us = append(q.Us, tenth(p.X))
		q.Mean = append(q.Mean, tenth(p.Y))
		q.Peak = append(q.Peak, tenth(o.Peak[i].Y))
	}
	return q
}
