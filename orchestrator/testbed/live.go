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

	"aqmlab/collectors"
	"aqmlab/labs"
	"aqmlab/orchestrator/journal"
	"aqmlab/orchestrator/role"
	"aqmlab/results"
	"aqmlab/switch/port"
)

// ErrOld is the error for a lab that cannot be watched or changed.
var ErrOld = errors.New("an earlier version of aqmlab brought the lab up: take it down and bring it up again")

// Live is a lab that was left up, for those who watch or change it. It is safe for use by
// several goroutines and processes.
type Live struct {
	Standing
	root     string
	kinds    port.Kinds
	text     []byte // of the lab, as it came up
	switches []liveSwitch
	nodes    nodes
}

// liveSwitch is a switch of a lab that is up.
type liveSwitch struct {
	role.SwitchClient
	ahead int64 // of its machine's clock; see nodes
}

// OpenLive connects to the switches of the kept lab of that id or name, see [Find]. Its
// schemes and schedulers are of those kinds.
func OpenLive(ctx context.Context, ref string, kinds port.Kinds, o Options) (*Live, error) {
	s, err := Find(ref, o)
	if err != nil {
		return nil, err
	}
	l := &Live{Standing: s, root: o.root(), kinds: kinds}
	if err := l.open(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("lab %s (%s): %w", s.ID, s.Lab, err), l.Close())
	}
	return l, nil
}

func (l *Live) open(ctx context.Context) (err error) {
	if l.State == journal.Broken {
		return errors.New(l.Problem)
	}
	dir := filepath.Join(l.root, l.ID)
	if l.text, err = os.ReadFile(filepath.Join(dir, labFile)); errors.Is(err, os.ErrNotExist) {
		return ErrOld
	} else if err != nil {
		return err
	}
	l.nodes = nodesIn(dir)
	if len(l.Nodes) > 0 {
		l.nodes = &nodesElsewhere{standing: l.Standing, remotes: map[string]*attached{}}
	}
	for _, name := range l.switchNames() {
		process, ahead, err := l.nodes.call(ctx, name)
		if err != nil {
			return err
		}
		l.switches = append(l.switches, liveSwitch{role.SwitchClient{Process: process}, ahead})
	}
	return nil
}

// switchNames are the names of the switches' processes.
func (l *Live) switchNames() (names []string) {
	for i := range l.Network.Switches {
		names = append(names, l.Network.SwitchName(i))
	}
	return names
}

// Close ends the connection. The lab stays.
func (l *Live) Close() error {
	if l.nodes == nil {
		return nil
	}
	return l.nodes.close()
}

// Look looks at all switches. Each tells of itself, at a lab time of its own.
func (l *Live) Look(ctx context.Context) ([]collectors.Look, error) {
	looks := make([]collectors.Look, len(l.switches))
	for i, s := range l.switches {
		var err error
		if looks[i], err = s.Look(ctx); err != nil {
			return nil, fmt.Errorf("looking at lab %s (%s): %w", l.ID, l.Lab, err)
		}
	}
	return looks, nil
}

// Since is what all switches did between two looks. Without an earlier one, it is what
// they did since the lab came up.
func Since(before, now []collectors.Look) results.Interval {
	var all results.Interval
	for i, look := range now {
		var from collectors.Look
		if i < len(before) {
			from = before[i]
		}
		one := look.Since(from)
		all.At, all.Length = max(all.At, one.At), max(all.Length, one.Length)
		all.Queues, all.Links = append(all.Queues, one.Queues...), append(all.Links, one.Links...)
	}
	return all
}

// Use has the switches run another of the lab's schemes. Hosts and connections notice
// nothing but what it does. The error for a scheme that the lab does not have wraps
// kind.ErrUnknown.
func (l *Live) Use(ctx context.Context, scheme string) error {
	return l.amend(ctx, func(info *Info) error {
		info.Scheme = scheme
		return l.apply(ctx, *info)
	})
}

// Set changes keys of the lab, "key=value", in the switches: parameters of schemes, also
// of those that do not run now, and what ports are made of. by is what errors call it.
func (l *Live) Set(ctx context.Context, by string, pairs []string) error {
	if err := labs.CheckChange(by, pairs...); err != nil {
		return err
	}
	return l.amend(ctx, func(info *Info) error {
		for _, pair := range pairs {
			key, value, _ := strings.Cut(pair, "=")
			key = strings.ToLower(strings.TrimSpace(key)) + "="
			info.Set = slices.DeleteFunc(info.Set, func(s string) bool { return strings.HasPrefix(s, key) })
			info.Set = append(info.Set, key+strings.TrimSpace(value))
		}
		return l.apply(ctx, *info)
	})
}

// Schemes are the names of the schemes that a kept lab can use.
func (s Standing) Schemes(kinds port.Kinds, o Options) []string {
	text, err := os.ReadFile(filepath.Join(o.root(), s.ID, labFile))
	if err != nil {
		return nil
	}
	lab, err := labs.Stored(text, kinds, "")
	if err != nil {
		return nil
	}
	var names []string
	for _, scheme := range lab.Schemes {
		names = append(names, scheme.Name)
	}
	return names
}

// apply has the ports be what the lab with its changes says.
func (l *Live) apply(ctx context.Context, info Info) error {
	lab, err := l.lab(info)
	if err != nil {
		return err
	}
	if err := lab.CheckReal(); err != nil {
		return err
	}
	spec, err := lab.Fabric(info.Scheme, lab.Seeds[0])
	if err != nil {
		return err
	}
	for _, s := range l.switches {
		if err := s.Change(ctx, spec.Port); err != nil {
			return err
		}
	}
	return nil
}

// lab is the lab with what was set since it came up.
func (l *Live) lab(info Info) (*labs.Lab, error) {
	return labs.Stored(l.text, l.kinds, "lab set", info.Set...)
}

// amend changes what the lab's state folder says of it, while no other process does.
func (l *Live) amend(ctx context.Context, change func(*Info) error) error {
	return journal.Amend(ctx, l.root, l.ID, func(raw json.RawMessage) (any, error) {
		var info Info
		if err := json.Unmarshal(raw, &info); err != nil {
			return nil, fmt.Errorf("reading the description of lab %s: %w", l.ID, err)
		}
		if err := change(&info); err != nil {
			return nil, err
		}
		l.Info = info
		return info, nil
	})
}
