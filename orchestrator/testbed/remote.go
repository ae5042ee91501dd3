package testbed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"aqmlab/labs/inventory"
	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/docker"
	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/journal"
)

// remote is a machine that has a share of this process's lab, and the way to it.
type remote struct {
	inventory.Machine
	engine *docker.Engine
	owner  string // see Share
	site   string // name of its site's container
	stream *agent.Stream
	part   Part
}

var _ ground = (*remote)(nil)

// foothold is what the journal knows of another machine that has a share of the lab: all
// that removing it takes.
type foothold struct {
	Machine inventory.Machine `json:"machine"`
	Site    string            `json:"site"`  // name of its container
	Owner   string            `json:"owner"` // see Share
}

// remote is the way to the machine by another site, which this process has for something.
func (f foothold) remote(what string) *remote {
	return &remote{Machine: f.Machine, owner: f.Owner, site: fmt.Sprintf("%s-%s-%d", f.Site, what, os.Getpid())}
}

func (r *remote) entry() (journal.Entry, error) { return SiteEntry(r.Machine, r.site, r.owner) }

// SiteEntry is what the journal says of a machine on which a site is about to be made, by the
// name of its container. Undoing removes that, and all that the owner has there, see [Owner].
func SiteEntry(m inventory.Machine, site, owner string) (journal.Entry, error) {
	detail, err := json.Marshal(foothold{m, site, owner})
	return journal.Entry{Kind: journal.Machine, Name: m.Name, Detail: string(detail)}, err
}

// call asks the machine's site.
func (r *remote) call(ctx context.Context, method string, args, reply any) error {
	if err := r.stream.Call(ctx, method, args, reply); err != nil {
		return r.explain(err)
	}
	return nil
}

// explain names the machine in an error, and says why its stream has ended.
func (r *remote) explain(err error) error {
	if lost := r.stream.Err(); lost != nil && errors.Is(err, agent.ErrLost) {
		err = lost
	}
	return fmt.Errorf("machine %s (%s): %w", r.Name, r.Docker, err)
}

func (r *remote) machine() string { return r.Name }

func (r *remote) retime(ctx context.Context, dilation float64) error {
	return r.call(ctx, "Retime", dilation, &agent.Nothing{})
}

func (r *remote) counters(ctx context.Context) (all map[int]host.Counters, err error) {
	return all, r.call(ctx, "Counters", agent.Nothing{}, &all)
}

func (r *remote) used(ctx context.Context) (u Usage, err error) {
	return u, r.call(ctx, "Used", agent.Nothing{}, &u)
}

func (r *remote) others(ctx context.Context) (func(context.Context) (string, error), error) {
	return func(ctx context.Context) (busy string, err error) {
		return busy, r.call(ctx, "Others", agent.Nothing{}, &busy)
	}, r.call(ctx, "WatchOthers", agent.Nothing{}, &agent.Nothing{})
}

func (r *remote) watch(lose func(error)) (stop func(), err error) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		var why string
		err := r.call(ctx, "Lost", agent.Nothing{}, &why)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			lose(err)
		default:
			lose(fmt.Errorf("machine %s: %s", r.Name, why))
		}
	}()
	return cancel, nil
}

func (r *remote) followRates(ctx context.Context, zero int64, all []Rerate) (end func() error, err error) {
	return func() error {
		return r.call(context.WithoutCancel(ctx), "EndRates", agent.Nothing{}, &agent.Nothing{})
	}, r.call(ctx, "FollowRates", Rates{zero, all}, &agent.Nothing{})
}

func (r *remote) clock(ctx context.Context) (now int64, err error) {
	return now, r.call(ctx, "Clock", agent.Nothing{}, &now)
}

// end removes the machine's share, and its site.
func (r *remote) end(ctx context.Context) error {
	var errs []error
	if r.stream != nil {
		if r.stream.Err() == nil { // else the site, if it lives, has noticed, too
			errs = append(errs, r.call(ctx, "Down", agent.Nothing{}, &agent.Nothing{}))
			_ = r.stream.Quit(ctx) // or it is removed
		}
		_ = r.stream.Close() // it may have ended
	}
	if r.engine != nil {
		errs = append(errs, r.engine.RemoveSite(ctx, r.site), r.engine.Close())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("machine %s: %w", r.Name, err)
	}
	return nil
}

// leave lets go of the machine, whose share stays, and ends its site.
func (r *remote) leave() error {
	_ = r.stream.Quit(context.Background()) // or the site notices that the stream ends
	return errors.Join(r.stream.Close(), r.engine.Close())
}

// footholds are those that a journal has, by the machines' names.
func footholds(entries []journal.Entry) map[string]foothold {
	all := make(map[string]foothold)
	for _, e := range entries {
		var f foothold
		if e.Kind == journal.Machine && json.Unmarshal([]byte(e.Detail), &f) == nil { // else removing it tells
			all[e.Name] = f
		}
	}
	return all
}

// node is the process of a node on another machine.
type node struct {
	remote *remote
	name   string
	done   chan struct{} // closed after why is set
	why    error
	cancel context.CancelFunc
}

var _ helper = (*node)(nil)

// newNode is that of a name, whose end is waited for until Stop.
func (r *remote) newNode(name string) *node {
	ctx, cancel := context.WithCancel(context.Background())
	n := &node{remote: r, name: name, done: make(chan struct{}), cancel: cancel}
	go func() {
		var why string
		err := r.call(ctx, "Ended", name, &why)
		if ctx.Err() != nil {
			return
		}
		if err == nil && why != "" {
			err = errors.New(strings.TrimPrefix(why, agent.ErrDied.Error()+": "))
		}
		if err != nil {
			n.why = fmt.Errorf("%w: %w", agent.ErrDied, err)
		}
		close(n.done)
	}()
	return n
}

// endWait is how long the news of a process's end may come later than the end of a call
// to it.
const endWait = 2 * time.Second

// Call calls a method of the process.
func (n *node) Call(ctx context.Context, method string, args, reply any) error {
	raw, err := json.Marshal(args)
	if err != nil {
		return err
	}
	var answer json.RawMessage
	err = n.remote.call(ctx, "Forward", Forwarded{n.name, method, raw}, &answer)
	if err != nil && (errors.Is(err, agent.ErrLost) || strings.Contains(err.Error(), agent.ErrDied.Error())) {
		select {
		case <-n.done:
			return errors.Join(n.why, err)
		case <-time.After(endWait):
		}
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(answer, reply)
}

func (n *node) PID() int              { return 0 }
func (n *node) Done() <-chan struct{} { return n.done }

func (n *node) Err() error {
	select {
	case <-n.done:
		return n.why
	default:
		return nil
	}
}

// Stop gives up the process, which ends with its machine's share.
func (n *node) Stop(context.Context) error { return n.Release() }

// Release lets go of it.
func (n *node) Release() error {
	n.cancel()
	return nil
}
