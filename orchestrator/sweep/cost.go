package sweep

import (
	"context"
	"slices"
	"time"

	"aqmlab/labs"
	"aqmlab/trafficgen"
)

const (
	// known is how many stored points are asked how long they took.
	known = 30
	// pilots is how many points are measured here where none is stored, and pilotTime how
	// long each may take: what is left then follows from the share that is measured.
	pilots    = 3
	pilotTime = 10 * time.Second
)

// costs estimates how long points take, from what others took. The time of a point goes
// with the bytes that its flows have.
type costs struct {
	sweep *Sweep
	rate  float64 // seconds for each byte; zero: unknown
}

// bytes is about how much the flows of a point send.
func (c costs) bytes(p Point) float64 {
	lab, err := c.sweep.lab(p.Lab)
	if err != nil {
		return 1 // whoever measures the point will say so
	}
	return float64(lab.Workload.Flows) * meanSize(lab)
}

// meanSize is the mean size of the flows of a lab, in bytes.
func meanSize(lab *labs.Lab) float64 {
	d, err := trafficgen.Sizes().New(lab.Workload.Sizes.Kind, lab.Workload.Sizes.Params, trafficgen.Env{})
	if err != nil {
		return 1
	}
	return d.Mean()
}

// of is the time that a point takes on one CPU; zero where nobody knows.
func (c costs) of(p Point) time.Duration {
	return time.Duration(c.rate * c.bytes(p) * float64(time.Second))
}

// learn takes how long some points took together.
func (c *costs) learn(points []Point, took []time.Duration) {
	bytes, seconds := 0.0, 0.0
	for i, p := range points {
		if took[i] > 0 {
			bytes, seconds = bytes+c.bytes(p), seconds+took[i].Seconds()
		}
	}
	if bytes > 0 {
		c.rate = seconds / bytes
	}
}

// stored learns from the points of the sweep that are stored: all but those that are open.
func (c *costs) stored(s Store, open map[string]Unit) {
	var points []Point
	for _, p := range c.sweep.first() {
		if _, isOpen := open[p.Key]; !isOpen {
			points = append(points, p)
		}
	}
	points = spread(points, known)
	took := make([]time.Duration, len(points))
	for i, p := range points {
		took[i] = s.took(p.Key)
	}
	c.learn(points, took)
}

// took is how long a stored point was measured; zero where that cannot be read.
func (s Store) took(key string) time.Duration {
	r, err := s.Open(key)
	if err != nil {
		return 0
	}
	return r.Manifest.End.Sub(r.Manifest.Start)
}

// pilot learns from a few points that it measures here, as far as they come.
func (c *costs) pilot(ctx context.Context, j Job, watch func(Event)) error {
	points := spread(j.Points, pilots)
	took := make([]time.Duration, len(points))
	for i, u := range j.Sweep.Units(points) {
		limited, stop := context.WithTimeout(ctx, pilotTime)
		begun, share := time.Now(), 0.0
		err := j.pool().Run(limited, []Unit{u}, func(e Event) {
			if e.Done {
				took[i] = e.Took
			}
			share = e.Share
			watch(e)
		})
		late := limited.Err() != nil
		stop()
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && !late:
			return err
		case took[i] == 0 && share > 0:
			took[i] = time.Duration(float64(time.Since(begun)) / share)
		}
	}
	c.learn(points, took)
	return nil
}

// spread is at most n of some points, from the first to the last.
func spread(points []Point, n int) (some []Point) {
	if len(points) <= n {
		return points
	}
	for i := range n {
		some = append(some, points[i*(len(points)-1)/(n-1)])
	}
	return some
}

// parts cuts points into chunks that take about as long as each other, and on some CPUs
// no more than the time, unless one point does. Without an estimate, each point is one.
func (c costs) parts(points []Point, chunk time.Duration) (parts [][]Point) {
	if c.rate == 0 || chunk == 0 || len(points) == 0 {
		return slices.Collect(slices.Chunk(points, 1))
	}
	total := time.Duration(0)
	for _, p := range points {
		total += c.of(p)
	}
	share := total / max(1, (total+chunk-1)/chunk)
	begin, sum := 0, time.Duration(0)
	for i, p := range points {
		cost := c.of(p)
		if i > begin && sum+cost/2 > share {
			parts, begin, sum = append(parts, points[begin:i]), i, 0
		}
		sum += cost
	}
	return append(parts, points[begin:])
}
