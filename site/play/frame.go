package play

import (
	"slices"
	"time"

	"aqmlab/results"
)

// Frame is what both schemes have measured so far.
type Frame struct {
	Span  float64      `json:"span_us"` // lab time in which flows start
	Sides [2]SideFrame `json:"sides"`
}

// SideFrame is what one of them has.
type SideFrame struct {
	Scheme    string                        `json:"scheme"`
	Now       float64                       `json:"now_us"` // lab time
	Over      bool                          `json:"over"`
	Flows     int                           `json:"flows"`
	Completed int                           `json:"completed"`
	Marks     int64                         `json:"marks"` // by all queues
	Drops     int64                         `json:"drops"`
	Queue     *results.LiveQueue            `json:"queue"`    // of the bottleneck; null: nothing passed yet
	Windows   Windows                       `json:"windows"`  // since the frame before
	Times     map[results.Class][]float64   `json:"times_us"` // FCTs in ascending order, thinned
	FCT       map[results.Class]results.FCT `json:"fct_us"`
	Goodput   float64                       `json:"goodput_gbps"`
}

// Windows are samples of congestion windows, one at each place.
type Windows struct {
	At   []float64 `json:"us"`
	Flow []int64   `json:"flow"`
	KB   []float64 `json:"kb"`
}

// Frame is what there is to draw now.
func (s *Session) Frame() Frame {
	f := Frame{Span: results.Microseconds(s.span)}
	for i, d := range s.sides {
		f.Sides[i] = d.frame()
	}
	return f
}

func (d *side) frame() SideFrame {
	flows, samples := d.sim.Seen()
	f := SideFrame{
		Scheme: d.Scheme, Now: results.Microseconds(d.at.Now), Over: d.over,
		Flows: len(flows), Completed: d.at.Completed,
		Queue: queueOf(samples), Windows: d.windows(),
		Times: make(map[results.Class][]float64), FCT: make(map[results.Class]results.FCT),
		Goodput: results.Goodput(flows),
	}
	for _, q := range samples {
		f.Marks += q.Marks
		f.Drops += q.Drops
	}
	for _, c := range results.Classes() {
		times := results.FlowTimes(flows, c)
		slices.Sort(times)
		f.Times[c] = thin(times)
		f.FCT[c] = results.SummarizeTimes(times)
	}
	return f
}

// queueOf is the bottleneck's queues over time.
func queueOf(samples []results.QueueSample) *results.LiveQueue {
	port, ok := results.Bottleneck(samples)
	if !ok {
		return nil
	}
	return results.LiveQueueOf(samples, port)
}

// windows are the samples since the frame before.
func (d *side) windows() (w Windows) {
	all := d.sim.Senders()
	for _, s := range all[d.told:] {
		if s.Cwnd > 0 {
			w.At = append(w.At, tenth(s.At))
			w.Flow = append(w.Flow, s.Flow)
			w.KB = append(w.KB, float64(s.Cwnd)/1e3)
		}
	}
	d.told = len(all)
	return w
}

func tenth(at time.Duration) float64 { return float64(at.Round(100*time.Nanosecond)) / 1e3 }

// places is how many quantiles of a distribution are drawn at most.
const places = 250

// thin keeps quantiles at equal distances, and both ends.
func thin(ascending []float64) []float64 {
	if len(ascending) <= places {
		return ascending
	}
	out := make([]float64, places)
	for i := range out {
		out[i] = ascending[i*(len(ascending)-1)/(places-1)]
	}
	return out
}
