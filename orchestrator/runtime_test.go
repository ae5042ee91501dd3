package orchestrator

import (
	"strings"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/labs"
	"aqmlab/orchestrator/uml"
	"aqmlab/units"
)

func TestParseRuntime(t *testing.T) {
	for _, name := range RuntimeNames() {
		if r, err := ParseRuntime(name); err != nil || string(r) != name {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
	if _, err := ParseRuntime("cloud"); err == nil || !strings.Contains(err.Error(), "auto, netns") {
		t.Errorf("cloud: %v", err)
	}
}

// TestChooseRuntime: auto is netns for root and labs that fit into real time, else uml
// with a guest kernel, else what is left; it says why.
func TestChooseRuntime(t *testing.T) {
	type machine struct {
		root  bool
		guest func() (string, error)
	}
	with := func() (string, error) { return "the TCP of Linux 6.1.2", nil }
	without := func() (string, error) { return "", uml.ErrUnavailable }
	user, userGuest, root, rootGuest := machine{false, without}, machine{false, with}, machine{true, without}, machine{true, with}
	for name, c := range map[string]struct {
		want      string
		on        machine
		rate      units.Rate
		rtt       time.Duration
		dilation  labs.Dilation
		transport string
		rank      string // of a pifo by flow
		why       string
	}{
		"user":                 {want: "sim", on: user, why: "no guest kernel"},
		"user with guest":      {want: "uml", on: userGuest, why: "Linux 6.1.2"},
		"root":                 {want: "netns", on: root, why: "root"},
		"root with guest":      {want: "netns", on: rootGuest, why: "fits into real time"},
		"fast":                 {want: "netns", on: root, rate: 10 * units.Gbps, why: "slowed down"},
		"fast with guest":      {want: "uml", on: rootGuest, rate: 10 * units.Gbps, why: "more than 1Gbps"},
		"short":                {want: "uml", on: rootGuest, rtt: 50 * time.Microsecond, why: "50µs is less than 200µs"},
		"fast, dilation given": {want: "netns", on: rootGuest, rate: 10 * units.Gbps, dilation: 20, why: "root"},
		"remaining size":       {want: "sim", on: rootGuest, rank: "srpt", why: "cannot serve real hosts"},
		"attained service":     {want: "netns", on: rootGuest, rank: "las", why: "fits into real time"},
		"modelled transport":   {want: "sim", on: rootGuest, transport: "dcqcn", why: "dcqcn"},
	} {
		t.Run(name, func(t *testing.T) {
			lab := parse(t, small)
			lab.Topology.Rate, lab.RTT.Min, lab.Dilation = 100*units.Mbps, time.Millisecond, c.dilation
			if c.rate > 0 {
				lab.Topology.Rate = c.rate
			}
			if c.rtt > 0 {
				lab.RTT.Min = c.rtt
			}
			if c.transport != "" {
				lab.Host.Transport = c.transport
			}
			if c.rank != "" {
				lab.Switch.Scheduler = kind.Choice{Kind: "pifo", Params: map[string]any{"rank": c.rank, "by": "flow"}}
				if err := lab.CheckReal(); (err != nil) != (c.want == "sim") {
					t.Errorf("rank %s: for real hosts: %v", c.rank, err)
				}
			}
			rows := Runtimes()
			for i := range rows {
				if rows[i].Find != nil {
					rows[i].Find = c.on.guest
				}
			}
			r, why := choose(rows, lab, c.on.root)
			if r.Name != c.want || !strings.HasPrefix(why, "runtime "+c.want+": ") || !strings.Contains(why, c.why) {
				t.Errorf("%v because %q, want %v because of %q", r.Name, why, c.want, c.why)
			}
		})
	}
}
