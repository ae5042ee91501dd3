package reproduce

import (
	"context"
	"fmt"
	"os"
	"time"

	"aqmlab/labs"
	"aqmlab/orchestrator"
	"aqmlab/orchestrator/backend"
	"aqmlab/results"
	"aqmlab/trafficgen"
)

// The point that tells how fast this machine is at the moment: a second's work
// at most, of the kind that most experiments are; in a guest some seconds'.
const (
	pilotLab    = "tcn/fig6"
	pilotScheme = "tcn"
	pilotLoad   = 0.9
	pilotFlows  = 300
	guestFlows  = 60
)

// Calibrate runs a small point and corrects how long the rest takes by how long
// that took. On real hosts on the wall clock, which their traffic follows, there
// is nothing to correct.
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
	whole, err := labs.FromBook(pilotLab, p.Kinds)
	if err != nil {
		return 0, err
	}
	whole.Workload.Flows = pilotFlows
	if !p.modelled() {
		whole.Workload.Flows = guestFlows
	}
	lab, err := whole.Restricted([]string{pilotScheme}, pilotLoad, 1)
	if err != nil {
		return 0, err
	}
	flows, err := trafficgen.Trace(lab.Traffic(pilotLoad, 1))
	if err != nil {
		return 0, err
	}
	out, err := os.MkdirTemp("", "aqmlab-pilot-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(out)
	begun := time.Now()
	_, err = orchestrator.Run(ctx, lab, orchestrator.RunOptions{Log: p.Log, Runtime: p.Runtime, Jobs: 1, Out: out, Watcher: unwatched{}})
	return time.Since(begun).Seconds() / p.cost(lab, flows), err
}

// unwatched is a watcher of what nobody watches.
type unwatched struct{}

func (unwatched) Note(string)                                   {}
func (unwatched) Begin(orchestrator.Point)                      {}
func (unwatched) Progress(orchestrator.Point, backend.Progress) {}
func (unwatched) End(orchestrator.Point, results.Point)         {}
