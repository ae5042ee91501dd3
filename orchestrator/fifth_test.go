package orchestrator

import (
	"context"
	"slices"
	"testing"
	"time"

	"aqmlab/labs"
	"aqmlab/orchestrator/backend"
	"aqmlab/results"
	"aqmlab/results/compare"
	"aqmlab/results/store"
)

// ideal is a runtime that is no more than this row: a network that is never shared,
// in which a flow takes what its bytes take on one link.
func ideal() backend.Row {
	return backend.Row{
		Name:  "ideal",
		Doc:   "a link for every flow",
		Facts: backend.Facts{Virtual: true, Hosts: labs.Hosts{Modelled: true}},
		Open: func(_ context.Context, lab *labs.Lab, o backend.Options) (*backend.Backend, error) {
			return &backend.Backend{
				Manifest: backend.ManifestOf(lab),
				Jobs:     o.Jobs,
				Measure: func(_ context.Context, p backend.Point, watch func(backend.Progress)) (results.Point, error) {
					out := results.Point{Coord: p.Coord, Fidelity: results.Fidelity{Label: results.FidelityExact, CPUHeadroom: 1}}
					for _, f := range p.Flows {
						out.Flows = append(out.Flows, results.Flow{
							ID: int64(f.ID), Client: int32(f.Client), Server: int32(f.Server), Start: f.Start, Sent: f.Start,
							Bytes: f.Bytes, Received: f.Bytes, FCT: lab.Topology.Rate.Time(int(f.Bytes)),
						})
					}
					watch(backend.Progress{Completed: int64(len(out.Flows))})
					return out, nil
				},
				Close: func(context.Context) error { return nil },
			}, nil
		},
	}
}

// TestFifthRuntime: another row is all that a runtime needs for its runs to be
// watched, stored, resumed and compared with those of the others.
func TestFifthRuntime(t *testing.T) {
	rows := append(Runtimes(), ideal())
	out := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	o := RunOptions{Runtime: "ideal", Runtimes: rows, Jobs: 1, Out: out, Watcher: &stopper{after: 3, stop: cancel}}
	early, err := Run(ctx, parse(t, small), o)
	if early == nil {
		t.Fatalf("interrupted: %v", err)
	}
	var d diary
	run, err := Run(t.Context(), parse(t, small), RunOptions{Runtimes: rows, Resume: early, Watcher: &d})
	if err != nil {
		t.Fatal(err)
	}
	if m := run.Manifest; m.State != results.Complete || m.Runtime != "ideal" || len(run.Points()) != 8 || len(d.points)+len(early.Points()) != 8 {
		t.Errorf("%d points, %d of them resumed, manifest %+v", len(run.Points()), len(d.points), m)
	}
	p, err := run.Points()[0].Read()
	if err != nil || len(p.Flows) != 12 || p.Flows[0].FCT != 5120*time.Microsecond { // 64 KB at 100 Mbps
		t.Errorf("%v: flows %+v", err, p.Flows)
	}
	simulated, err := Run(t.Context(), parse(t, small), RunOptions{Runtime: "sim", Jobs: 2, Out: out, Watcher: &diary{}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := compare.Runs([]*store.Run{run, simulated}, "")
	if err != nil || len(c.Rows) == 0 {
		t.Errorf("compared: %+v, %v", c, err)
	}
}

// TestUnknownRuntime: a row that is not in the table is asked for in vain.
func TestUnknownRuntime(t *testing.T) {
	if _, err := Run(t.Context(), parse(t, small), RunOptions{Runtime: "ideal", Out: t.TempDir(), Watcher: &diary{}}); err == nil {
		t.Error("a runtime that no row has is no error")
	}
	if names := RuntimeNames(); !slices.Equal(names, []string{"auto", "netns", "docker", "uml", "sim"}) {
		t.Errorf("runtimes %q", names)
	}
}
