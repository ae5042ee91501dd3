//go:build linux

package orchestrator

import (
	"cmp"
	"errors"
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

// TestChooseRuntime: auto is netns for labs that fit into real time, where somebody is
// root or may be root of a user namespace and the kernel has their transport for him,
// else uml with a guest kernel, else what is left; it says why, and which transport stands
// in for one that the kernel does not give. A lab that names its kernel gets guests, or
// later the error for want of it.
func TestChooseRuntime(t *testing.T) {
	type machine struct {
		user
		guest func(string) (string, error)
	}
	with := func(string) (string, error) { return "the TCP of Linux 6.1.2", nil }
	without := func(string) (string, error) { return "", uml.ErrUnavailable }
	has := func(*labs.Lab) error { return nil }
	lacks := func(lab *labs.Lab) error {
		if lab.Host.Transport == "dctcp" {
			return errors.New("no dctcp here")
		}
		return nil
	}
	barred := errors.New("sysctl user.max_user_namespaces=0 forbids user namespaces")
	barredUser, root := user{false, barred, has}, user{true, nil, lacks}
	freeUser, poorUser := user{false, nil, has}, user{false, nil, lacks}
	for name, c := range map[string]struct {
		want      string
		on        machine
		rate      units.Rate
		rtt       time.Duration
		dilation  labs.Dilation
		transport string
		params    map[string]any // of the transport
		rank      string         // of a pifo by flow
		kernel    string         // of guests
		why       string
		speaks    string // in place of the lab's transport
	}{
		"user":                  {want: "sim", on: machine{barredUser, without}, why: "sysctl user.max_user_namespaces=0 forbids user namespaces"},
		"user, no guest":        {want: "sim", on: machine{barredUser, without}, why: "no guest kernel"},
		"user with guest":       {want: "uml", on: machine{barredUser, with}, why: "Linux 6.1.2"},
		"barred with guest":     {want: "uml", on: machine{barredUser, with}, why: "sysctl user.max_user_namespaces=0"},
		"rootless":              {want: "netns", on: machine{freeUser, without}, why: "not root"},
		"rootless with guest":   {want: "netns", on: machine{freeUser, with}, why: "fits into real time"},
		"rootless, fast":        {want: "netns", on: machine{freeUser, without}, rate: 10 * units.Gbps, why: "slowed down"},
		"rootless, fast, guest": {want: "uml", on: machine{freeUser, with}, rate: 10 * units.Gbps, why: "more than 1Gbps"},
		"no dctcp":              {want: "netns", on: machine{poorUser, without}, why: "ecn-star in place of dctcp", speaks: "ecn-star"},
		"no dctcp, guest":       {want: "uml", on: machine{poorUser, with}, why: "dctcp"},
		"no dctcp, not asked":   {want: "netns", on: machine{poorUser, without}, transport: "cubic", why: "not root"},
		"no dctcp, particular":  {want: "sim", on: machine{poorUser, without}, params: map[string]any{"on_loss": "alpha"}, why: "dctcp"},
		"rootless, modelled":    {want: "sim", on: machine{freeUser, without}, transport: "dcqcn", why: "dcqcn"},
		"rootless, remaining":   {want: "sim", on: machine{freeUser, without}, rank: "srpt", why: "cannot serve real hosts"},
		"root":                  {want: "netns", on: machine{root, without}, why: "root"},
		"root with guest":       {want: "netns", on: machine{root, with}, why: "fits into real time"},
		"fast":                  {want: "netns", on: machine{root, without}, rate: 10 * units.Gbps, why: "slowed down"},
		"fast with guest":       {want: "uml", on: machine{root, with}, rate: 10 * units.Gbps, why: "more than 1Gbps"},
		"short":                 {want: "uml", on: machine{root, with}, rtt: 50 * time.Microsecond, why: "50µs is less than 200µs"},
		"fast, dilation given":  {want: "netns", on: machine{root, with}, rate: 10 * units.Gbps, dilation: 20, why: "root"},
		"remaining size":        {want: "sim", on: machine{root, with}, rank: "srpt", why: "cannot serve real hosts"},
		"attained service":      {want: "netns", on: machine{root, with}, rank: "las", why: "fits into real time"},
		"names kernel":          {want: "uml", on: machine{root, with}, kernel: "6.12", why: "host.kernel"},
		"names missing kernel":  {want: "uml", on: machine{freeUser, without}, kernel: "6.12", why: "host.kernel"},
		"names kernel, models":  {want: "sim", on: machine{root, with}, kernel: "6.12", transport: "dcqcn", why: "dcqcn"},
		"modelled transport":    {want: "sim", on: machine{root, with}, transport: "dcqcn", why: "dcqcn"},
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
			lab.Host.TransportParams = c.params
			if c.kernel != "" {
				lab.Host.Kernel = c.kernel
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
			got := choose(rows, lab, c.on.user)
			if got.row.Name != c.want || !strings.HasPrefix(got.why, "runtime "+c.want+": ") || !strings.Contains(got.why, c.why) || strings.Contains(got.why, "\n") {
				t.Errorf("%v because %q, want %v because of %q", got.row.Name, got.why, c.want, c.why)
			}
			if want := cmp.Or(c.speaks, lab.Host.Transport); got.lab.Host.Transport != want {
				t.Errorf("hosts speak %s, want %s", got.lab.Host.Transport, want)
			}
		})
	}
}
