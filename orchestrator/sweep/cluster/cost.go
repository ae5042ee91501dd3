package cluster

import (
	"context"
	"slices"
	"time"

	"aqmlab/labs"
	"aqmlab/orchestrator/sweep"
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
	rate float64 // seconds for each byte; zero: unknown
}

// bytes is about how much the flows of a point send.
func bytes(u sweep.Unit) float64 {
	lab, err := u.Lab()
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
func (c costs) of(u sweep.Unit) time.Duration {
	return time.Duration(c.rate * bytes(u) * float64(time.Second))
}

// learn takes how long some points took together.
func (c *costs) learn(units []sweep.Unit, took []time.Duration) {
	sent, seconds := 0.0, 0.0
	for i, u := range units {
		if took[i] > 0 {
			sent, seconds = sent+bytes(u), seconds+took[i].Seconds()
		}
	}
	if sent > 0 {
		c.rate = seconds / sent
	}
}

// stored learns from the points of a sweep that are stored: all but those that are open.
func (c *costs) stored(j sweep.Job, open map[string]sweep.Unit) {
	units := slices.DeleteFunc(j.Sweep.Units(j.Sweep.Measurements()), func(u sweep.Unit) bool {
		_, isOpen := open[u.Key]
		return isOpen
	})
	units = spread(units, known)
	took := make([]time.Duration, len(units))
	for i, u := range units {
		took[i] = tookOf(j.Store, u.Key)
	}
	c.learn(units, took)
}

// tookOf is how long a stored point was measured; zero where that cannot be read.
func tookOf(s sweep.Store, key string) time.Duration {
	r, err := s.Open(key)
	if err != nil {
		return 0
	}
	return r.Manifest.End.Sub(r.Manifest.Start)
}

// pilot learns from a few points that it measures here, as far as they come.
func (c *costs) pilot(ctx context.Context, p sweep.Pool, units []sweep.Unit, watch func(sweep.Event)) error {
	units = spread(units, pilots)
	took := make([]time.Duration, len(units))
	for i, u := range units {
		limited, stop := context.WithTimeout(ctx, pilotTime)
		begun, share := time.Now(), 0.0
		err := p.Run(limited, []sweep.Unit{u}, func(e sweep.Event) {
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
	c.learn(units, took)
	return nil
}

// spread is at most n of some units, from the first to the last.
func spread(units []sweep.Unit, n int) (some []sweep.Unit) {
	if len(units) <= n {
		return units
	}
	for i := range n {
		some = append(some, units[i*(len(units)-1)/(n-1)])
	}
	return some
}

// parts cuts points into chunks that take about as long as each other, and on some CPUs
// no more than the time, unless one point does. Without an estimate, each point is one.
func (c costs) parts(units []sweep.Unit, chunk time.Duration) (parts [][]sweep.Unit) {
	if c.rate == 0 || chunk == 0 || len(units) == 0 {
		return slices.Collect(slices.Chunk(units, 1))
	}
	total := time.Duration(0)
	for _, u := range units {
		total += c.of(u)
	}
	share := total / max(1, (total+chunk-1)/chunk)
	begin, sum := 0, time.Duration(0)
	for i, u := range units {
		cost := c.of(u)
		if i > begin && sum+cost/2 > share {
			parts, begin, sum = append(parts, units[begin:i]), i, 0
		}
		sum += cost
	}
	return append(parts, units[begin:])
}
