package report

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"aqmlab/results"
	"aqmlab/results/store"
)

// runFacts is what made one run.
type runFacts struct {
	Name   string
	Facts  Table
	Points []results.PointInfo
	Lab    string
}

// clock prints a wall-clock time in UTC.
func clock(t time.Time) string {
	if t.IsZero() {
		return "not yet"
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

func factsOf(r *store.Run) runFacts {
	m := r.Manifest
	rtt := "not measured"
	if m.BaseRTT > 0 {
		rtt = formatMicros(results.Microseconds(time.Duration(m.BaseRTT)))
	}
	by := m.RTTBy
	if missed := results.MissedRTTs(m.BaseRTTs); missed != "" {
		by += "; " + missed
	}
	return runFacts{
		Name: filepath.Base(r.Dir),
		Facts: Table{Name: "facts", Rows: [][]string{
			{"state", strings.TrimSuffix(string(m.State)+": "+m.Reason, ": ")},
			{"lab", fmt.Sprintf("%s (%.12s)", m.Lab, m.LabHash)},
			{"start", clock(m.Start)},
			{"end", clock(m.End)},
			{"aqmlab", m.Version + ", revision " + m.GitRevision},
			{"runtime", fmt.Sprintf("%s, dilation %g", m.Runtime, m.Dilation)},
			{"transport", fmt.Sprintf("%s (%s)", m.Transport.Name, m.Transport.Provider)},
			{"base RTT", fmt.Sprintf("%s, made by %s", rtt, by)},
			{"kernel", m.Host.Kernel},
			{"CPU", fmt.Sprintf("%s, %d cores, %.1f GiB", m.Host.CPU, m.Host.Cores, float64(m.Host.Memory)/(1<<30))},
			{"Go", m.Host.GoVersion},
			{"seeds", results.Join(m.Seeds)},
		}},
		Points: m.Points,
		Lab:    string(r.LabYAML),
	}
}
