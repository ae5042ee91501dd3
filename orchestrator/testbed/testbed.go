// Package testbed is the runtimes netns and docker: real hosts on this machine's kernel.
// It brings a lab up, finds out how fast this machine can run it, runs points on it,
// collects what was measured, and removes it.
package testbed

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"aqmlab/labs"
	"aqmlab/orchestrator/docker"
	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/host/cc"
	"aqmlab/orchestrator/journal"
	"aqmlab/orchestrator/netns"
	"aqmlab/orchestrator/role"
	"aqmlab/results"
	"aqmlab/switch/port"
	"aqmlab/units"
)

// ErrNotRoot is returned where a testbed is asked for without the rights to
// make one.
var ErrNotRoot = errors.New("real hosts need root here: network namespaces, packet sockets and BPF; run it with sudo")

// ErrOneMachine is returned where a lab that lies on several machines is to have hosts
// that are no containers.
var ErrOneMachine = errors.New("hosts on several machines are containers: want --runtime docker, or a lab without machines")

// Options say how a testbed is brought up.
type Options struct {
	Root     string     // folder of the state of all labs; empty: this user's, see journal.Root
	Log      io.Writer  // gets what the helper processes complain about, several at a time; may be nil
	Runtime  string     // name of the runtime, for who looks at a lab that stays
	Detached bool       // the testbed stays when this process ends
	Virtual  bool       // this machine is a guest whose time is virtual; this process is all of the lab
	Kinds    port.Kinds // of a switch that is in this process
	Image    string     // root of the file system of the lab's programs; empty: that of this process
	// Containers makes the hosts and the switch Docker containers.
	Containers bool
	Program    string // path of the static program that containers run; empty: this one
	// Uncalibrated says that nobody calibrates the testbed, so that hosts and switch are
	// to add to a round trip as little as they can while the lab is idle. One that is
	// detached is uncalibrated.
	Uncalibrated bool
	// CPUs are those of this machine that the lab may use; none: all.
	CPUs []int

	share *Share // of a lab on several machines, that this one has
}

// root is the folder of the state of all labs.
func (o Options) root() string {
	return cmp.Or(o.Root, journal.Root())
}

// Testbed is a lab's hosts and switch, up and idle or running one point.
type Testbed struct {
	lab      *labs.Lab
	journal  *journal.Journal
	controls controls
	speaks   []Congestion // by the transport of flows
	net      *netns.Lab
	plan     netns.Plan
	cpus     CPUs
	allowed  []int           // of this machine's CPUs; none: all
	switches []switchProcess // see switches.go
	hosts    fleet
	remotes  []*remote // the machines of a lab that lies on several; else none
	grounds  []ground
	ahead    []time.Duration // of the clock of each ground; see process
	lead     time.Duration   // more time than else for the start of a replay
	engine   *docker.Engine  // of hosts and switch that are containers of this machine; else nil
	whole    *wholeness      // nil while nobody watches
	blamed   bool            // an error has said which process died

	virtual      bool         // see [Options]
	stays        bool         // Detached of them
	uncalibrated bool         // see [Options]
	image        string       // the same
	contained    bool         // Containers of them
	share        *Share       // of a lab on several machines, that this one has; else nil
	uplinks      []units.Rate // of the hosts, if they are not alike
	dilation     float64
	overhead     time.Duration // wall time that hosts and switch add to a round trip
	statesShared bool          // the hosts' process can read the states of DCTCP from eBPF
	netem        bool          // the hosts' kernels make the RTTs that are drawn; else the switch
	seen         observed      // of the replay that is going on
}

// Lab is the lab that the testbed runs.
func (t *Testbed) Lab() *labs.Lab { return t.lab }

// Use has the testbed run another lab of the same hosts from now on.
func (t *Testbed) Use(lab *labs.Lab) { t.lab = lab }

// Network is where the hosts and the switch are.
func (t *Testbed) Network() *netns.Lab { return t.net }

// Congestion is what the hosts speak, as their kernels know it.
type Congestion struct {
	Name     string      // of the congestion control
	Common   string      // another name, by which programs find it; the same, or empty where it has none
	Provider cc.Provider // what provides it
	ECN      bool        // whether it asks for ECN
}

// controls are the congestion controls that the kernel of this machine gives the hosts,
// each once. There are none where other machines have the hosts.
type controls []*cc.Handle

// Congestion is that of the hosts' transport.
func (t *Testbed) Congestion() Congestion { return t.speaks[0] }

// processes are all processes of the testbed that run.
func (t *Testbed) processes() []process {
	var all []process
	for _, p := range t.hosts {
		all = append(all, p.process)
	}
	for _, p := range t.switches {
		all = append(all, p.process)
	}
	return all
}

// observed is what has been seen of a replay that is going on.
type observed struct {
	flows   []results.Flow          // that completed
	samples [][]results.QueueSample // of each switch
}

// Replayed is what a replay leaves.
type Replayed struct {
	zero     int64   // CLOCK_MONOTONIC at the trace's time zero
	idle     []Usage // by grounds, once all connections were open
	Flows    []results.Flow
	probes   []results.ProbeSample
	senders  []results.SenderSample
	services []results.ServiceSample
	programs programsMeasured
}

// measurement is what one replay leaves.
type measurement struct {
	Replayed
	hosts []results.HostCount
	sw    role.Measured
	cpu   float64 // share of the hosts' CPUs that the lab used
	// kernel adds up what the hosts' kernels counted.
	kernel host.Counters
	clocks []results.Clock // of several machines
}

// CPUs are the machine's processors, shared out between switch and hosts.
type CPUs struct {
	Switches []int // none: not pinned
	Hosts    []int
}

// SplitCPUs gives the last CPUs that we may use to the switches, one each and at
// most half of all, so that nobody takes the hosts'. A machine with one CPU
// shares it.
func SplitCPUs(switches int) (CPUs, error) {
	all, err := host.CPUs()
	if err != nil {
		return CPUs{}, fmt.Errorf("reading which CPUs there are: %w", err)
	}
	return splitCPUs(all, switches), nil
}

func splitCPUs(all []int, switches int) CPUs {
	at := len(all) - min(switches, len(all)/2)
	return CPUs{Switches: all[at:], Hosts: slices.Clip(all[:at])}
}

// localSwitches counts the processes of switches on this machine.
func (t *Testbed) localSwitches() (n int) {
	for _, name := range t.plan.Switches {
		if t.plan.Here(name) {
			n++
		}
	}
	return n
}

// shareCPUs shares the CPUs of this machine out to its hosts and that many switches.
func (t *Testbed) shareCPUs(switches int) error {
	var err error
	if len(t.allowed) == 0 {
		t.cpus, err = SplitCPUs(switches)
	} else {
		t.cpus = splitCPUs(t.allowed, switches)
	}
	t.plan.ReceiveCPUs = t.cpus.Hosts
	return err
}
