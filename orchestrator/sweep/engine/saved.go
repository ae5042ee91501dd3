package engine

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"aqmlab/bounded"
	"aqmlab/kind"
	"aqmlab/orchestrator/sweep"
	"aqmlab/results/store"
)

// file says in a sweep's folder which engine goes on with it.
const file = "engine.json"

// saved is its contents.
type saved struct {
	Engine     string         `json:"engine"`
	Parameters map[string]any `json:"parameters,omitempty"` // as they were given
	Jobs       int            `json:"jobs"`
}

// note stores which engine a sweep is given to.
func note(w *sweep.Sweep, s saved) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err == nil {
		err = store.WriteFile(filepath.Join(w.Folder(), file), append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("noting the engine of sweep %s: %w", w.Name, err)
	}
	return nil
}

// maxFile is far more than the parameters of an engine take.
const maxFile = 1 << 20

// read reads what was noted.
func read(w *sweep.Sweep) (s saved, err error) {
	text, err := bounded.ReadFile(filepath.Join(w.Folder(), file), maxFile)
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	for name, value := range s.Parameters {
		s.Parameters[name] = asGiven(value)
	}
	return s, err
}

// asGiven is a parameter as a command line gives it: text, or a list.
func asGiven(value any) any {
	switch v := value.(type) {
	case string:
		return kind.Text(v)
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = asGiven(v[i])
		}
		return list
	}
	return value
}
