package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"time"
)

// Runner runs labs of the book, one at a time, as the command line does. It is asked by
// several requests at once.
type Runner interface {
	// Offer says what can be run here.
	Offer() (Offer, error)
	// Start begins a run. The error says what of the order does not hold together, or is
	// [ErrBusy].
	Start(o Order) (Job, error)
	// Stop interrupts a run, which keeps the points that it has. The error is [ErrNoJob] for
	// one that does not go on.
	Stop(id int) error
	// Jobs are the runs since the server began, the latest first.
	Jobs() []Job
}

// Errors of a [Runner], which may be wrapped.
var (
	ErrBusy  = errors.New("another run is going on")
	ErrNoJob = errors.New("no such run is going on")
)

// Offer is what can be run.
type Offer struct {
	Labs     []OfferedLab     `json:"labs"` // by name
	Runtimes []OfferedRuntime `json:"runtimes"`
}

// OfferedLab is a lab of the book, with what an order may change of it.
type OfferedLab struct {
	Name    string    `json:"name"`
	Title   string    `json:"title"`
	Schemes []string  `json:"schemes"`
	Loads   []float64 `json:"loads"`
	Seeds   []uint64  `json:"seeds"`
	Flows   int       `json:"flows"` // a point
}

// OfferedRuntime is where hosts may run.
type OfferedRuntime struct {
	Name  string `json:"name"`
	Doc   string `json:"doc"`
	Lacks string `json:"lacks,omitempty"` // why it does not run here
}

// Order is a run that is asked for. What is empty is as the lab has it. The texts are those
// of the flags of aqmlab run.
type Order struct {
	Lab     string   `json:"lab"`
	Schemes []string `json:"schemes"`
	Loads   string   `json:"loads"`
	Seeds   string   `json:"seeds"`
	Flows   string   `json:"flows"`
	Runtime string   `json:"runtime"`
}

// JobState is how far a job is.
type JobState string

// The states of jobs.
const (
	JobRunning  JobState = "running"
	JobStopping JobState = "stopping" // it has been interrupted, and cleans up
	JobStopped  JobState = "stopped"
	JobDone     JobState = "done"
	JobFailed   JobState = "failed"
)

// Job is a run that was ordered.
type Job struct {
	ID      int       `json:"id"`
	Command string    `json:"command"` // that does the same
	State   JobState  `json:"state"`
	Begun   time.Time `json:"begun"`
	Log     []string  `json:"log"`           // what it said last
	Run     string    `json:"run,omitempty"` // the name of its folder, once it has ended with a point
	Error   string    `json:"error,omitempty"`
}

// jobList is the answer about jobs.
type jobList struct {
	Allowed bool  `json:"allowed"` // runs may be started
	Jobs    []Job `json:"jobs"`
}

// jobPages answers requests about jobs; nil where none may be started.
type jobPages struct{ runner Runner }

// list lists the jobs, the latest first.
func (p jobPages) list() (jobList, error) {
	if p.runner == nil {
		return jobList{Jobs: []Job{}}, nil
	}
	return jobList{Allowed: true, Jobs: p.runner.Jobs()}, nil
}

// allowed answers only where runs may be started.
func (p jobPages) allowed(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if p.runner == nil {
			http.Error(w, "Runs are not started from here: aqmlab serve --allow-runs allows it.", http.StatusForbidden)
			return
		}
		next(w, r)
	}
}

func (p jobPages) start(w http.ResponseWriter, r *http.Request) {
	var o Order
	if !decode(w, r, &o) {
		return
	}
	job, err := p.runner.Start(o)
	switch {
	case errors.Is(err, ErrBusy):
		http.Error(w, err.Error(), http.StatusConflict)
	case err != nil:
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
	default:
		answer(func() (Job, error) { return job, nil })(w, r)
	}
}

func (p jobPages) stop(w http.ResponseWriter, r *http.Request) {
	var which struct {
		ID int `json:"id"`
	}
	if !decode(w, r, &which) {
		return
	}
	if err := p.runner.Stop(which.ID); err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// mostAsked is more than any request has, in bytes.
const mostAsked = 1 << 16

// decode reads what is asked for, and answers if that is not JSON. A form of a page of
// elsewhere cannot send JSON.
func decode(w http.ResponseWriter, r *http.Request, into any) bool {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		http.Error(w, "want Content-Type: application/json", http.StatusUnsupportedMediaType)
		return false
	}
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostAsked))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		http.Error(w, fmt.Sprintf("reading the request: %v", err), http.StatusBadRequest)
		return false
	}
	return true
}
