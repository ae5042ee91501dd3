// Package cluster has sweeps measured by the jobs of a batch system: a cluster's queue. It
// says what it needs of one ([System]), puts points together to arrays of jobs, and
// follows them until each point is stored or has failed.
package cluster

import (
	"context"
	"time"
)

// System is a batch system that runs arrays of jobs.
type System interface {
	// Script is an array as the system reads it.
	Script(a Array) (string, error)
	// Submit submits the script of a file, and returns what the system calls the job.
	Submit(ctx context.Context, script string) (job string, err error)
	// Tasks lists the tasks of arrays by their names. Tasks that ended may be missing.
	Tasks(ctx context.Context, names []string) ([]Task, error)
	// Cancel ends jobs.
	Cancel(ctx context.Context, jobs []string) error
}

// Historian is a [System] that may know how tasks ended which have left the queue.
type Historian interface {
	// Ended is how a task of a job ended; false where nobody knows.
	Ended(ctx context.Context, job string, number int) (Task, bool)
}

// Array is a job array: the same command many times, told apart by a number.
type Array struct {
	Name    string // of the job, unlike that of any other
	Tasks   int    // numbered from 0
	CPUs    int    // of each task
	Folder  string // in which tasks begin
	Log     string // what the files of what tasks write begin with; the number and .log follow
	Comment string // one line for readers of the script
	Command []string
}

// Number stands for the number of a task in the words of the command of an [Array].
const Number = "{}"

// Task is a task of an array, as the queue has it.
type Task struct {
	Name   string // of the array
	Job    string
	Number int
	State  State
	Why    string // the state in the system's words, and its reason if there is one
	Node   string // on which it runs or ran
}

// State is what the state of a task means for those who wait for it.
type State int

// States of tasks.
const (
	Waiting   State = iota // in the queue, for the first time or again
	Running                // or about to begin or to end
	Ended                  // however it went
	Cancelled              // by its owner or an administrator
)

// Policy says how points become jobs.
type Policy struct {
	Chunk    time.Duration // that a task is to take
	Queue    int           // tasks that are in the queue at once
	Array    int           // tasks of an array, at most
	Attempts int           // of a point whose tasks die
	Poll     time.Duration // between two looks at the queue
}
