package program

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"aqmlab/orchestrator/host"
)

// running is one program.
type running struct {
	Spec
	dir     string   // its working folder, as this process sees it
	orders  *os.File // what to become, and when; nil once that is told
	command *exec.Cmd
	stdout  keeper
	stderr  keeper
	figures keeper
	began   chan struct{} // closed when it runs, or never will
	ended   chan struct{} // closed when it has ended
	result  Ended         // whole then
	stop    sync.Once
	stopped atomic.Bool // as the lab says
	overdue atomic.Bool // it was stopped for want of an end
	timer   *time.Timer // that stops it; nil: none does

	reaping sync.Mutex
	reaped  bool // its number may be another's
}

// ready starts the process that is to become a program.
func ready(s Spec, at Place) (p *running, err error) {
	p = &running{Spec: s, began: make(chan struct{}), ended: make(chan struct{})}
	temp := filepath.Join(at.Root, "/tmp")
	if err := os.MkdirAll(temp, 0o777|os.ModeSticky); err != nil { // an image may lack it
		return nil, err
	}
	if p.dir, err = os.MkdirTemp(temp, "aqmlab-"+s.Name+"-"); err != nil {
		return nil, err
	}
	inside := strings.TrimPrefix(p.dir, at.Root)
	o := order{Place: at, Run: s.Run, Env: environment(s.Env, inside), Dir: inside}
	if err := p.spawn(o); err != nil {
		return nil, errors.Join(err, os.RemoveAll(p.dir))
	}
	return p, nil
}

// spawn starts the process with its descriptors, and tells it what to become.
func (p *running) spawn(o order) error {
	orders, toChild, err := os.Pipe()
	if err != nil {
		return err
	}
	defer orders.Close()
	fromChild, status, err := os.Pipe()
	if err != nil {
		return errors.Join(err, toChild.Close())
	}
	defer status.Close()
	c := exec.Command("/proc/self/exe", "agent", Role)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Stdout, c.Stderr = &p.stdout, &p.stderr
	if p.Stdin != "" {
		c.Stdin = strings.NewReader(p.Stdin)
	}
	c.WaitDelay = grace // for what its own children write
	c.ExtraFiles = []*os.File{nil, orders, status}
	figures, err := p.figuresPipe(c)
	if err == nil {
		err = c.Start()
	}
	figures()
	if err == nil {
		err = json.NewEncoder(toChild).Encode(o)
	}
	if err != nil {
		if c.Process != nil {
			_ = c.Process.Kill() // it waits for an order that does not come
			_ = c.Wait()
		}
		return errors.Join(err, toChild.Close(), fromChild.Close())
	}
	p.orders, p.command = toChild, c
	go p.watchBegin(fromChild)
	return nil
}

// figuresPipe gives the program a descriptor 3, if it is to have one. What it returns
// closes our copy.
func (p *running) figuresPipe(c *exec.Cmd) (opened func(), err error) {
	if !p.Figures {
		return func() {}, nil
	}
	read, write, err := os.Pipe()
	if err != nil {
		return func() {}, err
	}
	c.ExtraFiles[0] = write
	p.figures.done = make(chan struct{})
	go func() {
		defer close(p.figures.done)
		_, _ = io.Copy(&p.figures, read) // it ends with the last who holds the other end
		read.Close()
	}()
	return func() { write.Close() }, nil
}

// watchBegin waits until the process has become the program, or could not.
func (p *running) watchBegin(status *os.File) {
	defer close(p.began)
	defer status.Close()
	why, err := io.ReadAll(io.LimitReader(status, 4096))
	p.result.Start, _ = host.Monotonic()
	if len(why) > 0 || err != nil {
		p.result.Error = cmp.Or(string(why), fmt.Sprint(err))
	}
}

// begin tells the process when to become the program.
func (p *running) begin(at int64) error {
	if p.orders == nil {
		return nil
	}
	err := json.NewEncoder(p.orders).Encode(at)
	if errors.Is(err, unix.EPIPE) {
		err = nil // it failed by then, and says why itself
	}
	err = errors.Join(err, p.orders.Close())
	p.orders = nil
	return err
}

// wait waits for the end of the program, and says how it was.
func (p *running) wait() {
	defer close(p.ended)
	r := &p.result
	err := p.awaitEnd()
	if p.figures.done != nil {
		select {
		case <-p.figures.done:
		case <-time.After(grace): // somebody outside of its group holds it
		}
	}
	r.Name, r.Stopped, r.Overdue = p.Name, p.stopped.Load(), p.overdue.Load()
	r.Stdout, r.Stderr, r.Figures = p.stdout.text(), p.stderr.text(), p.figures.text()
	r.Cut = p.stdout.cut() || p.stderr.cut() || p.figures.cut()
	if p.File != "" {
		p.readFile()
	}
	state := p.command.ProcessState
	r.CPU = state.UserTime() + state.SystemTime()
	status, _ := state.Sys().(syscall.WaitStatus)
	switch {
	case r.Error != "":
		r.Exit, r.Start, r.End = -1, 0, 0
	case status.Signaled():
		r.Exit, r.Signal = -1, unix.SignalName(status.Signal())
	default:
		r.Exit = int32(status.ExitStatus())
	}
	if err != nil && r.Error == "" && !errors.As(err, new(*exec.ExitError)) && !errors.Is(err, exec.ErrWaitDelay) {
		r.Error = err.Error()
	}
}

// readFile reads the program's file of figures, which may be anything: it is not followed
// out of the folder, nor waited for.
func (p *running) readFile() {
	text, err := func() ([]byte, error) {
		dir, err := os.OpenRoot(p.dir)
		if err != nil {
			return nil, err
		}
		defer dir.Close()
		f, err := dir.OpenFile(p.File, os.O_RDONLY|unix.O_NONBLOCK, 0)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
			return nil, errors.Join(err, fmt.Errorf("%s is no ordinary file", p.File))
		}
		return io.ReadAll(io.LimitReader(f, kept+1))
	}()
	if err != nil {
		p.result.Unread = err.Error()
	}
	p.result.Cut = p.result.Cut || len(text) > kept
	p.result.Figures = text[:min(len(text), kept)]
}

// awaitEnd waits for the process, and kills what it leaves in its group, which has nobody
// to answer to.
func (p *running) awaitEnd() error {
	err := host.AwaitEnd(p.command.Process.Pid)
	<-p.began
	p.result.End, _ = host.Monotonic()
	p.reaping.Lock()
	defer p.reaping.Unlock()
	if err == nil {
		err = host.KillGroup(p.command.Process.Pid)
	}
	p.reaped = true
	return errors.Join(p.command.Wait(), err)
}

// halt has the program end: with SIGTERM, and if that is not enough with SIGKILL.
func (p *running) halt() {
	p.stop.Do(func() {
		select {
		case <-p.ended:
			return
		default:
		}
		p.stopped.Store(p.Serves || p.Stop > 0)
		p.overdue.Store(!p.Serves && p.Stop == 0)
		_ = p.command.Process.Signal(unix.SIGTERM) // or it has ended
		select {
		case <-p.ended:
		case <-time.After(grace):
			p.kill()
		}
	})
}

// kill ends the program and its group at once.
func (p *running) kill() {
	p.reaping.Lock()
	defer p.reaping.Unlock()
	if !p.reaped {
		_ = host.KillGroup(p.command.Process.Pid) // or it has ended
	}
}
