package trafficgen

import (
	"errors"
	"fmt"
	"time"

	"aqmlab/kind"
	"aqmlab/trafficgen/traffic"
	"aqmlab/units"
)

const maxFanOut = 100_000

// incast is a series of queries. Each has one client, drawn by the pattern, and
// a number of responses that start together. They come from all servers that
// the pattern has for the client in random order, one from each, and round
// again when there are more responses than servers.
type incast struct {
	FanOut    int           `lab:"fan_out" doc:"responses to a query"`
	FanOutMax int           `lab:"fan_out_max" doc:"most responses to a query, whose number is then drawn uniformly from fan_out on; without, fan_out"`
	Total     units.Size    `lab:"total" doc:"payload of all responses to a query together, split evenly; without, each has a size of its own"`
	Queries   int           `lab:"queries" range:"0..1000000" doc:"how many; without, as many as it takes to have the workload's number of flows"`
	Start     time.Duration `lab:"start" range:"0s..100h" doc:"time of the first query; without, at once"`
	Gap       time.Duration `lab:"gap" range:"0s..100h" doc:"time between queries; without, random with the mean that gives the load"`
}

var _ Arrival = incast{}

func newIncast(p incast, _ Env) (Arrival, error) {
	if p.FanOutMax == 0 {
		p.FanOutMax = p.FanOut
	}
	switch {
	case p.FanOut < 1 || p.FanOut > maxFanOut:
		return nil, kind.Invalid("fan_out", "%d is outside 1 to %d", p.FanOut, maxFanOut)
	case p.FanOutMax < p.FanOut || p.FanOutMax > maxFanOut:
		return nil, kind.Invalid("fan_out_max", "%d is outside fan_out, %d, to %d", p.FanOutMax, p.FanOut, maxFanOut)
	case p.Total != 0 && p.Total < units.Size(p.FanOutMax) || p.Total > traffic.MaxBytes:
		return nil, kind.Invalid("total", "%v is outside a byte for each response, %dB, to %dB", p.Total, p.FanOutMax, int64(traffic.MaxBytes))
	}
	return p, nil
}

func (p incast) ByLoad() bool { return p.Gap == 0 && p.Queries != 1 }

// fan is the mean number of responses to a query.
func (p incast) fan() float64 { return float64(p.FanOut+p.FanOutMax) / 2 }

// mean is the mean time in nanoseconds between queries.
func (p incast) mean(w *workload) float64 {
	switch {
	case !p.ByLoad():
		return float64(p.Gap)
	case p.Total > 0:
		return w.gap() * (float64(p.Total) / w.mean)
	}
	return w.gap() * p.fan()
}

func (p incast) check(w *workload) error {
	if p.ByLoad() {
		if err := w.checkLoad(); err != nil {
			return err
		}
	}
	if p.Queries == 0 {
		if err := w.checkFlows(); err != nil {
			return err
		}
	}
	if w.pattern.oneServer {
		return errors.New("arrival: incast: a query has many servers, pattern one-to-many a single one")
	}
	queries := float64(p.Queries)
	if p.Queries == 0 {
		queries = float64(w.Flows) / p.fan()
	}
	return checkSpan(fmt.Sprintf("%.0f queries", queries), float64(p.Start)+float64(p.mean(w)*queries))
}

func (p incast) flows(w *workload) []traffic.Flow {
	var flows []traffic.Flow
	at, mean := p.Start, p.mean(w)
	for query := 1; p.more(w, query, len(flows)); query++ {
		flows = append(flows, p.query(w, query, at)...)
		if p.ByLoad() {
			at += randomGap(w.gaps, mean)
		} else {
			at += p.Gap
		}
	}
	return flows
}

// more tells whether there is a query of that number, behind so many flows.
func (p incast) more(w *workload, query, flows int) bool {
	if p.Queries > 0 {
		return query <= p.Queries
	}
	return flows < w.Flows
}

// query draws the flows of one query.
func (p incast) query(w *workload, number int, at time.Duration) []traffic.Flow {
	client, _ := w.pattern.pick(w.endpoints, w.layout)
	var servers []int
	for server := range w.Hosts {
		if w.pattern.has(w.layout, client, server) {
			servers = append(servers, server)
		}
	}
	w.queries.Shuffle(len(servers), func(i, j int) { servers[i], servers[j] = servers[j], servers[i] })
	flows := make([]traffic.Flow, p.FanOut+w.queries.IntN(p.FanOutMax-p.FanOut+1))
	for i := range flows {
		flows[i] = w.flow(at, client, servers[i%len(servers)])
		flows[i].Query = number
		if p.Total > 0 {
			flows[i].Bytes = part(int64(p.Total), len(flows), i)
		}
	}
	return flows
}

// part is what the i-th of n gets of a total that is split evenly: a byte more
// than others when it is among the first.
func part(total int64, n, i int) int64 {
	share := total / int64(n)
	if int64(i) < total%int64(n) {
		share++
	}
	return share
}
