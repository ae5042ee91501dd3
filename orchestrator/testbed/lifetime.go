package testbed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"aqmlab/labs"
	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/docker"
	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/journal"
	"aqmlab/orchestrator/machines"
	"aqmlab/orchestrator/netns"
	"aqmlab/orchestrator/role"
)

// Standing is a lab that this machine has.
type Standing struct {
	ID      string        `json:"id"`
	State   journal.State `json:"state"`
	Created time.Time     `json:"created,omitzero"`
	Problem string        `json:"problem,omitempty"` // why it is broken
	Holder  int           `json:"-"`                 // a process that holds the namespaces of one that was left up, or zero

	footholds map[string]foothold // on other machines, by their names
	Info
}

// Errors for a lab or host that was named.
var (
	ErrNoLab     = errors.New("no such lab is up")
	ErrAmbiguous = errors.New("more than one lab fits")
	ErrNoHost    = errors.New("no such host")
)

// Keep brings a lab up with one of its schemes and leaves it running when this
// process ends. A dilation that the lab leaves open is 1. The error for a scheme
// that the lab does not have wraps kind.ErrUnknown.
func Keep(ctx context.Context, lab *labs.Lab, scheme string, o Options) (Standing, error) {
	if _, err := lab.Fabric(scheme, 0); err != nil { // before anything is made
		return Standing{}, err
	}
	o.Detached = true
	t, err := Up(ctx, lab, o)
	if err != nil {
		return Standing{}, err
	}
	standing, err := t.leaveUp(ctx, scheme, o.Runtime)
	if err != nil {
		return Standing{}, errors.Join(fmt.Errorf("leaving lab %s up: %w", lab.Name, err), t.Down(context.WithoutCancel(ctx)))
	}
	return standing, nil
}

func (t *Testbed) leaveUp(ctx context.Context, scheme, runtime string) (Standing, error) {
	began, err := host.Monotonic()
	if err != nil {
		return Standing{}, err
	}
	if err := t.startStaying(ctx, Staying{scheme, runtime}); err != nil {
		return Standing{}, err
	}
	info := t.share.info(t.lab.Name)
	info.Runtime, info.Scheme, info.Dilation = runtime, scheme, t.dilation
	info.Transport, info.Congctl, info.Common = t.lab.Spoken(), t.speaks[0].Name, t.speaks[0].Common
	info.Network, info.Began, info.Nodes = t.net, began, t.nodesOnMachines()
	if err := t.journal.Describe(info); err != nil {
		return Standing{}, err
	}
	lab, err := t.lab.YAML()
	if err != nil {
		return Standing{}, err
	}
	for name, text := range map[string][]byte{hostsFile: t.net.HostsFile(), labFile: lab} {
		if err := os.WriteFile(filepath.Join(t.journal.Dir(), name), text, 0o644); err != nil {
			return Standing{}, fmt.Errorf("writing the lab's state folder: %w", err)
		}
	}
	standing := Standing{ID: t.journal.ID(), State: journal.Detached, Created: time.Now().UTC(), Info: info}
	return standing, t.letGo()
}

// startStaying has the switches run a scheme from now on.
func (t *Testbed) startStaying(ctx context.Context, how Staying) error {
	if len(t.remotes) > 0 {
		return t.eachRemote(func(r *remote) error { return r.call(ctx, "Stay", how, &agent.Nothing{}) })
	}
	spec, err := t.switchFabric(how.Scheme, t.lab.Seeds[0])
	if err != nil {
		return err
	}
	// Nobody reads a kept lab's samples, so it takes none.
	return t.startFabric(ctx, role.Fabric{Spec: spec, Dilation: t.dilation, Live: true})
}

// letGo gives up what this process holds of a testbed that stays. The journal
// comes last: until then it can be removed.
func (t *Testbed) letGo() error {
	stay := t.processes()
	t.hosts, t.switches = nil, nil // from here on the journal ends them
	if err := each(stay, func(_ int, p process) error { return p.Release() }); err != nil {
		return err
	}
	if err := t.controls.leave(); err != nil {
		return err
	}
	remotes := t.remotes
	t.remotes = nil
	for _, r := range remotes {
		if err := r.leave(); err != nil {
			return err
		}
	}
	return t.journal.Detach()
}

// Labs lists what stands on this machine.
func Labs(o Options) ([]Standing, error) {
	list, err := journal.List(o.root())
	if err != nil {
		return nil, err
	}
	standing := make([]Standing, len(list))
	for i, l := range list {
		s := &standing[i]
		*s = Standing{ID: l.ID, State: l.State, Created: l.Created, Problem: l.Problem}
		if len(l.Info) > 0 { // else its owner died before it wrote it
			if err := json.Unmarshal(l.Info, &s.Info); err != nil {
				s.State, s.Problem = journal.Broken, fmt.Sprintf("reading its description: %v", err)
			}
		}
		s.Holder, s.footholds = holder(l.Entries), footholds(l.Entries)
		if dead := ended(l.Entries); dead != "" {
			s.State, s.Problem = journal.Broken, dead
		}
	}
	return standing, nil
}

// holder is the first of a lab's processes that is alive.
func holder(entries []journal.Entry) int {
	for _, e := range entries {
		if e.Kind == journal.Process && agent.Runs(e) {
			return e.PID
		}
	}
	return 0
}

// ended names the processes among what a lab has that have ended.
func ended(entries []journal.Entry) string {
	var names []string
	for _, e := range entries {
		if e.Kind == journal.Process && !agent.Runs(e) {
			names = append(names, fmt.Sprintf("%s (process %d)", e.Name, e.PID))
		}
	}
	if names == nil {
		return ""
	}
	return strings.Join(names, ", ") + " has ended, and the lab does not work without"
}

// Kept lists the labs that were left running, also those that are broken since.
func Kept(o Options) ([]Standing, error) {
	all, err := Labs(o)
	return slices.DeleteFunc(all, func(s Standing) bool { return s.State != journal.Detached && s.State != journal.Broken }), err
}

// Sweep removes what killed runs have left, and returns the ids of their labs.
func Sweep(o Options) ([]string, error) { return journal.Sweep(o.root(), undoers()) }

// TakeDown removes a kept lab. The error for one that a run is using wraps
// journal.ErrRunning, and fs.ErrNotExist when there is none of that id.
func TakeDown(id string, o Options) error {
	j, err := journal.Open(o.root(), id)
	if err != nil {
		return err
	}
	if err := j.Undo(undoers()); err != nil {
		again := j.Close // so that it can be tried again
		if len(footholds(j.Entries())) > 0 {
			again = j.Abandon // machines that answered have nothing of it any more
		}
		return errors.Join(err, again())
	}
	return nil
}

// Find picks the kept lab of that id or name, or the only one when ref is
// empty. Its errors wrap ErrNoLab or ErrAmbiguous.
func Find(ref string, o Options) (Standing, error) {
	kept, err := Kept(o)
	if err != nil {
		return Standing{}, err
	}
	return pick(ref, kept)
}

// pick is the lab of that id or name, or the only one when ref is empty.
func pick(ref string, from []Standing) (Standing, error) {
	fit := slices.DeleteFunc(from, func(s Standing) bool { return ref != "" && ref != s.ID && ref != s.Lab })
	switch len(fit) {
	case 0:
		if ref == "" {
			return Standing{}, ErrNoLab
		}
		return Standing{}, fmt.Errorf("lab %s: %w: aqmlab lab status lists them", ref, ErrNoLab)
	case 1:
		return fit[0], nil
	}
	ids := make([]string, len(fit))
	for i, s := range fit {
		ids[i] = s.ID
	}
	return Standing{}, fmt.Errorf("%w: say which by its id: %s", ErrAmbiguous, strings.Join(ids, ", "))
}

// Exec runs a command on a host of the kept lab and returns its exit status. In a
// namespace the command replaces this process, so Exec returns only when that
// fails; in a container (o.Containers) it gets this process's standard streams.
func (s Standing) Exec(ctx context.Context, host string, argv []string, o Options) (int, error) {
	h, err := s.host(host)
	if err != nil {
		return 0, err
	}
	streams := docker.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	if f, elsewhere := s.footholds[s.Nodes[host]]; elsewhere {
		api, err := machines.Client(ctx, f.Machine)
		if err != nil {
			return 0, err
		}
		return docker.ExecThere(ctx, api, h.Namespace, argv, streams)
	}
	if o.Containers {
		return docker.Exec(ctx, h.Namespace, argv, streams)
	}
	return 0, netns.Exec(h.Namespace, filepath.Join(o.root(), s.ID, hostsFile), argv)
}

// host finds a host by its name. The error for one that is not there wraps
// ErrNoHost.
func (s Standing) host(name string) (netns.Host, error) {
	if s.Network == nil {
		return netns.Host{}, fmt.Errorf("host %q: %w: lab %s has not come up", name, ErrNoHost, s.ID)
	}
	var names []string
	for _, h := range s.Network.Hosts {
		if h.Name == name {
			return h, nil
		}
		names = append(names, h.Name)
	}
	return netns.Host{}, fmt.Errorf("host %q: %w: lab %s has %s", name, ErrNoHost, s.ID, strings.Join(names, ", "))
}
