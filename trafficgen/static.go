package trafficgen

import (
	"fmt"
	"time"

	"aqmlab/kind"
	"aqmlab/trafficgen/traffic"
	"aqmlab/units"
)

// static is a set of long flows, in groups whose flows start together.
type static struct {
	Count    []int           `lab:"count" range:"1..100000" doc:"flows of each group; each of the other lists holds one value for all groups, or one for each"`
	Servers  []int           `lab:"servers" doc:"host that sends, counted from 1; without, the hosts of the pattern in turn"`
	Clients  []int           `lab:"clients" doc:"host that receives, counted from 1; without, as the pattern has it"`
	Services []int           `lab:"services" doc:"service, counted from 0; without, the flows take all services in turn"`
	Start    []time.Duration `lab:"start" range:"0s..100h" doc:"when the flows start; without, at once"`
	Stop     []time.Duration `lab:"stop" range:"0s..100h" doc:"when the senders stop; 0s or without, after a size of the workload's"`
	Rate     []units.Rate    `lab:"rate" range:"0bps..1000Tbps" doc:"most payload that a flow's application offers; 0bps or without, no limit"`
}

var _ Arrival = static{}

func newStatic(p static, _ Env) (Arrival, error) {
	if len(p.Count) == 0 {
		return nil, kind.Invalid("count", "empty: want the number of flows of at least one group")
	}
	lengths := []struct {
		param  string
		length int
	}{
		{"servers", len(p.Servers)}, {"clients", len(p.Clients)}, {"services", len(p.Services)},
		{"start", len(p.Start)}, {"stop", len(p.Stop)}, {"rate", len(p.Rate)},
	}
	for _, l := range lengths {
		if l.length > 1 && l.length != len(p.Count) {
			return nil, kind.Invalid(l.param, "%d values for %d groups: want one for all, or one for each", l.length, len(p.Count))
		}
	}
	return p, p.checkTimes()
}

func (p static) checkTimes() error {
	for g := range p.Count {
		start, stop := valueFor(p.Start, g), valueFor(p.Stop, g)
		if stop != 0 && stop <= start {
			return kind.Invalid("stop", "%s is not above the start, %s", units.FormatTime(stop), units.FormatTime(start))
		}
	}
	return nil
}

// valueFor is the value of a group in a list that has one for all, one for each, or
// none.
func valueFor[T any](list []T, group int) (value T) {
	switch len(list) {
	case 0:
		return value
	case 1:
		return list[0]
	}
	return list[group]
}

func (static) ByLoad() bool { return false }

func (p static) check(w *workload) error {
	err := p.misfit(w)
	if err != nil {
		return fmt.Errorf("arrival: static: %w", err)
	}
	return nil
}

func (p static) misfit(w *workload) error {
	switch {
	case p.Servers != nil && p.Clients == nil && !w.pattern.oneClient:
		return fmt.Errorf("pattern %s does not say who receives from the servers: want clients, too, or many-to-one", w.Pattern)
	case p.Clients != nil && p.Servers == nil && !w.pattern.oneServer:
		return fmt.Errorf("pattern %s does not say who sends to the clients: want servers, too, or one-to-many", w.Pattern)
	}
	for g := range p.Count {
		if stop, last := valueFor(p.Stop, g), valueFor(p.Start, g)+w.Jitter; stop != 0 && stop <= last {
			return fmt.Errorf("stop: %s is not above %s, when a flow may start with jitter", units.FormatTime(stop), units.FormatTime(last))
		}
		if s := valueFor(p.Services, g); s < 0 || s >= len(w.services) {
			return fmt.Errorf("services: %d is outside 0 to %d", s, len(w.services)-1)
		}
		if p.Servers == nil && p.Clients == nil {
			continue
		}
		switch client, server := p.given(w, g); {
		case min(client, server) < 0 || max(client, server) >= w.Hosts:
			return fmt.Errorf("client %d or server %d is outside 1 to %d", client+1, server+1, w.Hosts)
		case client == server:
			return fmt.Errorf("host %d is both client and server", client+1)
		}
	}
	return nil
}

// given are the hosts of a group for which servers or clients are given. What
// is not given is the one host of the pattern.
func (p static) given(w *workload, group int) (client, server int) {
	client, server = w.Host, w.Host
	if p.Clients != nil {
		client = valueFor(p.Clients, group) - 1
	}
	if p.Servers != nil {
		server = valueFor(p.Servers, group) - 1
	}
	return client, server
}

// ends are the hosts of the k-th flow of all.
func (p static) ends(w *workload, group, k int) (client, server int) {
	switch {
	case p.Servers != nil || p.Clients != nil:
		return p.given(w, group)
	case w.pattern.turn != nil:
		return w.pattern.turn(w.layout, k)
	}
	return w.pattern.pick(w.endpoints, w.layout)
}

func (p static) flows(w *workload) []traffic.Flow {
	var flows []traffic.Flow
	for g, count := range p.Count {
		for range count {
			k := len(flows)
			client, server := p.ends(w, g, k)
			f := traffic.Flow{
				Start:  max(valueFor(p.Start, g), 1),
				Client: client,
				Server: server,
				Bytes:  traffic.MaxBytes,
				Push:   w.Push,
				Stop:   valueFor(p.Stop, g),
				Rate:   valueFor(p.Rate, g),
			}
			f.Service = k % len(w.services)
			if p.Services != nil {
				f.Service = valueFor(p.Services, g)
			} else if w.pairs != nil {
				f.Service = w.pairs.service(client, server)
			}
			if f.Stop == 0 {
				f.Bytes = w.sizesOf(f.Service).Draw(w.streams.sizes)
			}
			flows = append(flows, f)
		}
	}
	return flows
}
