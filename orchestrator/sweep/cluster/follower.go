package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"aqmlab/orchestrator/sweep"
)

// follower has points measured by the jobs of a cluster, and watches until each is stored
// or has failed. What has become of a point is judged by the store alone; the queue says
// which jobs are gone.
type follower struct {
	sweep.Job
	records records
	system  System
	policy  Policy
	program string // that jobs run

	units  map[string]sweep.Unit // by key: neither stored nor failed
	todo   map[int][]sweep.Unit  // in no job, by the attempt that is to be made
	chunks []*chunk              // in jobs
	arrays []*array
	fresh  bool // points of jobs that are gone begin anew, as their failures are forgotten

	costs costs
	meter *sweep.Meter
	early []sweep.Event // of what was measured here
	queue string        // what was told of it last
	told  time.Time
}

// chunk is the points of a job.
type chunk struct {
	array    *array
	number   int
	keys     []string  // that are neither stored nor failed
	gone     time.Time // when its job was first seen to be gone
	progress bool      // some of its points were stored
}

// load takes the jobs that earlier followers submitted. A point belongs to the last.
func (f *follower) load() error {
	arrays, err := f.records.all()
	if err != nil {
		return err
	}
	owned := make(map[string]bool)
	for _, a := range slices.Backward(arrays) {
		if a.Cancelled {
			continue
		}
		keys, err := f.records.chunks(a.ID)
		if err != nil {
			return err
		}
		for i := range keys {
			c := &chunk{array: a, number: i}
			for _, key := range keys[i] {
				if _, open := f.units[key]; open && !owned[key] {
					owned[key] = true
					c.keys = append(c.keys, key)
				}
			}
			c.progress = len(c.keys) < len(keys[i])
			if len(c.keys) > 0 {
				f.chunks = append(f.chunks, c)
			}
		}
		f.arrays = append(f.arrays, a)
	}
	for _, p := range f.Points {
		if !owned[p.Key] {
			f.todo[1] = append(f.todo[1], f.units[p.Key])
		}
	}
	return nil
}

// add takes an array that was submitted.
func (f *follower) add(a *array, chunks [][]sweep.Unit) {
	f.arrays = append(f.arrays, a)
	for i, units := range chunks {
		c := &chunk{array: a, number: i}
		for _, u := range units {
			c.keys = append(c.keys, u.Key)
		}
		f.chunks = append(f.chunks, c)
	}
}

// cpus is how many CPUs a job has: one for each point that it measures at once.
func (f *follower) cpus() int { return cmp.Or(f.Jobs, 1) }

// tell passes on news of a point.
func (f *follower) tell(e sweep.Event) {
	if e.Done || e.Err != nil {
		if _, open := f.units[e.Key]; !open {
			return
		}
		delete(f.units, e.Key)
	}
	f.meter.Take(e)
}

// note passes on what the user should know.
func (f *follower) note(text string) {
	if f.meter == nil {
		f.Watch(sweep.Progress{Of: len(f.Points), Left: f.policy.Chunk, Just: text})
		return
	}
	f.meter.Take(sweep.Event{Note: text})
}

// count counts things in words.
func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
