package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"aqmlab/labs"
	"aqmlab/orchestrator"
	"aqmlab/results/report"
	"aqmlab/results/serve"
	"aqmlab/switch/port"
)

// runner runs labs of the book for the pages of serve. Each is the command aqmlab run, so
// that it takes the way of any other run.
type runner struct {
	ctx   context.Context // of the command serve
	kinds port.Kinds
	out   string
	book  func() ([]serve.OfferedLab, error)

	looking sync.Mutex // one look at the machine at a time

	mu   sync.Mutex
	jobs []*job // the latest last
	done sync.WaitGroup
}

var _ serve.Runner = (*runner)(nil)

func newRunner(ctx context.Context, kinds port.Kinds, out string) *runner {
	return &runner{ctx: ctx, kinds: kinds, out: out, book: sync.OnceValues(func() ([]serve.OfferedLab, error) { return offeredLabs(kinds) })}
}

// offeredLabs is the book.
func offeredLabs(kinds port.Kinds) ([]serve.OfferedLab, error) {
	var all []serve.OfferedLab
	for _, name := range labs.BookNames() {
		lab, err := labs.FromBook(name, kinds)
		if err != nil {
			return nil, err
		}
		offered := serve.OfferedLab{Name: name, Title: lab.Title, Loads: lab.Workload.Load, Seeds: lab.Seeds, Flows: lab.Workload.Flows}
		for _, s := range lab.Schemes {
			offered.Schemes = append(offered.Schemes, s.Name)
		}
		all = append(all, offered)
	}
	return all, nil
}

// Offer looks at the machine anew: a daemon may have been started since.
func (r *runner) Offer() (o serve.Offer, err error) {
	if o.Labs, err = r.book(); err != nil {
		return o, err
	}
	r.looking.Lock()
	defer r.looking.Unlock()
	lacks := lacking()
	o.Runtimes = []serve.OfferedRuntime{{Name: string(orchestrator.Auto), Doc: "what suits the lab and this machine"}}
	for _, row := range orchestrator.Runtimes() {
		o.Runtimes = append(o.Runtimes, serve.OfferedRuntime{Name: row.Name, Doc: row.Doc, Lacks: lacks(row.Facts)})
	}
	return o, nil
}

// Start checks an order as the command would, and begins it.
func (r *runner) Start(o serve.Order) (serve.Job, error) {
	args, err := r.arguments(o)
	if err != nil {
		return serve.Job{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := context.Cause(r.ctx); err != nil {
		return serve.Job{}, err
	}
	if n := len(r.jobs); n > 0 && r.jobs[n-1].going() {
		return serve.Job{}, fmt.Errorf("%w: stop it, or wait for its end: %s", serve.ErrBusy, r.jobs[n-1].now.Command)
	}
	ctx, stop := context.WithCancelCause(r.ctx)
	j := &job{stop: stop, now: serve.Job{ID: 1, Command: commandLine(args), State: serve.JobRunning, Begun: time.Now().UTC(), Log: []string{}}}
	if n := len(r.jobs); n > 0 {
		j.now.ID = r.jobs[n-1].now.ID + 1
	}
	r.jobs = append(r.jobs[max(0, len(r.jobs)-jobsKept+1):], j)
	r.done.Go(func() { r.run(ctx, j, args) })
	return j.shown(), nil
}

// jobsKept is how many jobs are shown.
const jobsKept = 20

// arguments are those of the command that an order asks for. Its lab is one of the book,
// never a file.
func (r *runner) arguments(o serve.Order) ([]string, error) {
	if !slices.Contains(labs.BookNames(), o.Lab) {
		return nil, fmt.Errorf("lab %q is not in the book: want one that aqmlab lab list has", o.Lab)
	}
	if _, err := orchestrator.ParseRuntime(o.Runtime); o.Runtime != "" && err != nil {
		return nil, err
	}
	f := labFlags{schemes: o.Schemes, loads: o.Loads, seeds: o.Seeds, flows: o.Flows}
	if _, err := f.load(o.Lab, r.kinds); err != nil {
		return nil, err
	}
	args := []string{"run", o.Lab}
	for _, flag := range []struct{ name, value string }{
		{"schemes", strings.Join(o.Schemes, ",")}, {"loads", o.Loads}, {"seeds", o.Seeds}, {"flows", o.Flows}, {"runtime", o.Runtime}, {"out", r.out},
	} {
		if flag.value != "" {
			args = append(args, "--"+flag.name+"="+flag.value)
		}
	}
	return args, nil
}

// run is the command, whose own end is that of the job.
func (r *runner) run(ctx context.Context, j *job, args []string) {
	var out bytes.Buffer
	args = append(slices.Clone(args), "--json")
	s := Streams{Out: &out, Err: j}
	root := newRoot(s, r.kinds)
	root.SetArgs(args)
	root.PersistentPreRun = func(c *cobra.Command, _ []string) { removeLeftovers(c) }
	err := root.ExecuteContext(context.WithValue(ctx, callKey{}, call{args, s}))
	var stored report.RunJSON
	if json.Unmarshal(out.Bytes(), &stored) != nil { // it has ended before its first point
		stored.Dir = ""
	}
	j.end(ctx, stored.Dir, err)
}

// Stop interrupts a job as Ctrl-C does.
func (r *runner) Stop(id int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, j := range r.jobs {
		if j.now.ID == id && j.interrupt() {
			return nil
		}
	}
	return serve.ErrNoJob
}

// Jobs are the last ones, the latest first.
func (r *runner) Jobs() []serve.Job {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]serve.Job, 0, len(r.jobs))
	for _, j := range slices.Backward(r.jobs) {
		all = append(all, j.shown())
	}
	return all
}

// close interrupts what is going on, and returns when it has cleaned up.
func (r *runner) close(w io.Writer) {
	r.mu.Lock()
	for _, j := range r.jobs {
		if j.interrupt() || j.going() {
			fmt.Fprintf(w, "Interrupting %s.\n", j.now.Command)
		}
	}
	r.mu.Unlock()
	r.done.Wait()
}

// job is a run that was ordered. It keeps what the command says.
type job struct {
	stop context.CancelCauseFunc

	mu   sync.Mutex
	now  serve.Job
	line []byte // that has not ended yet
}

// linesKept is how much of what a command says is shown.
const linesKept = 100

// Write takes what the command says on standard error.
func (j *job) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.line = append(j.line, b...)
	for {
		line, rest, whole := bytes.Cut(j.line, []byte("\n"))
		if !whole {
			return len(b), nil
		}
		j.say(string(line))
		j.line = rest
	}
}

func (j *job) say(line string) {
	j.now.Log = append(j.now.Log[max(0, len(j.now.Log)-linesKept+1):], line)
}

// end notes how the command ended.
func (j *job) end(ctx context.Context, dir string, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.line) > 0 {
		j.say(string(j.line))
	}
	if dir != "" {
		j.now.Run = filepath.Base(dir)
	}
	switch {
	case err == nil:
		j.now.State = serve.JobDone
	case ctx.Err() != nil:
		j.now.State = serve.JobStopped
	default:
		j.now.State, j.now.Error = serve.JobFailed, err.Error()
		// The command has run in a user namespace, and has said why itself.
		if n := len(j.now.Log); errors.As(err, new(exitStatus)) && n > 0 {
			j.now.Error = strings.TrimPrefix(j.now.Log[n-1], "aqmlab: ")
		}
	}
	j.stop(nil)
}

// interrupt tells whether the job was going on until now.
func (j *job) interrupt() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.now.State != serve.JobRunning {
		return false
	}
	j.now.State = serve.JobStopping
	j.stop(interrupted{syscall.SIGINT})
	return true
}

// going tells whether the command has yet to end.
func (j *job) going() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.now.State == serve.JobRunning || j.now.State == serve.JobStopping
}

func (j *job) shown() serve.Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	now := j.now
	now.Log = slices.Clone(j.now.Log)
	return now
}

// commandLine is what to type for a command.
func commandLine(args []string) string {
	words := []string{"aqmlab"}
	for _, arg := range args {
		if strings.ContainsFunc(arg, func(r rune) bool {
			return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+:,./@%", r)
		}) {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		words = append(words, arg)
	}
	return strings.Join(words, " ")
}
