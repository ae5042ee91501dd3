package sweep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/orchestrator/sweep/cluster"
)

// queue is a batch system in memory. What becomes of a task is up to the test.
type queue struct {
	t      *testing.T
	store  Store
	mu     sync.Mutex
	arrays map[string]cluster.Array
	tasks  []cluster.Task
	deaf   int // calls of Tasks that fail, once there are tasks
	// begin is called for each task that is submitted, and says what it has become.
	begin func(q *queue, a cluster.Array, number int) (cluster.State, string)
}

var _ cluster.System = (*queue)(nil)

func (q *queue) Script(a cluster.Array) (string, error) {
	if q.arrays == nil {
		q.arrays = make(map[string]cluster.Array)
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
		q.tasks = append(q.tasks, cluster.Task{Name: a.Name, Job: job, Number: n, State: state, Why: why, Node: "n1"})
		q.mu.Unlock()
	}
	return job, nil
}

func (q *queue) Tasks(_ context.Context, names []string) (found []cluster.Task, err error) {
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
			q.tasks[i].State = cluster.Cancelled
		}
	}
	return nil
}

// measures has a task do its work, as the command of its array says.
func measures(q *queue, a cluster.Array, number int) (cluster.State, string) {
	words := a.Command // PROGRAM sweep work SWEEP CHUNK --store DIR --jobs N
	w, err := q.store.Sweep(words[3])
	if err == nil {
		chunk := strings.ReplaceAll(words[4], cluster.Number, fmt.Sprint(number))
		err = q.store.Work(q.t.Context(), w, chunk, Options{Jobs: 1, Watch: func(Progress) {}})
	}
	if err != nil {
		q.t.Error(err)
	}
	return cluster.Ended, "COMPLETED"
}

// dies has a task end before it has done anything.
func dies(*queue, cluster.Array, int) (cluster.State, string) {
	return cluster.Ended, "OUT_OF_MEMORY (OutOfMemory)"
}

// waits leaves a task in the queue.
func waits(*queue, cluster.Array, int) (cluster.State, string) { return cluster.Waiting, "PENDING" }

// on is the engine of a queue, whose jobs take an hour.
func on(q *queue) Engine {
	return onCluster(q, cluster.Policy{Chunk: time.Hour, Queue: 100, Array: 100, Attempts: 3, Poll: time.Millisecond})
}

// newQueue is a queue and a sweep of 8 points.
func newQueue(t *testing.T, begin func(*queue, cluster.Array, int) (cluster.State, string)) (*queue, *Sweep) {
	t.Helper()
	return &queue{t: t, store: Store{Dir: t.TempDir()}, begin: begin}, expand(t, "workload.load=0.3,0.6")
}

func silent(Progress) {}

// TestCluster: a sweep is one job where that takes less than an hour, but for the points
// that tell so, and nothing is submitted twice.
func TestCluster(t *testing.T) {
	q, w := newQueue(t, measures)
	if err := q.store.Run(t.Context(), on(q), w, Options{Watch: silent}); err != nil {
		t.Fatal(err)
	}
	status, err := q.store.Status(w)
	if err != nil || status.Stored != 8 || len(q.tasks) != 1 {
		t.Errorf("%+v, %d tasks, %v", status, len(q.tasks), err)
	}
	if info, err := os.Stat(q.arrays[q.tasks[0].Name].Command[0]); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the program of jobs: %v, %v", info, err)
	}
	if err := q.store.Run(t.Context(), on(q), w, Options{Watch: silent}); err != nil || len(q.tasks) != 1 {
		t.Errorf("again: %d tasks, %v", len(q.tasks), err)
	}
}

// TestLostJobs: the points of jobs that die are submitted again, the last time each by
// itself.
func TestLostJobs(t *testing.T) {
	q, w := newQueue(t, nil)
	q.begin = func(q *queue, a cluster.Array, number int) (cluster.State, string) {
		if len(q.arrays) < 3 {
			return dies(q, a, number)
		}
		return measures(q, a, number)
	}
	if err := q.store.Run(t.Context(), on(q), w, Options{Watch: silent}); err != nil {
		t.Fatal(err)
	}
	if todo, err := q.store.Todo(w); err != nil || len(todo) != 0 {
		t.Errorf("%d to do, %v", len(todo), err)
	}
	if want := 1 + 1 + 8 - pilots; len(q.tasks) != want {
		t.Errorf("%d tasks, want %d", len(q.tasks), want)
	}
}

// TestJobsThatAlwaysDie: their points fail for the reason that the queue gives, and are
// tried again on request.
func TestJobsThatAlwaysDie(t *testing.T) {
	q, w := newQueue(t, dies)
	if err := q.store.Run(t.Context(), on(q), w, Options{Watch: silent}); !errors.Is(err, ErrFailed) {
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
	if err := q.store.Run(t.Context(), on(q), w, Options{Watch: silent, Retry: true}); err != nil {
		t.Error(err)
	}
}

// TestSlowJobs: a job that stored some of its points before it died was no vain attempt.
func TestSlowJobs(t *testing.T) {
	q, w := newQueue(t, func(q *queue, a cluster.Array, number int) (cluster.State, string) {
		w, err := q.store.Sweep(a.Command[3])
		if err != nil {
			q.t.Error(err)
			return cluster.Ended, "FAILED"
		}
		ctx, stop := context.WithCancel(q.t.Context())
		chunk := strings.ReplaceAll(a.Command[4], cluster.Number, fmt.Sprint(number))
		err = q.store.Work(ctx, w, chunk, Options{Jobs: 1, Watch: func(p Progress) {
			if p.Points == 1 {
				stop()
			}
		}})
		if err != nil && !errors.Is(err, context.Canceled) {
			q.t.Error(err)
		}
		return cluster.Ended, "TIMEOUT (TimeLimit)"
	})
	e := onCluster(q, cluster.Policy{Chunk: time.Hour, Queue: 100, Array: 100, Attempts: 1, Poll: time.Millisecond})
	if err := q.store.Run(t.Context(), e, w, Options{Watch: silent}); err != nil {
		t.Fatal(err)
	}
	if len(q.arrays) < 2 {
		t.Errorf("%d arrays, want more than one", len(q.arrays))
	}
}

// TestDeafQueue: nothing is submitted again while nobody knows what is in the queue.
func TestDeafQueue(t *testing.T) {
	q, w := newQueue(t, nil)
	q.deaf = 3
	q.begin = func(q *queue, a cluster.Array, number int) (cluster.State, string) {
		if len(q.arrays) == 1 {
			return dies(q, a, number)
		}
		return measures(q, a, number)
	}
	said := false
	err := q.store.Run(t.Context(), on(q), w, Options{Watch: func(p Progress) { said = said || strings.Contains(p.Just, "does not answer: trying again") }})
	if err != nil || !said || len(q.arrays) != 2 || q.deaf != 0 {
		t.Errorf("%v, told %v, %d arrays, deaf %d times more", err, said, len(q.arrays), q.deaf)
	}
}

// TestCancelledJob: a job that somebody ends is not submitted again.
func TestCancelledJob(t *testing.T) {
	q, w := newQueue(t, func(*queue, cluster.Array, int) (cluster.State, string) { return cluster.Cancelled, "CANCELLED" })
	if err := q.store.Run(t.Context(), on(q), w, Options{Watch: silent}); !errors.Is(err, ErrFailed) || len(q.arrays) != 1 {
		t.Errorf("%v, %d arrays", err, len(q.arrays))
	}
}

// interrupted runs a sweep until its jobs are submitted.
func interrupted(t *testing.T, q *queue, w *Sweep) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	err := q.store.Run(ctx, on(q), w, Options{Watch: func(p Progress) {
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
	q, w := newQueue(t, waits)
	interrupted(t, q, w)
	all, err := w.arrays()
	if err != nil || len(all) != 1 || all[0].Job != "101" {
		t.Fatalf("%+v, %v", all, err)
	}
	all[0].Job = ""
	if err := w.saveArray(all[0]); err != nil {
		t.Fatal(err)
	}
	q.tasks[0].State, q.tasks[0].Why = measures(q, q.arrays[all[0].Name], 0)
	if err := q.store.Run(t.Context(), on(q), w, Options{Watch: silent}); err != nil || len(q.arrays) != 1 {
		t.Errorf("%d arrays, %v", len(q.arrays), err)
	}
}

// TestCancel: what is cancelled ends for whoever follows it, and can be begun anew.
func TestCancel(t *testing.T) {
	q, w := newQueue(t, waits)
	interrupted(t, q, w)
	if cancelled, err := on(q).Cancel(t.Context(), w); err != nil || cancelled != 1 || q.tasks[0].State != cluster.Cancelled {
		t.Errorf("%d cancelled, %+v, %v", cancelled, q.tasks, err)
	}
	q.begin = measures
	if err := q.store.Run(t.Context(), on(q), w, Options{Watch: silent}); err != nil || len(q.arrays) != 2 {
		t.Errorf("%d arrays, %v", len(q.arrays), err)
	}
}

// TestCancelledWhileFollowed: who follows stops, and submits nothing again.
func TestCancelledWhileFollowed(t *testing.T) {
	q, w := newQueue(t, nil)
	q.begin = func(q *queue, _ cluster.Array, _ int) (cluster.State, string) {
		return cluster.Running, "RUNNING"
	}
	err := q.store.Run(t.Context(), on(q), w, Options{Watch: func(p Progress) {
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
	q, w := newQueue(t, measures)
	if err := q.store.Save(w); err != nil {
		t.Fatal(err)
	}
	release, err := w.follow()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if err := q.store.Run(t.Context(), on(q), w, Options{Watch: silent}); err == nil || !strings.Contains(err.Error(), "another process follows") {
		t.Errorf("%v", err)
	}
}

// TestShortQueue: what the queue may not have yet is submitted later.
func TestShortQueue(t *testing.T) {
	q, w := newQueue(t, measures)
	e := onCluster(q, cluster.Policy{Chunk: time.Nanosecond, Queue: 2, Array: 100, Attempts: 3, Poll: time.Millisecond})
	if err := q.store.Run(t.Context(), e, w, Options{Watch: silent}); err != nil {
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

// TestOtherMachine: a machine on which a point would be another does not measure it.
func TestOtherMachine(t *testing.T) {
	s, w := Store{Dir: t.TempDir()}, expand(t)
	w.Points[0].Key = strings.Repeat("0", 32)
	if err := s.Save(w); err != nil {
		t.Fatal(err)
	}
	if err := w.saveChunks("a", [][]Point{w.Points}); err != nil {
		t.Fatal(err)
	}
	opened, err := s.Sweep(w.Name)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Work(t.Context(), opened, "a-0", Options{Watch: silent}); err != nil {
		t.Fatal(err)
	}
	failed, err := s.Failures(w)
	if err != nil || len(failed) != 1 || !strings.Contains(failed[0].Reason, "another measurement") {
		t.Errorf("%+v, %v", failed, err)
	}
	if todo, err := s.Todo(w); err != nil || len(todo) != 0 {
		t.Errorf("%v to do, %v", todo, err)
	}
	for _, name := range []string{"a", "a-1", "a--1", "../a-0"} {
		if err := s.Work(t.Context(), opened, name, Options{}); err == nil || !strings.Contains(err.Error(), "no chunk") {
			t.Errorf("chunk %s: %v", name, err)
		}
	}
}

// TestParts: chunks take equally long, and no longer than asked.
func TestParts(t *testing.T) {
	w := expand(t, "workload.flows=10,1000") // 4 points of each
	c := costs{sweep: w}
	c.learn(w.Points[:1], []time.Duration{time.Second}) // 10 flows
	if got := c.of(w.Points[len(w.Points)-1]).Round(time.Millisecond); got != 100*time.Second {
		t.Errorf("1000 flows take %v, want 100 times as long", got)
	}
	for _, c := range []struct {
		chunk time.Duration
		want  []int // points of the chunks
	}{
		{time.Hour, []int{8}},
		{210 * time.Second, []int{6, 2}},
		{time.Second, []int{1, 1, 1, 1, 1, 1, 1, 1}},
		{0, []int{1, 1, 1, 1, 1, 1, 1, 1}},
	} {
		costs := costs{sweep: w}
		costs.learn(w.Points[:1], []time.Duration{time.Second})
		var got []int
		for _, part := range costs.parts(w.Points, c.chunk) {
			got = append(got, len(part))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("chunks of %v: %v points, want %v", c.chunk, got, c.want)
		}
	}
}

// TestSavedEngine: whoever attaches has the parameters that the sweep was given.
func TestSavedEngine(t *testing.T) {
	s, w := Store{Dir: t.TempDir()}, expand(t)
	if err := s.Save(w); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.Engine(); !errors.Is(err, ErrNoEngine) {
		t.Errorf("before: %v", err)
	}
	given := map[string]any{"queue": kind.Text("7"), "option": []any{kind.Text("--exclusive"), kind.Text("--nice=5")}}
	e, err := NewEngine("slurm", given)
	if err == nil {
		err = w.saveEngine(e, Options{Jobs: 4})
	}
	if err != nil {
		t.Fatal(err)
	}
	saved, jobs, err := w.Engine()
	if err != nil || jobs != 4 || saved.name != "slurm" || !reflect.DeepEqual(saved.params, given) {
		t.Errorf("%+v, %d jobs, %v", saved, jobs, err)
	}
}
