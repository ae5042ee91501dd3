package results

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"
)

// State says how far a run came.
type State string

// States of a run. A manifest holds one of the first three; the others are what
// [List] finds out.
const (
	Running     State = "running"     // a writer is adding points
	Complete    State = "complete"    // every point is there
	Partial     State = "partial"     // ended early; the points that are there are whole
	Interrupted State = "interrupted" // its writer was killed; the points that are there are whole
	Broken      State = "broken"      // damaged: something that it should have is missing or cannot be read
)

// How the base RTT is made.
const (
	RTTByDelayLine = "delay line" // the switch holds frames back
	RTTByNetem     = "netem"      // the hosts' kernel does
)

// Manifest says what made a run and where, so that it can be judged and made
// again. Create fills in the lab's hash; the writer keeps the state, the end
// and the points.
type Manifest struct {
	Schema      int         `json:"schema,omitempty"` // [Schema] of the version that stored it last
	Version     string      `json:"aqmlab_version"`
	GitRevision string      `json:"git_revision"`
	Start       time.Time   `json:"start"`
	End         time.Time   `json:"end,omitzero"`
	Resumed     []time.Time `json:"resumed,omitempty"` // when it was gone on with after an early end
	State       State       `json:"state"`
	Reason      string      `json:"reason,omitempty"` // why the state is not complete
	Host        Machine     `json:"host"`
	Machines    []Station   `json:"machines,omitempty"` // where hosts and switches were, if not on that one
	Runtime     string      `json:"runtime"`
	Rootless    bool        `json:"rootless,omitempty"` // an ordinary user made it, on hosts in a user namespace
	Dilation    float64     `json:"dilation"`           // wall time over lab time; 1 in virtual time
	Transport   Transport   `json:"transport"`
	Transports  []Spoken    `json:"transports,omitempty"` // that some flows speak in place of it; see [Flow.Transport]
	RTTBy       string      `json:"rtt_by"`
	BaseRTT     Micros      `json:"base_rtt_us"` // measured, in lab time, without what the lab draws; zero when it was not
	BaseRTTs    []BaseRTT   `json:"base_rtts,omitempty"`
	PollsOn     []int       `json:"polls_on,omitempty"` // CPUs of the host on which switches poll for frames and do not sleep, see docs/fidelity.md
	Lab         string      `json:"lab"`
	LabHash     string      `json:"lab_sha256"` // of lab.yaml
	Schemes     []string    `json:"schemes"`
	Events      []Event     `json:"events,omitempty"`     // what happened to the network meanwhile
	Derived     []Derived   `json:"derived,omitempty"`    // what the lab leaves to its schemes
	Background  []string    `json:"background,omitempty"` // names of the streams beside the workload, in the order of [Flow.Workload] from 1
	Rates       []PortRate  `json:"rates,omitempty"`      // of the links that switches send by
	Loads       []float64   `json:"loads"`
	Seeds       []uint64    `json:"seeds"`
	Baseline    string      `json:"baseline"`
	Points      []PointInfo `json:"points"` // those on disk

	Checksums bool              `json:"checksums,omitempty"`                // every point has the checksums of its files, but for those below; false: an older version, which noted none, made the run
	Unsummed  []string          `json:"points_without_checksums,omitempty"` // folders of points that such a version stored
	Files     map[string]string `json:"files_sha256,omitempty"`             // checksums of what was made for readers of the run
}

// Event is a change of the network in the course of every point.
type Event struct {
	At   Micros `json:"at_us"`            // lab time
	For  Micros `json:"for_us,omitempty"` // after which it was as before; zero: it lasted
	What string `json:"what"`
}

// String is the event in a line.
func (e Event) String() string { return fmt.Sprintf("%v: %s", e.At, e.What) }

// Station is one of several machines on which a run was made.
type Station struct {
	Name    string  `json:"name"`
	Address string  `json:"address"` // on the network between the machines
	Machine Machine `json:"machine"`
}

// Machine is where a run was made.
type Machine struct {
	Kernel    string `json:"kernel"`
	CPU       string `json:"cpu_model"`
	Cores     int    `json:"cores"`
	Memory    int64  `json:"memory_bytes"`
	GoVersion string `json:"go_version"`
}

// ofGuest stands between the kernel of guests and the machine's own.
const ofGuest = " (guest, User-Mode Linux) on "

// OnGuest is the machine with hosts that have a guest kernel of that release.
func (m Machine) OnGuest(release string) Machine {
	m.Kernel = release + ofGuest + m.Kernel
	return m
}

// Kernels are the releases of guests and of the machine itself; empty: there were no guests.
func (m Machine) Kernels() (guest, own string) {
	if guest, own, ok := strings.Cut(m.Kernel, ofGuest); ok {
		return guest, own
	}
	return "", m.Kernel
}

// Transport is the congestion control that the hosts ran, and whose it is:
// for example the kernel's own, one loaded by eBPF, or a model.
type Transport struct {
	Name      string `json:"name"`
	Provider  string `json:"provider"`
	InPlaceOf string `json:"in_place_of,omitempty"` // that the lab asked for, if nobody provided it
}

// String names it with its provider.
func (t Transport) String() string {
	if t.InPlaceOf == "" {
		return fmt.Sprintf("%s (%s)", t.Name, t.Provider)
	}
	return fmt.Sprintf("%s (%s), in place of %s", t.Name, t.Provider, t.InPlaceOf)
}

// Spoken is a transport that some flows speak. Those do that fit all that is given, and no
// entry before.
type Spoken struct {
	Name       string    `json:"name"` // in the lab
	Transport  Transport `json:"transport"`
	Services   []int     `json:"services,omitempty"`   // of the flows, from 0; none: any
	Hosts      []string  `json:"hosts,omitempty"`      // that send the data; none: any
	Background []string  `json:"background,omitempty"` // names of the workloads that the flows belong to; none: any
	ECN        string    `json:"ecn,omitempty"`        // codepoint of its data packets: ect0, ect1 or none; empty: the transport's own
	DSCP       *int      `json:"dscp,omitempty"`       // of its packets; nil: that of the service
}

// String names it, and what is spoken.
func (s Spoken) String() string { return s.Name + ": " + s.Transport.String() }

// Speaks names all transports.
func (m Manifest) Speaks() string {
	if len(m.Transports) == 0 {
		return m.Transport.String()
	}
	return m.Transport.String() + ", " + Join(m.Transports)
}

// ProvidedBy notes who provides the transports, by their numbers: that of the hosts first.
// Of one provider, it provides all.
func (m *Manifest) ProvidedBy(providers ...string) {
	for i, t := range m.transports() {
		t.Provider = providers[min(i, len(providers)-1)]
	}
}

// InPlaceOf notes the transports that the lab asked for, in the same order, where hosts
// speak others.
func (m *Manifest) InPlaceOf(asked []string) {
	for i, t := range m.transports() {
		if i < len(asked) {
			t.InPlaceOf = asked[i]
		}
	}
}

func (m *Manifest) transports() []*Transport {
	all := []*Transport{&m.Transport}
	for i := range m.Transports {
		all = append(all, &m.Transports[i].Transport)
	}
	return all
}

// Micros is a time that JSON holds as a number of microseconds.
type Micros time.Duration

// ProviderModel is the provider of the transports of modelled hosts.
const ProviderModel = "model"

func (m Micros) String() string { return time.Duration(m).String() }

// MarshalJSON writes microseconds.
func (m Micros) MarshalJSON() ([]byte, error) {
	return json.Marshal(Microseconds(time.Duration(m)))
}

// UnmarshalJSON reads microseconds, to the nanosecond.
func (m *Micros) UnmarshalJSON(b []byte) error {
	var us float64
	if err := json.Unmarshal(b, &us); err != nil {
		return fmt.Errorf("%s is not a number of microseconds: %w", b, err)
	}
	*m = Micros(math.Round(us * 1e3))
	return nil
}

// Microseconds is a time in microseconds.
func Microseconds(d time.Duration) float64 { return float64(d) / 1e3 }

// PointInfo is a point without its records.
type PointInfo struct {
	Coord
	Flows     int      `json:"flows"`
	Completed int      `json:"completed"`
	Fidelity  Fidelity `json:"fidelity"`
}

// Virtual tells whether hosts were modelled, so that a point is the same on
// every machine.
func (m Manifest) Virtual() bool { return m.Transport.Provider == ProviderModel }

// OnOwnKernel tells whether the hosts had the machine's own kernel: they were neither
// models nor guests, nor another simulator's.
func (m Manifest) OnOwnKernel() bool {
	guest, own := m.Host.Kernels()
	return guest == "" && own != "" && !m.Virtual()
}

// InfoOf is what a point is, without its records.
func InfoOf(p Point) PointInfo {
	info := PointInfo{Coord: p.Coord, Flows: len(p.Flows), Fidelity: p.Fidelity}
	for _, f := range p.Flows {
		if f.Completed() {
			info.Completed++
		}
	}
	return info
}

// Join prints values with commas between.
func Join[T any](values []T) string {
	text := make([]string, len(values))
	for i, v := range values {
		text[i] = fmt.Sprint(v)
	}
	return strings.Join(text, ", ")
}
