package reproduce

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"aqmlab/orchestrator"
	"aqmlab/orchestrator/backend"
	"aqmlab/results"
)

// The pilot is a point that tells how fast this machine is at the moment. It is of
// the kind that most experiments are, and takes a second at most, in a guest some
// seconds.
const (
	pilotExperiment = "tcn-fig6"
	pilotScheme     = "tcn"
	pilotLoad       = 0.9
	pilotFlows      = 300
	guestFlows      = 60
)

// Calibrate runs a small point and scales the estimate by the time that it took. On
// the wall clock there is nothing to correct: the traffic itself follows it.
func (p *Plan) Calibrate(ctx context.Context, t *Todo) error {
	if !p.virtual() || t.Points == 0 {
		return nil
	}
	factor, err := p.pilot(ctx)
	if err != nil {
		return fmt.Errorf("timing a small point: %w", err)
	}
	t.factor, t.Takes = factor, time.Duration(float64(t.Takes)*factor)
	return nil
}

// pilot is how many seconds a second of expected work takes.
func (p *Plan) pilot(ctx context.Context) (float64, error) {
	out, err := os.MkdirTemp("", "aqmlab-pilot-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(out)
	o := p.Options
	o.Scale, o.Loads, o.Flows, o.Out = Standard, []float64{pilotLoad}, pilotFlows, out
	if !p.modelled() {
		o.Flows = guestFlows
	}
	small, err := New([]string{pilotExperiment}, o)
	if err != nil {
		return 0, err
	}
	one := small.points[slices.IndexFunc(small.points, func(k point) bool { return k.Scheme == pilotScheme })]
	begun := time.Now()
	err = small.runJob(ctx, job{points: []point{one}}, unwatched{})
	return time.Since(begun).Seconds() / one.cost, err
}

// unwatched is a watcher that ignores everything.
type unwatched struct{}

func (unwatched) Note(string)                                   {}
func (unwatched) Begin(orchestrator.Point)                      {}
func (unwatched) Progress(orchestrator.Point, backend.Progress) {}
func (unwatched) End(orchestrator.Point, results.Point)         {}
