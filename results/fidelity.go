package results

import (
	"encoding/json"
	"math"
	"time"
)

// fidelityJSON is the full text form of a Fidelity, as manifests keep it.
type fidelityJSON struct {
	Label       string   `json:"label"`
	LatenessP50 float64  `json:"lateness_p50_us"`
	LatenessP99 float64  `json:"lateness_p99_us"`
	LatenessMax float64  `json:"lateness_max_us"`
	ShareOfRTT  float64  `json:"lateness_share_of_rtt"`
	EdgeDrops   int64    `json:"edge_drops"`
	Clamped     int64    `json:"clamped"`
	CPUHeadroom float64  `json:"cpu_headroom"`
	Reasons     []string `json:"reasons,omitempty"`
}

// MarshalJSON writes times in microseconds.
func (f Fidelity) MarshalJSON() ([]byte, error) {
	return json.Marshal(fidelityJSON{
		Label:       f.Label,
		LatenessP50: Microseconds(f.LatenessP50),
		LatenessP99: Microseconds(f.LatenessP99),
		LatenessMax: Microseconds(f.LatenessMax),
		ShareOfRTT:  f.ShareOfRTT,
		EdgeDrops:   f.EdgeDrops,
		Clamped:     f.Clamped,
		CPUHeadroom: f.CPUHeadroom,
		Reasons:     f.Reasons,
	})
}

// UnmarshalJSON reads what MarshalJSON writes, to the nanosecond.
func (f *Fidelity) UnmarshalJSON(b []byte) error {
	var j fidelityJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*f = Fidelity{
		Label:       j.Label,
		LatenessP50: fromMicros(j.LatenessP50),
		LatenessP99: fromMicros(j.LatenessP99),
		LatenessMax: fromMicros(j.LatenessMax),
		ShareOfRTT:  j.ShareOfRTT,
		EdgeDrops:   j.EdgeDrops,
		Clamped:     j.Clamped,
		CPUHeadroom: j.CPUHeadroom,
		Reasons:     j.Reasons,
	}
	return nil
}

// Low tells whether the run is labelled low-fidelity.
func (f Fidelity) Low() bool { return f.Label == FidelityLow }

// WorstOf returns the less faithful of two: low-fidelity before ok before
// exact, and of one label the later one.
func WorstOf(a, b Fidelity) Fidelity {
	if d := severity(b.Label) - severity(a.Label); d > 0 || d == 0 && b.LatenessP99 > a.LatenessP99 {
		return b
	}
	return a
}

func severity(label string) int {
	switch label {
	case FidelityExact:
		return 1
	case FidelityOK:
		return 2
	case FidelityLow:
		return 3
	}
	return 0
}

// Microseconds is a time in microseconds.
func Microseconds(d time.Duration) float64 { return float64(d) / 1e3 }

func fromMicros(us float64) time.Duration { return time.Duration(math.Round(us * 1e3)) }
