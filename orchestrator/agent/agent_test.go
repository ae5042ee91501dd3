package agent_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/rpc"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/journal"
	"aqmlab/orchestrator/netns"
)

// TestMain makes this test binary the agents, and the owners, of its tests.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "agent" {
		os.Exit(role(os.Args[2], os.Args[3:]))
	}
	if len(os.Args) > 3 && os.Args[1] == "join" {
		os.Exit(join(os.Args[2], os.Args[3:]))
	}
	if len(os.Args) > 2 && os.Args[1] == "shell" {
		err := unix.Exec("/bin/sh", []string{"sh", "-c", os.Args[2]}, os.Environ())
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if len(os.Args) > 2 && os.Args[1] == "owner" {
		os.Exit(owner(os.Args[2]))
	}
	os.Exit(m.Run())
}

// role is the main function of every agent in these tests.
func role(name string, args []string) int {
	switch name {
	case "echo":
		fmt.Fprintln(os.Stderr, "echo begins")
		err := agent.Serve(context.Background(), func(ctx context.Context) any { return newEcho(ctx, args) })
		if err != nil {
			fmt.Fprintln(os.Stderr, "echo ends:", err)
			return 1
		}
		return 0
	case "heeding": // ends by SIGTERM
		ctx, stop := signal.NotifyContext(context.Background(), unix.SIGTERM)
		defer stop()
		if err := agent.Serve(ctx, func(ctx context.Context) any { return newEcho(ctx, args) }); err != nil {
			return 4
		}
		return 0
	case "broken":
		for i := range 100 {
			fmt.Fprintln(os.Stderr, "complaint", i)
		}
		return 7
	case "stubborn": // serves, and then does not end
		_ = agent.Serve(context.Background(), func(ctx context.Context) any { return newEcho(ctx, args) })
		select {}
	}
	return 2
}

// echo is the agents' service.
type echo struct {
	ctx     context.Context
	args    []string
	waiting chan struct{} // one item a Wait that has begun
}

func newEcho(ctx context.Context, args []string) *echo {
	return &echo{ctx, args, make(chan struct{}, 1)}
}

// About says where the agent finds itself.
type About struct {
	Args, Session string
	CPUs          []int
	Namespace     string
}

func (e *echo) About(_ agent.Nothing, a *About) error {
	cpus, err := host.CPUs()
	if err != nil {
		return err
	}
	a.CPUs = cpus
	sid, err := unix.Getsid(0)
	if err != nil {
		return err
	}
	a.Args, a.Session = strings.Join(e.args, " "), fmt.Sprint(sid == os.Getpid())
	a.Namespace, err = os.Readlink("/proc/self/ns/net")
	return err
}

// None has nothing to answer with.
func (e *echo) None(agent.Nothing, *[]string) error { return nil }

func (e *echo) Fail(text string, _ *agent.Nothing) error { return errors.New(text) }

func (e *echo) Die(text string, _ *agent.Nothing) error {
	fmt.Fprintln(os.Stderr, text)
	os.Exit(3)
	return nil
}

// Wait answers when the agent is asked to end.
func (e *echo) Wait(_ agent.Nothing, reply *string) error {
	e.waiting <- struct{}{}
	<-e.ctx.Done()
	*reply = "ended"
	return nil
}

// WaitLong answers with why the agent ends.
func (e *echo) WaitLong(agent.Nothing, *agent.Nothing) error {
	e.waiting <- struct{}{}
	<-e.ctx.Done()
	return context.Cause(e.ctx)
}

// Waiting answers once a Wait has begun.
func (e *echo) Waiting(agent.Nothing, *agent.Nothing) error {
	<-e.waiting
	return nil
}

// Burn keeps more processors busy than there are.
func (e *echo) Burn(howLong time.Duration, _ *agent.Nothing) error {
	end := time.Now().Add(howLong)
	var burning sync.WaitGroup
	for range 4 * runtime.NumCPU() {
		burning.Go(func() {
			for time.Now().Before(end) {
			}
		})
	}
	burning.Wait()
	return nil
}

func (e *echo) Write(text string, _ *agent.Nothing) error {
	_, err := agent.File(0).WriteString(text)
	return err
}

// spawn starts an agent that is gone at the test's end.
func spawn(t *testing.T, o agent.Options) *agent.Process {
	t.Helper()
	p, err := agent.Spawn(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Stop(context.Background()) })
	return p
}

func TestSpawnPlacesTheAgent(t *testing.T) {
	p := spawn(t, agent.Options{Role: "echo", Args: []string{"a", "b c"}, CPUs: []int{0}})
	var a About
	if err := p.Call(t.Context(), "About", agent.Nothing{}, &a); err != nil {
		t.Fatal(err)
	}
	if a.Args != "a b c" || a.Session != "true" || !slices.Equal(a.CPUs, []int{0}) {
		t.Errorf("agent finds itself at %+v; want its arguments, a session of its own, CPU 0 only", a)
	}
	if err := p.Stop(t.Context()); err != nil {
		t.Errorf("stop: %v", err)
	}
	if err := p.Stop(t.Context()); err != nil {
		t.Errorf("stop again: %v", err)
	}
}

func TestSpawnInNamespace(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: makes a network namespace")
	}
	j, err := journal.Create(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	undo := func() error {
		return j.Undo(journal.Undoers{journal.Namespace: netns.Remove, journal.Process: agent.Remove})
	}
	t.Cleanup(func() {
		if err := undo(); err != nil {
			t.Error(err)
		}
	})
	lab, err := netns.Up(t.Context(), j, tinyPlan())
	if err != nil {
		t.Fatal(err)
	}
	p := spawn(t, agent.Options{Role: "echo", Namespace: lab.Hosts[0].Namespace, Record: j.Record})
	var a About
	if err := p.Call(t.Context(), "About", agent.Nothing{}, &a); err != nil {
		t.Fatal(err)
	}
	var want string
	err = netns.Do(lab.Hosts[0].Namespace, func() (err error) {
		want, err = os.Readlink("/proc/thread-self/ns/net")
		return err
	})
	if err != nil || a.Namespace != want {
		t.Errorf("agent is in %s, want %s (%v)", a.Namespace, want, err)
	}
	if err := undo(); err != nil {
		t.Fatalf("undo with a running agent: %v", err)
	}
	<-p.Done()
	if err := p.Err(); !errors.Is(err, agent.ErrDied) {
		t.Errorf("agent killed by undo: Err = %v, want ErrDied", err)
	}
}

func TestCallErrors(t *testing.T) {
	p := spawn(t, agent.Options{Role: "echo"})
	err := p.Call(t.Context(), "Fail", "no such luck", &agent.Nothing{})
	var said rpc.ServerError
	if !errors.As(err, &said) || said != "no such luck" {
		t.Errorf("failing call: %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("had enough")
	cancel(why)
	if err := p.Call(ctx, "Wait", agent.Nothing{}, new(string)); !errors.Is(err, why) {
		t.Errorf("call given up: %v, want %v", err, why)
	}
	if err := p.Call(t.Context(), "Nonsense", agent.Nothing{}, &agent.Nothing{}); !errors.Is(err, agent.ErrNoMethod) {
		t.Errorf("call of an unknown method: %v", err)
	}
	if p.Err() != nil {
		t.Errorf("agent died of failing calls: %v", p.Err())
	}
}

// TestCallForNothing: a list of nothing is an answer.
func TestCallForNothing(t *testing.T) {
	got := []string{"before"}
	if err := spawn(t, agent.Options{Role: "echo"}).Call(t.Context(), "None", agent.Nothing{}, &got); err != nil || len(got) > 0 {
		t.Errorf("got %v, %v; want an empty list", got, err)
	}
}

func TestRunningCallIsAnsweredAtTheEnd(t *testing.T) {
	p := spawn(t, agent.Options{Role: "echo"})
	var reply string
	var called error
	var wait sync.WaitGroup
	wait.Go(func() { called = p.Call(t.Context(), "Wait", agent.Nothing{}, &reply) })
	if err := p.Call(t.Context(), "Waiting", agent.Nothing{}, &agent.Nothing{}); err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(t.Context()); err != nil {
		t.Errorf("stop: %v", err)
	}
	wait.Wait()
	if called != nil || reply != "ended" {
		t.Errorf("call that was running at the stop: %q, %v", reply, called)
	}
}

func TestDeathIsExplained(t *testing.T) {
	var log bytes.Buffer
	p := spawn(t, agent.Options{Role: "echo", Log: &log})
	err := p.Call(t.Context(), "Die", "the reason is this", &agent.Nothing{})
	for _, want := range []string{"echo", "exit status 3", "the reason is this"} {
		if !errors.Is(err, agent.ErrDied) || !strings.Contains(err.Error(), want) {
			t.Errorf("call of an agent that dies: %v; want ErrDied and %q", err, want)
		}
	}
	<-p.Done()
	if err := p.Stop(t.Context()); err != nil {
		t.Errorf("stop of an agent whose death was told: %v", err)
	}
	if got := log.String(); !strings.Contains(got, "echo begins") || !strings.Contains(got, "the reason is this") {
		t.Errorf("log holds %q", got)
	}
}

// TestToldAgent: where somebody else has an agent end, such as a container's runtime, calls
// that it gives up say so as those of one that died.
func TestToldAgent(t *testing.T) {
	p := spawn(t, agent.Options{Role: "heeding"})
	var called error
	var wait sync.WaitGroup
	wait.Go(func() { called = p.Call(t.Context(), "WaitLong", agent.Nothing{}, &agent.Nothing{}) })
	if err := p.Call(t.Context(), "Waiting", agent.Nothing{}, &agent.Nothing{}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Kill(p.PID(), unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	wait.Wait()
	if !errors.Is(called, agent.ErrDied) || !strings.Contains(called.Error(), "exit status 4") {
		t.Errorf("the call returned %v", called)
	}
}

// TestStoppedAgent: one that is stopped is noticed, named and killed, and calls to it
// end. Its owner's pauses do not count.
func TestStoppedAgent(t *testing.T) {
	t.Parallel()
	p := spawn(t, agent.Options{Role: "echo"})
	if err := unix.Kill(p.PID(), unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for !strings.HasPrefix(host.StateOf(p.PID()), "T") { // it stops in its own time, and could still answer
		select {
		case <-time.After(time.Millisecond):
		case <-t.Context().Done():
			t.Fatal("it does not stop")
		}
	}
	err := p.Call(t.Context(), "About", agent.Nothing{}, new(About))
	for _, want := range []string{"echo", fmt.Sprint(p.PID()), "T (stopped)", "kill -STOP"} {
		if !errors.Is(err, agent.ErrDied) || !strings.Contains(err.Error(), want) {
			t.Errorf("call of an agent that was stopped: %v; want ErrDied and %q", err, want)
		}
	}
	<-p.Done()
	if err := p.Stop(t.Context()); err != nil {
		t.Errorf("stop of an agent whose end was told: %v", err)
	}
}

// TestBusyAgent: one that computes, beside others that do, is not taken for stopped.
func TestBusyAgent(t *testing.T) {
	t.Parallel()
	for range 2 {
		p := spawn(t, agent.Options{Role: "echo"})
		t.Run("", func(t *testing.T) {
			t.Parallel()
			if err := p.Call(context.Background(), "Burn", 12*time.Second, &agent.Nothing{}); err != nil {
				t.Error(err)
			}
			if err := p.Stop(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestStoppedTogether: an owner that is stopped with its agent, and goes on with it,
// does not take it for stopped.
func TestStoppedTogether(t *testing.T) {
	t.Parallel()
	owner, entries := startOwner(t, "-")
	all := []int{owner.Process.Pid, entries[0].PID}
	for _, signal := range []unix.Signal{unix.SIGSTOP, unix.SIGCONT} {
		for _, pid := range all {
			if err := unix.Kill(pid, signal); err != nil {
				t.Fatal(err)
			}
		}
		if signal == unix.SIGSTOP {
			<-time.After(9 * time.Second) // no synchronisation: this is what is tested
		}
	}
	<-time.After(2 * time.Second)
	if p, err := host.ReadProcess(entries[0].PID); err != nil || p.Start != entries[0].Start {
		t.Errorf("the agent is gone: %v", err)
	}
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait()
}

func TestSpawnFails(t *testing.T) {
	tests := []struct {
		name string
		o    agent.Options
		want string
	}{
		{"agent that fails at once", agent.Options{Role: "broken"}, "complaint 99"},
		{"no such program", agent.Options{Exe: "/no/such/program", Role: "echo"}, "/no/such/program"},
		{"no such namespace", agent.Options{Role: "echo", Namespace: "aqm-none-such"}, "aqm-none-such"},
		{"no such CPU", agent.Options{Role: "echo", CPUs: []int{1000}}, "use CPUs [1000]"},
		{"refused by the journal", agent.Options{Role: "echo", Record: func(...journal.Entry) error { return errors.New("disk full") }}, "disk full"},
		{"detached agent that fails at once", agent.Options{Role: "broken", Detached: &agent.Detached{
			Socket: filepath.Join(t.TempDir(), "s"), Log: filepath.Join(t.TempDir(), "log"),
		}}, "complaint 99"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p, err := agent.Spawn(t.Context(), test.o)
			if err == nil {
				_ = p.Stop(t.Context())
				t.Fatal("it started")
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %q; want it to hold %q", err, test.want)
			}
			if strings.Contains(err.Error(), "complaint 0\n") {
				t.Errorf("error holds all that the agent wrote, not the last lines")
			}
		})
	}
}

func TestStubbornAgentIsKilled(t *testing.T) {
	p := spawn(t, agent.Options{Role: "stubborn"})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := p.Stop(ctx); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("stop: %v, want that it was killed", err)
	}
	<-p.Done()
}

func TestFilesAreInherited(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	p := spawn(t, agent.Options{Role: "echo", Files: []*os.File{f}})
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.Call(t.Context(), "Write", "by the agent", &agent.Nothing{}); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(f.Name()); err != nil || string(got) != "by the agent" {
		t.Errorf("file holds %q, %v", got, err)
	}
}

func TestServeOutsideAnAgent(t *testing.T) {
	cmd := exec.Command(os.Args[0], "agent", "echo")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "agents are started by aqmlab itself") {
		t.Errorf("role run by hand: %v, %s", err, out)
	}
}
