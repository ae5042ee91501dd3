package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"aqmlab/orchestrator/sweep"
	"aqmlab/orchestrator/sweep/sweeptest"
)

// queue is a batch system in memory. What becomes of a task is up to the test.
type queue struct {
	t      *testing.T
	store  sweep.Store
	mu     sync.Mutex
	arrays map[string]Array
	tasks  []Task
	deaf   int // calls of Tasks that fail, once there are tasks
	// begin is called for each task that is submitted, and says what it has become.
	begin func(q *queue, a Array, number int) (State, string)
}

var _ System = (*queue)(nil)

func (q *queue) Script(a Array) (string, error) {
	if q.arrays == nil {
		q.arrays = make(map[string]Array)
	}
	q.arrays[a.Name] = a
	return a.Name, nil
}

func (q *queue) Submit(_ context.Context, script string) (string, error) {
	name, err := os.ReadFile(script)
	if err != nil {
		return "", err
	}
	a := q.arrays[string(name)]
	job := fmt.Sprint(100 + len(q.arrays))
	for n := range a.Tasks {
		state, why := q.begin(q, a, n)
		q.mu.Lock()
		q.tasks = append(q.tasks, Task{Name: a.Name, Job: job, Number: n, State: state, Why: why, Node: "n1"})
		q.mu.Unlock()
	}
	return job, nil
}

func (q *queue) Tasks(_ context.Context, names []string) (found []Task, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.deaf > 0 && len(q.tasks) > 0 {
		q.deaf--
		return nil, errors.New("the control daemon does not answer")
	}
	for _, t := range q.tasks {
		if slices.Contains(names, t.Name) {
			found = append(found, t)
		}
	}
	return found, nil
}

func (q *queue) Cancel(_ context.Context, jobs []string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, t := range q.tasks {
		if slices.Contains(jobs, t.Job) {
			q.tasks[i].State = Cancelled
		}
	}
	return nil
}

// measures has a task do its work, as the command of its array says.
func measures(q *queue, a Array, number int) (State, string) {
	words := a.Command // PROGRAM sweep work SWEEP CHUNK --store DIR --jobs N
	w, err := q.store.Sweep(words[3])
	if err == nil {
		chunk := strings.ReplaceAll(words[4], Number, fmt.Sprint(number))
		err = Work(q.t.Context(), sweep.Job{Store: q.store, Sweep: w, Options: sweep.Options{Jobs: 1, Watch: func(sweep.Progress) {}}}, chunk)
	}
	if err != nil {
		q.t.Error(err)
	}
	return Ended, "COMPLETED"
}

// dies has a task end before it has done anything.
func dies(*queue, Array, int) (State, string) {
	return Ended, "OUT_OF_MEMORY (OutOfMemory)"
}

// waits leaves a task in the queue.
func waits(*queue, Array, int) (State, string) { return Waiting, "PENDING" }

// on is the engine of a queue, whose jobs take an hour.
func on(q *queue) sweep.Engine {
	return Engine(q, Policy{Chunk: time.Hour, Queue: 100, Array: 100, Attempts: 3, Poll: time.Millisecond})
}

// newQueue is a queue and a sweep of 8 points.
func newQueue(t *testing.T, begin func(*queue, Array, int) (State, string)) (*queue, *sweep.Sweep) {
	t.Helper()
	return &queue{t: t, store: sweep.Store{Dir: t.TempDir()}, begin: begin}, sweeptest.Expand(t, "workload.load=0.3,0.6")
}

func silent(sweep.Progress) {}

// TestCluster: a sweep is one job where that takes less than an hour, but for the points
// that tell so, and nothing is submitted twice.
func TestCluster(t *testing.T) {
	t.Parallel()
	q, w := newQueue(t, measures)
	if err := q.store.Run(t.Context(), on(q), w, sweep.Options{Watch: silent}); err != nil {
		t.Fatal(err)
	}
	status, err := q.store.Status(w)
	if err != nil || status.Stored != 8 || len(q.tasks) != 1 {
		t.Errorf("%+v, %d tasks, %v", status, len(q.tasks), err)
	}
	if info, err := os.Stat(q.arrays[q.tasks[0].Name].Command[0]); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the program of jobs: %v, %v", info, err)
	}
	if err := q.store.Run(t.Context(), on(q), w, sweep.Options{Watch: silent}); err != nil || len(q.tasks) != 1 {
		t.Errorf("again: %d tasks, %v", len(q.tasks), err)
	}
}

// TestLostJobs: the points of jobs that die are submitted again, the last time each by
// itself.
func TestLostJobs(t *testing.T) {
	t.Parallel()
	q, w := newQueue(t, nil)
	q.begin = func(q *queue, a Array, number int) (State, string) {
		if len(q.arrays) < 3 {
			return dies(q, a, number)
		}
		return measures(q, a, number)
	}
	if err := q.store.Run(t.Context(), on(q), w, sweep.Options{Watch: silent}); err != nil {
		t.Fatal(err)
	}
	if todo, err := q.store.Todo(w, w.Measurements()); err != nil || len(todo) != 0 {
		t.Errorf("%d to do, %v", len(todo), err)
	}
	if want := 1 + 1 + 8 - pilots; len(q.tasks) != want {
		t.Errorf("%d tasks, want %d", len(q.tasks), want)
	}
}

// TestJobsThatAlwaysDie: their points fail for the reason that the queue gives, and are
// tried again on request.
func TestJobsThatAlwaysDie(t *testing.T) {
	t.Parallel()
	q, w := newQueue(t, dies)
	if err := q.store.Run(t.Context(), on(q), w, sweep.Options{Watch: silent}); !errors.Is(err, sweep.ErrFailed) {
		t.Fatalf("%v, want failed points", err)
	}
	failed, err := q.store.Failures(w)
	if err != nil || len(failed) != 8-pilots {
		t.Fatalf("%+v, %v", failed, err)
	}
	if f := failed[0]; !strings.Contains(f.Reason, "OUT_OF_MEMORY (OutOfMemory) on n1") || f.Host != "n1" {
		t.Errorf("%+v", f)
	}
	if len(q.arrays) != 3 {
		t.Errorf("%d attempts, want 3", len(q.arrays))
	}
	q.begin = measures
	if err := q.store.Run(t.Context(), on(q), w, sweep.Options{Watch: silent, Retry: true}); err != nil {
		t.Error(err)
	}
}

// TestSlowJobs: a job that stored some of its points before it died was no vain attempt.
func TestSlowJobs(t *testing.T) {
	t.Parallel()
	q, w := newQueue(t, func(q *queue, a Array, number int) (State, string) {
		w, err := q.store.Sweep(a.Command[3])
		if err != nil {
			q.t.Error(err)
			return Ended, "FAILED"
		}
		ctx, stop := context.WithCancel(q.t.Context())
		chunk := strings.ReplaceAll(a.Command[4], Number, fmt.Sprint(number))
		err = Work(ctx, sweep.Job{Store: q.store, Sweep: w, Options: sweep.Options{Jobs: 1, Watch: func(p sweep.Progress) {
			if p.Points == 1 {
				stop()
			}
		}}}, chunk)
		if err != nil && !errors.Is(err, context.Canceled) {
			q.t.Error(err)
		}
		return Ended, "TIMEOUT (TimeLimit)"
	})
	e := Engine(q, Policy{Chunk: time.Hour, Queue: 100, Array: 100, Attempts: 1, Poll: time.Millisecond})
	if err := q.store.Run(t.Context(), e, w, sweep.Options{Watch: silent}); err != nil {
		t.Fatal(err)
	}
	if len(q.arrays) < 2 {
		t.Errorf("%d arrays, want more than one", len(q.arrays))
	}
}

// TestDeafQueue: nothing is submitted again while nobody knows what is in the queue.
func TestDeafQueue(t *testing.T) {
	t.Parallel()
	q, w := newQueue(t, nil)
	q.deaf = 3
	q.begin = func(q *queue, a Array, number int) (State, string) {
		if len(q.arrays) == 1 {
			return dies(q, a, number)
		}
		return measures(q, a, number)
	}
	said := false
	err := q.store.Run(t.Context(), on(q), w, sweep.Options{Watch: func(p sweep.Progress) { said = said || strings.Contains(p.Just, "does not answer: trying again") }})
	if err != nil || !said || len(q.arrays) != 2 || q.deaf != 0 {
		t.Errorf("%v, told %v, %d arrays, deaf %d times more", err, said, len(q.arrays), q.deaf)
	}
}

// TestCancelledJob: a job that somebody ends is not submitted again.
func TestCancelledJob(t *testing.T) {
	t.Parallel()
	q, w := newQueue(t, func(*queue, Array, int) (State, string) { return Cancelled, "CANCELLED" })
	if err := q.store.Run(t.Context(), on(q), w, sweep.Options{Watch: silent}); !errors.Is(err, sweep.ErrFailed) || len(q.arrays) != 1 {
		t.Errorf("%v, %d arrays", err, len(q.arrays))
	}
}

// interrupted runs a sweep until its jobs are submitted.
func interrupted(t *testing.T, q *queue, w *sweep.Sweep) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	err := q.store.Run(ctx, on(q), w, sweep.Options{Watch: func(p sweep.Progress) {
		if strings.HasPrefix(p.Just, "submitted") {
			stop()
		}
	}})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "aqmlab sweep cancel "+w.Name) {
		t.Fatal(err)
	}
}

// TestFollowAgain: jobs of an interrupted command are not submitted again, also when it
// ended before it could note their number.
func TestFollowAgain(t *testing.T) {
	t.Parallel()
	q, w := newQueue(t, waits)
	interrupted(t, q, w)
	all, err := records{w}.all()
	if err != nil || len(all) != 1 || all[0].Job != "101" {
		t.Fatalf("%+v, %v", all, err)
	}
	all[0].Job = ""
	if err := (records{w}).save(all[0]); err != nil {
		t.Fatal(err)
	}
	q.tasks[0].State, q.tasks[0].Why = measures(q, q.arrays[all[0].Name], 0)
	if err := q.store.Run(t.Context(), on(q), w, sweep.Options{Watch: silent}); err != nil || len(q.arrays) != 1 {
		t.Errorf("%d arrays, %v", len(q.arrays), err)
	}
}

// TestCancel: what is cancelled ends for whoever follows it, and can be begun anew.
func TestCancel(t *testing.T) {
	t.Parallel()
	q, w := newQueue(t, waits)
	interrupted(t, q, w)
	if cancelled, err := on(q).Cancel(t.Context(), w); err != nil || cancelled != 1 || q.tasks[0].State != Cancelled {
		t.Errorf("%d cancelled, %+v, %v", cancelled, q.tasks, err)
	}
	q.begin = measures
	if err := q.store.Run(t.Context(), on(q), w, sweep.Options{Watch: silent}); err != nil || len(q.arrays) != 2 {
		t.Errorf("%d arrays, %v", len(q.arrays), err)
	}
}

// TestCancelledWhileFollowed: who follows stops, and submits nothing again.
func TestCancelledWhileFollowed(t *testing.T) {
	t.Parallel()
	q, w := newQueue(t, nil)
	q.begin = func(q *queue, _ Array, _ int) (State, string) {
		return Running, "RUNNING"
	}
	err := q.store.Run(t.Context(), on(q), w, sweep.Options{Watch: func(p sweep.Progress) {
		if strings.HasPrefix(p.Just, "submitted") {
			if n, err := on(q).Cancel(t.Context(), w); err != nil || n != 1 {
				t.Errorf("%d, %v", n, err)
			}
		}
	}})
	if !errors.Is(err, errCancelled) || len(q.arrays) != 1 {
		t.Errorf("%v, %d arrays", err, len(q.arrays))
	}
	if failed, err := q.store.Failures(w); err != nil || len(failed) != 0 {
		t.Errorf("%v, %v", failed, err)
	}
}

// TestOneFollower: two would submit everything twice.
func TestOneFollower(t *testing.T) {
	t.Parallel()
	q, w := newQueue(t, measures)
	if err := q.store.Save(w); err != nil {
		t.Fatal(err)
	}
	release, err := records{w}.follow()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if err := q.store.Run(t.Context(), on(q), w, sweep.Options{Watch: silent}); err == nil || !strings.Contains(err.Error(), "another process follows") {
		t.Errorf("%v", err)
	}
}

// TestShortQueue: what the queue may not have yet is submitted later.
func TestShortQueue(t *testing.T) {
	t.Parallel()
	q, w := newQueue(t, measures)
	e := Engine(q, Policy{Chunk: time.Nanosecond, Queue: 2, Array: 100, Attempts: 3, Poll: time.Millisecond})
	if err := q.store.Run(t.Context(), e, w, sweep.Options{Watch: silent}); err != nil {
		t.Fatal(err)
	}
	for _, a := range q.arrays {
		if a.Tasks > 2 {
			t.Errorf("an array of %d tasks, want at most 2", a.Tasks)
		}
	}
	if len(q.tasks) != 8-pilots {
		t.Errorf("%d tasks, want one for each point", len(q.tasks))
	}
}

// archive is a queue that forgets tasks at once, and a database that knows how they ended.
type archive struct {
	*queue
	ended Task
}

func (a archive) Tasks(context.Context, []string) ([]Task, error) { return nil, nil }

func (a archive) Ended(_ context.Context, job string, _ int) (Task, bool) {
	return a.ended, job != ""
}

// TestHistory: the reason of a job that has left the queue is that of the accounting
// database, and what somebody cancelled is not submitted again.
func TestHistory(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ended  Task
		reason string
		arrays int
	}{
		{Task{State: Ended, Why: "TIMEOUT", Node: "n7"}, "TIMEOUT on n7", 3},
		{Task{State: Cancelled, Why: "CANCELLED by 1000", Node: "n7"}, "CANCELLED by 1000 on n7", 1},
	} {
		q, w := newQueue(t, dies)
		e := Engine(archive{q, c.ended}, Policy{Chunk: time.Hour, Queue: 100, Array: 100, Attempts: 3, Poll: time.Millisecond})
		if err := q.store.Run(t.Context(), e, w, sweep.Options{Watch: silent}); !errors.Is(err, sweep.ErrFailed) {
			t.Fatalf("%v, want failed points", err)
		}
		failed, err := q.store.Failures(w)
		if err != nil || len(failed) == 0 || !strings.Contains(failed[0].Reason, c.reason) || failed[0].Host != "n7" || len(q.arrays) != c.arrays {
			t.Errorf("%+v, %v, %d arrays: want %q", failed, err, len(q.arrays), c.reason)
		}
	}
}
