package results

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
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
	Version     string      `json:"aqmlab_version"`
	GitRevision string      `json:"git_revision"`
	Start       time.Time   `json:"start"`
	End         time.Time   `json:"end,omitzero"`
	Resumed     []time.Time `json:"resumed,omitempty"` // when it was gone on with after an early end
	State       State       `json:"state"`
	Reason      string      `json:"reason,omitempty"` // why the state is not complete
	Host        Machine     `json:"host"`
	Runtime     string      `json:"runtime"`
	Dilation    float64     `json:"dilation"` // wall time over lab time; 1 in virtual time
	Transport   Transport   `json:"transport"`
	RTTBy       string      `json:"rtt_by"`
	BaseRTT     Micros      `json:"base_rtt_us"` // measured, in lab time, without what the lab draws; zero when it was not
	BaseRTTs    []BaseRTT   `json:"base_rtts,omitempty"`
	Lab         string      `json:"lab"`
	LabHash     string      `json:"lab_sha256"` // of lab.yaml
	Schemes     []string    `json:"schemes"`
	Loads       []float64   `json:"loads"`
	Seeds       []uint64    `json:"seeds"`
	Baseline    string      `json:"baseline"`
	Points      []PointInfo `json:"points"` // those on disk
}

// Machine is where a run was made.
type Machine struct {
	Kernel    string `json:"kernel"`
	CPU       string `json:"cpu_model"`
	Cores     int    `json:"cores"`
	Memory    int64  `json:"memory_bytes"`
	GoVersion string `json:"go_version"`
}

// Transport is the congestion control that the hosts ran, and whose it is:
// for example the kernel's own, one loaded by eBPF, or a model.
type Transport struct {
	Name     string `json:"name"`
	Provider string `json:"provider"`
}

// Micros is a time that JSON holds as a number of microseconds.
type Micros time.Duration

// ProviderModel is the provider of the transports of modelled hosts.
const ProviderModel = "model"

// MarshalJSON writes microseconds.
func (m Micros) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "%g", micros(time.Duration(m))), nil
}

// UnmarshalJSON reads microseconds, to the nanosecond.
func (m *Micros) UnmarshalJSON(b []byte) error {
	var us float64
	if _, err := fmt.Sscanf(string(b), "%g", &us); err != nil {
		return fmt.Errorf("%s is not a number of microseconds: %w", b, err)
	}
	*m = Micros(fromMicros(us))
	return nil
}

// PointInfo is a point without its records.
type PointInfo struct {
	Scheme    string   `json:"scheme"`
	Load      float64  `json:"load"`
	Seed      uint64   `json:"seed"`
	Flows     int      `json:"flows"`
	Completed int      `json:"completed"`
	Fidelity  Fidelity `json:"fidelity"`
}

// fileName is what a lab or scheme name must look like to stand in a path.
func fileName(s string) bool {
	return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+#-]*$`).MatchString(s)
}

// check tells what keeps a manifest from being stored.
func (m Manifest) check() error {
	switch {
	case !fileName(m.Lab):
		return fmt.Errorf("lab name %q cannot stand in a file name: want letters, digits, and any of . _ + # -", m.Lab)
	case m.Start.IsZero():
		return errors.New("the manifest has no start time")
	case m.Baseline != "" && !slices.Contains(m.Schemes, m.Baseline):
		return fmt.Errorf("baseline %q is not one of the schemes %s", m.Baseline, strings.Join(m.Schemes, ", "))
	}
	for _, s := range m.Schemes {
		if !fileName(s) {
			return fmt.Errorf("scheme name %q cannot stand in a file name: want letters, digits, and any of . _ + # -", s)
		}
	}
	return nil
}

// folder is the run's name: UTC time, lab, and the start of the lab's hash.
func (m Manifest) folder() string {
	return fmt.Sprintf("%s-%s-%.8s", m.Start.UTC().Format("20060102T150405Z"), m.Lab, m.LabHash)
}

func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
