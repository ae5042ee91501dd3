package labs

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"aqmlab/kind"
	"aqmlab/labs/schema"
	"aqmlab/labs/topologies"
	"aqmlab/trafficgen/parser"
	"aqmlab/units"
)

// programsKey is the path of the list of programs.
const programsKey = "programs"

// checkPrograms wants hosts of the layout, something to run, and what fits together.
func checkPrograms(r *schema.Reader, l *Lab, layout topologies.Layout) {
	listening := make(map[string]string) // names of programs, by where they listen
	for i := range l.Programs {
		p := &l.Programs[i]
		path := programsKey + "." + p.Name
		checkHostName(r, path+".on", p.On, layout)
		checkTimes(r, path, p)
		for j, port := range p.Listens {
			where := net.JoinHostPort(p.On, strconv.Itoa(port))
			if other := listening[where]; other != "" {
				r.Fail(fmt.Sprintf("%s.listens[%d]", path, j), "%s listens at port %d of %s already", other, port, p.On)
			}
			listening[where] = p.Name
		}
		checkPlaceholders(r, path, p, layout)
		if p.Metrics.Kind != "" {
			schema.BuildOf(r, path+".metrics", p.Metrics, parser.Table(), struct{}{})
		}
	}
	if l.Workload.Arrival.Kind == noArrival && len(l.Programs)+len(l.Background) == 0 {
		r.Fail(workloadKey+".arrival", "%s: there is nothing to measure: want programs, or a background", noArrival)
	}
}

// noArrival is the arrival process without any flow.
const noArrival = "none"

// checkTimes wants something to run, and an end after the begin.
func checkTimes(r *schema.Reader, path string, p *Program) {
	if len(p.Run) == 0 && r.Sound(path+".run") {
		r.Fail(path+".run", "missing: want a program and its arguments, such as [iperf3, -s]")
	}
	if !r.Sound(path+".at", path+".stop") {
		return
	}
	switch {
	case p.Serves && p.Stop > 0:
		r.Fail(path+".stop", "a program that serves is stopped when all else has ended: want one of serves and stop")
	case p.Stop > 0 && p.Stop <= p.At:
		r.Fail(path+".stop", "%s is not after at, %s", units.FormatTime(p.Stop), units.FormatTime(p.At))
	case len(p.Listens) > 0 && p.At > 0:
		r.Fail(path+".at", "a program that listens starts before time zero: want one of at and listens")
	}
}

// checkPlaceholders wants names that have a value.
func checkPlaceholders(r *schema.Reader, path string, p *Program, layout topologies.Layout) {
	if len(layout.Names) == 0 {
		return
	}
	known := []string{"scheme", "load", "seed"}
	for key, all := range map[string][]string{"run": p.Run, "env": p.Env} {
		for i, text := range all {
			at := fmt.Sprintf("%s.%s[%d]", path, key, i)
			expand(text, func(name string) string {
				if !slices.Contains(known, name) && !slices.Contains(layout.Names, name) {
					r.Fail(at, "{%s} is no host of the lab, scheme, load or seed: want one of them, or {{%s}} for the text itself", name, name)
				}
				return ""
			})
			if name, _, ok := strings.Cut(text, "="); key == "env" && (!ok || name == "") {
				r.Fail(at, "%s is not NAME=value", kind.Show(text))
			}
		}
	}
}
