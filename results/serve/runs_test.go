package serve_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"aqmlab/results"
	"aqmlab/results/report"
	"aqmlab/results/store"
)

// newWriter begins a run of two schemes at two loads.
func newWriter(t *testing.T, root, lab string) *store.Writer {
	t.Helper()
	w, err := store.Create(root, results.Manifest{
		Version: "v1", Start: time.Date(2026, 3, 29, 2, 30, 0, 0, time.UTC), Runtime: "sim", Dilation: 1,
		Host: results.Machine{CPU: "<script>alert(1)</script>"},
		Lab:  lab, Schemes: []string{"droptail", "tcn"}, Loads: []float64{0.5, 0.9}, Seeds: []uint64{1}, Baseline: "droptail",
	}, []byte("name: "+lab+"\nrtt: 250us # <b>not</b> bold\n"), report.Describe)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// finished stores a whole run and returns it.
func finished(t *testing.T, root, lab string) *store.Run {
	t.Helper()
	w := newWriter(t, root, lab)
	for _, scheme := range []string{"droptail", "tcn"} {
		for _, load := range []float64{0.5, 0.9} {
			if err := w.Add(measured(scheme, load)); err != nil {
				t.Fatal(err)
			}
		}
	}
	dir, err := w.Finish(time.Date(2026, 3, 29, 2, 31, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	run, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// measured is a point with all that a report draws: flows of every size and
// queries among them, two queues, and a probe.
func measured(scheme string, load float64) results.Point {
	p := results.Point{Coord: results.Coord{Scheme: scheme, Load: load, Seed: 1}, Fidelity: results.Fidelity{Label: results.FidelityExact}}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		size := []int64{20_000, 500_000, 20_000_000}[i%3]
		fct := time.Duration(float64(size) * (1 + r.ExpFloat64()) * 8)
		if scheme == "tcn" && size < 100_000 {
			fct /= 2
		}
		at := time.Duration(i) * time.Millisecond
		p.Flows = append(p.Flows, results.Flow{
			ID: int64(i), Start: at, Sent: at, FCT: fct, Bytes: size, Received: size,
			Server: 1, Service: int32(i % 2), Query: int64(i / 30 * (i / 150)),
		})
		p.Queues = append(p.Queues, results.QueueSample{
			At: at, Switch: "s1", Port: "h1", Queue: int32(i % 2), Bytes: int64(i%70) * 1000, PeakBytes: 90_000, Sent: 100_000,
		})
		p.Probes = append(p.Probes, results.ProbeSample{Probe: "service-0", At: at, RTT: 250*time.Microsecond + time.Duration(r.IntN(1e6))})
	}
	return p
}

// going is a run that is being made, whose first point has so many flows done.
func going(completed int64) results.Live {
	us := make([]float64, 0, completed)
	var kb []float64
	var marks, packets []int64
	for i := range completed {
		us, kb = append(us, float64(i+1)*100), append(kb, float64(i%50))
		marks, packets = append(marks, i%4), append(packets, 12)
	}
	return results.Live{At: time.Now(), Of: 4, Points: []results.LivePoint{{
		Coord: results.Coord{Scheme: "droptail", Load: 0.5, Seed: 1}, Number: 1, Flows: 300, Completed: completed,
		Seen: results.Seen{
			FCT:   map[results.Class]results.FCT{results.Small: {Count: int(completed), Mean: 123.4, P99: 5678}},
			Queue: &results.LiveQueue{Port: "s1 to h1", Us: us, Mean: kb, Peak: kb, Marks: marks, Packets: packets},
		},
	}}}
}
