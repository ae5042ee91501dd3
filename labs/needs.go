package labs

import (
	"path/filepath"
	"slices"

	"aqmlab/kind"
)

// Files lists the files, by absolute path, that the lab is read with beside its
// own: topology, sizes, traces, RTTs. What ships with aqmlab is none.
func (l *Lab) Files() []string {
	choices := []kind.Choice{l.Workload.Sizes, l.Workload.Arrival, l.RTT.Distribution, {Params: l.Topology.Params}}
	for _, b := range l.Background {
		choices = append(choices, b.Sizes, b.Arrival)
	}
	var files []string
	for _, c := range choices {
		if file, ok := c.Params["file"].(string); ok && filepath.IsAbs(file) && !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	return files
}
