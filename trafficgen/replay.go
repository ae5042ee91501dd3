package trafficgen

import (
	"embed"
	"fmt"
	"io"
	"strings"

	"aqmlab/kind"
	"aqmlab/trafficgen/traffic"
)

//go:embed traces/*.csv
var shipped embed.FS

// replay is a trace of given flows.
type replay struct {
	File string `lab:"file" doc:"CSV or Parquet with columns: start (12.5us), start_s or start_ns; client or dst; server or src; bytes; and, if any, service, workload, query, push, stop_ns, rate_bps, transport. Hosts and services count from 0. flows.parquet of a stored point is one"`
	Name string `lab:"name" doc:"in place of a file, a trace that ships with aqmlab: leafspine-144"`

	rows []row
}

// row is a flow, and where it stands: "line 3", or "row 3" of a Parquet file.
type row struct {
	traffic.Flow
	place  string
	pushed bool // Push is of the file, not of the workload
}

var _ Arrival = replay{}

func newReplay(p replay, env Env) (Arrival, error) {
	param := "file"
	if p.Name != "" {
		param = "name"
	}
	if (p.File == "") == (p.Name == "") {
		return nil, kind.Invalid(param, "want either a file or the name of a trace")
	}
	f, err := p.open(env)
	if err != nil {
		return nil, kind.Invalid(param, "%w", err)
	}
	defer f.Close()
	if p.rows, err = readAny(f); err != nil {
		return nil, kind.Invalid(param, "%s%w", p.Name+p.File, err)
	}
	return p, nil
}

func (p replay) open(env Env) (io.ReadCloser, error) {
	if p.Name == "" {
		return env.open(p.File)
	}
	f, err := shipped.Open("traces/" + p.Name + ".csv")
	if err != nil {
		return nil, kind.Unknown("trace", p.Name, Traces())
	}
	return f, nil
}

// Traces lists the names of the traces that ship with aqmlab.
func Traces() []string {
	entries, err := shipped.ReadDir("traces")
	if err != nil {
		panic(fmt.Sprintf("a folder that is compiled in cannot be read: %v", err))
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".csv"))
	}
	return names
}

func (replay) ByLoad() bool { return false }

func (p replay) check(w *workload) error {
	for _, r := range p.rows {
		if err := w.checkSpoken(&r); err != nil {
			return fmt.Errorf("arrival: trace: %s: %w", r.place, err)
		}
		switch {
		case r.Client >= w.Hosts || r.Server >= w.Hosts:
			return fmt.Errorf("arrival: trace: %s: hosts %d and %d: want 0 to %d", r.place, r.Client, r.Server, w.Hosts-1)
		case r.Service >= len(w.services):
			return fmt.Errorf("arrival: trace: %s: service %d is outside 0 to %d", r.place, r.Service, len(w.services)-1)
		}
	}
	return nil
}

func (p replay) flows(w *workload) []traffic.Flow {
	flows := make([]traffic.Flow, len(p.rows))
	for i, r := range p.rows {
		flows[i] = r.Flow
		if !r.pushed {
			flows[i].Push = w.Push
		}
	}
	return flows
}
