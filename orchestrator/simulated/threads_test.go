package simulated

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"aqmlab/labs"
	"aqmlab/results"
	"aqmlab/sim"
	"aqmlab/switch/fabric"
)

// TestPartitionsChangeNothing: a simulation gives the same results on any number of
// threads, and however its switches are placed on them. Of the labs of the book that
// models can run, one of each network and transport, with a beginning of its traffic.
func TestPartitionsChangeNothing(t *testing.T) {
	known := map[string]bool{}
	book, err := labs.Book()
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range book {
		lab, err := labs.Load(entry.Name, labs.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(lab.Programs) > 0 {
			continue
		}
		c, err := Config(lab, lab.Schemes[len(lab.Schemes)-1].Name, lab.Workload.Load[0], lab.Seeds[0])
		if err != nil {
			t.Fatal(err)
		}
		apart(&c.Fabric)
		f := c.Fabric
		sort := fmt.Sprint(len(f.Hosts), len(f.Switches), f.Window(), f.Pause, f.HostPorts, f.Timeline.Links != nil, lab.Host.Transport)
		if f.Window() == 0 || known[sort] {
			continue
		}
		known[sort] = true
		t.Run(entry.Name, func(t *testing.T) {
			t.Parallel()
			checkPartitions(t, c)
		})
	}
}

func checkPartitions(t *testing.T, c sim.Config) {
	t.Helper()
	c.Flows = c.Flows[:min(len(c.Flows), 25)]
	for i := range c.Flows {
		f := &c.Flows[i]
		f.Bytes = min(f.Bytes, 100_000)
		if f.Stop > 0 {
			f.Stop = min(f.Stop, f.Start+5*time.Millisecond)
		}
	}
	c.Probes = c.Probes[:min(len(c.Probes), 1)]
	c.Estimates, c.Delays, c.Capture = true, true, nil
	c.Sample, c.Goodput, c.Senders = 50*time.Microsecond, 100*time.Microsecond, 100*time.Microsecond
	want := outcome(t, c)
	for _, c.Threads = range []int{2, 16} {
		if got := outcome(t, c); !reflect.DeepEqual(got, want) {
			t.Errorf("%d threads differ from one: %s", c.Threads, difference(got, want))
		}
	}
	c.Place = placed(c.Fabric, rand.New(rand.NewPCG(1, 2)))
	if got := outcome(t, c); !reflect.DeepEqual(got, want) {
		t.Errorf("switches in parts %v differ from one part: %s", c.Place, difference(got, want))
	}
}

// apart gives the links between switches a delay, where they have none and a lab keeps its
// round-trip time elsewhere: any two switches may be in different parts.
func apart(s *fabric.Spec) {
	if s.Timeline.Links != nil {
		return
	}
	for i := range s.Links {
		if l := &s.Links[i]; l.Delay == 0 {
			l.Delay = 3 * time.Microsecond
		}
	}
}

// placed puts every cluster of switches in any of four parts.
func placed(s fabric.Spec, r *rand.Rand) []int {
	place := s.Clusters()
	parts := make([]int, len(s.Switches)+1)
	for i := range parts[1:] {
		parts[i+1] = r.IntN(4)
	}
	for i, c := range place {
		place[i] = parts[c]
	}
	return place
}

func outcome(t *testing.T, c sim.Config) results.Point {
	t.Helper()
	s, err := sim.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context(), func(sim.Progress) {}); err != nil {
		t.Fatal(err)
	}
	return PointOf(results.Coord{}, s.Outcome())
}

// difference names the first field in which two points differ.
func difference(got, want results.Point) string {
	a, b := reflect.ValueOf(got), reflect.ValueOf(want)
	for i := range a.NumField() {
		if !reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
			return a.Type().Field(i).Name
		}
	}
	return "nothing"
}
