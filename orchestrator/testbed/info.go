package testbed

import (
	"slices"
	"strings"
	"time"

	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/netns"
)

// What stands in a lab's state folder beside what the journal writes.
const (
	hostsFile = "hosts"    // the /etc/hosts of its hosts
	labFile   = "lab.yaml" // the lab, as it came up
)

// Info is what a lab's state folder says of it.
type Info struct {
	Lab       string     `json:"lab"`
	Runtime   string     `json:"runtime,omitempty"`
	Scheme    string     `json:"scheme,omitempty"`
	Dilation  float64    `json:"dilation,omitempty"`
	Transport string     `json:"transport,omitempty"`
	Congctl   string     `json:"congestion_control,omitempty"`        // the kernel's name for it
	Common    string     `json:"common_congestion_control,omitempty"` // another name, by which programs find it; the same, or empty where it has none
	Network   *netns.Lab `json:"network,omitempty"`
	// Nodes are the machines of hosts and switches, by their names, of a lab that lies on
	// several.
	Nodes map[string]string `json:"nodes,omitempty"`
	// Of a share of a lab that lies on several machines:
	Owner   string `json:"owner,omitempty"`   // who brought it up; see [Share]
	Machine string `json:"machine,omitempty"` // what he calls this machine
	// Of a lab that was left up:
	Began  int64      `json:"began_ns,omitempty"` // CLOCK_MONOTONIC at its lab time zero
	Set    []string   `json:"set,omitempty"`      // keys that were set since, "key=value"
	Events []Happened `json:"events,omitempty"`   // that were made to happen since
}

// Happened is an event that was made to happen in a lab that is up. Times are lab time
// since the lab came up.
type Happened struct {
	At    time.Duration `json:"at_ns"`
	Until time.Duration `json:"until_ns,omitzero"` // zero: for good
	Words []string      `json:"event"`
}

// now is the lab time since the lab came up.
func (i Info) now() (time.Duration, error) {
	now, err := host.Monotonic()
	return time.Duration(float64(now-i.Began) / i.Dilation), err
}

// Congestion is what the hosts' congestion control is called, by all its names.
func (i Info) Congestion() string {
	if i.Common == "" || i.Common == i.Congctl {
		return i.Congctl
	}
	return i.Congctl + ", " + i.Common
}

// Changes is what was changed since the lab came up and still holds, in words.
func (i Info) Changes() []string {
	all := slices.Clone(i.Set)
	now, err := i.now()
	for _, h := range i.Events {
		if err != nil || h.Until == 0 || h.Until > now {
			all = append(all, strings.Join(h.Words, " "))
		}
	}
	return all
}
