package serve

import (
	"sync"

	"aqmlab/results"
	"aqmlab/results/store"
)

// Facts are what the list shows of a run beside its entry.
type Facts struct {
	Schemes  []string  `json:"schemes"`
	Loads    []float64 `json:"loads"`
	Seeds    []uint64  `json:"seeds"`
	Fidelity string    `json:"fidelity"` // the label of its worst point; empty without any
}

// facts remembers those of complete runs, which do not change.
type facts struct {
	mu   sync.Mutex
	seen map[string]Facts // by the name of the folder
}

func newFacts() *facts { return &facts{seen: make(map[string]Facts)} }

// of reads the facts of a run; a broken one has none.
func (f *facts) of(e store.Entry) Facts {
	f.mu.Lock()
	defer f.mu.Unlock()
	if known, ok := f.seen[e.Name]; ok && e.State == results.Complete {
		return known
	}
	run, err := store.Open(e.Dir)
	if err != nil {
		return Facts{} // the entry says why
	}
	m := run.Manifest
	read := Facts{Schemes: m.Schemes, Loads: m.Loads, Seeds: m.Seeds}
	for _, p := range m.Points {
		if read.Fidelity == "" || p.Fidelity.Low() {
			read.Fidelity = p.Fidelity.Label
		}
	}
	if e.State == results.Complete {
		f.seen[e.Name] = read
	}
	return read
}
