// Package slurm submits job arrays to a Slurm cluster, follows and cancels them, by the
// commands that every user of one has: sbatch, squeue and scancel. It needs no accounting
// database, as many clusters have none. Where there is one, sacct says how jobs ended that
// have left the queue.
package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
	"unicode"

	"aqmlab/kind"
	"aqmlab/orchestrator/sweep/cluster"
	"aqmlab/units"
)

// Params are what a user may say of the jobs.
type Params struct {
	Account   string     `lab:"account" doc:"account that jobs are charged to"`
	Partition string     `lab:"partition" doc:"partition that jobs run in"`
	Time      Wall       `lab:"time" doc:"time limit of a job"`
	Memory    units.Size `lab:"memory" range:"1MB..100000GB" example:"4GB" doc:"memory of a job; when absent, what the cluster gives"`
	Chunk     Wall       `lab:"chunk" doc:"time that a job is to take: points are put together until they take so long"`
	Queue     int        `lab:"queue" range:"1..1000000" doc:"jobs that are in the queue at once; the others are submitted when these have ended, while this command or --attach follows"`
	Array     int        `lab:"array" range:"1..1000000" doc:"jobs of an array at most: no more than MaxArraySize of the cluster"`
	Attempts  int        `lab:"attempts" range:"1..10" doc:"how often a point is tried whose jobs die"`
	Poll      Wall       `lab:"poll" doc:"time between two looks at the queue"`
	Option    []string   `lab:"option" doc:"another option of sbatch, such as --constraint=fast (repeatable)"`
}

// Defaults are those of the parameters that have some.
func Defaults() Params {
	return Params{
		Time: Wall(time.Hour), Chunk: Wall(10 * time.Minute), Poll: Wall(10 * time.Second),
		Queue: 1000, Array: 1000, Attempts: 3,
	}
}

// Cluster is the Slurm cluster that the commands on this machine speak to.
type Cluster struct{ Params }

var _ cluster.System = Cluster{}

// New checks the parameters.
func New(p Params) (Cluster, error) {
	for name, value := range map[string]string{"account": p.Account, "partition": p.Partition} {
		if strings.ContainsFunc(value, unicode.IsSpace) {
			return Cluster{}, kind.Invalid(name, "%q has a space", value)
		}
	}
	for _, o := range p.Option {
		if !strings.HasPrefix(o, "-") {
			return Cluster{}, kind.Invalid("option", "%q: want an option of sbatch, such as --exclusive or --constraint=fast", o)
		}
	}
	if p.Time < p.Chunk {
		return Cluster{}, kind.Invalid("time", "%v is less than the %v that a job is to take", p.Time, p.Chunk)
	}
	return Cluster{p}, nil
}

// Policy is how the parameters have points become jobs.
func (p Params) Policy() cluster.Policy {
	return cluster.Policy{
		Chunk: time.Duration(p.Chunk), Poll: time.Duration(p.Poll),
		Queue: p.Queue, Array: p.Array, Attempts: p.Attempts,
	}
}

// Cancel ends jobs, by their numbers.
func (Cluster) Cancel(ctx context.Context, jobs []string) error {
	if _, err := run(ctx, "scancel", jobs...); err != nil {
		return fmt.Errorf("cancelling jobs: %w", err)
	}
	return nil
}

// run runs a command of Slurm. It is in a process group of its own, so that Ctrl-C does
// not end it halfway.
func run(ctx context.Context, name string, args ...string) (string, error) {
	var out, errs bytes.Buffer
	c := exec.CommandContext(ctx, name, args...)
	c.Stdout, c.Stderr = &out, &errs
	inOwnGroup(c)
	err := c.Run()
	switch said := strings.TrimSpace(errs.String()); {
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("%w: run it on a machine from which jobs are submitted to a Slurm cluster", err)
	case err != nil && said != "":
		return "", fmt.Errorf("%s: %w: %s", name, err, said)
	case err != nil:
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return out.String(), nil
}
