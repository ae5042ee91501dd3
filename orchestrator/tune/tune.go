package tune

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aqmlab/labs"
	"aqmlab/orchestrator"
	"aqmlab/orchestrator/sweep"
	"aqmlab/results"
	"aqmlab/results/store"
	"aqmlab/switch/port"
)

// Options say what is tuned.
type Options struct {
	Lab         string   // name or file
	Set         []string // overrides of the lab: "key=value"
	Scheme      string
	Ranges      []string // "threshold=50us..500us"; none: those of the table of schemes
	Objective   Objective
	Constraints []Constraint
	Budget      int // points

	Runtime orchestrator.Runtime
	Kinds   port.Kinds
	Store   sweep.Store
	Jobs    int       // points at once in virtual time; zero: one a CPU
	Log     io.Writer // gets what helper processes complain about; may be nil
	Note    func(string)
	Watch   func(sweep.Progress)
}

// Result is a search with what it was about.
type Result struct {
	Lab     string   `json:"lab"`
	Scheme  string   `json:"scheme"`
	Runtime string   `json:"runtime"`
	Set     []string `json:"set,omitempty"`
	*Outcome
	File string `json:"-"` // that it is stored in
}

// Run tunes a scheme, and stores the search with all trials. Points are those of the
// store: a search that was interrupted finds what it measured.
func Run(ctx context.Context, o Options) (*Result, error) {
	lab, err := labs.Load(o.Lab, labs.Options{Set: o.Set, Kinds: o.Kinds})
	if err != nil {
		return nil, err
	}
	s := &Search{
		Objective: o.Objective, Constraints: o.Constraints, Budget: o.Budget,
		Loads: lab.Workload.Load, FirstSeed: lab.Seeds[0], Note: o.Note,
	}
	if s.Space, err = Space(lab, o.Scheme, o.Ranges); err != nil {
		return nil, err
	}
	m := &bench{Options: o, baseline: lab.Baseline, checked: make(map[string]bool), asked: make(map[string]bool)}
	if m.keys, err = sweep.NewHasher(o.Runtime); err != nil {
		return nil, err
	}
	s.Measure = m.measure
	found, err := s.Run(ctx)
	if err != nil && ctx.Err() != nil {
		return nil, m.interrupted(err)
	}
	if err != nil {
		return nil, err
	}
	r := &Result{Lab: lab.Name, Scheme: o.Scheme, Runtime: string(o.Runtime), Set: o.Set, Outcome: found}
	return r, r.save(o.Store)
}

// save stores the result under a name that the same search has again.
func (r *Result) save(s sweep.Store) error {
	about, err := json.Marshal([]any{r.Lab, r.Scheme, r.Runtime, r.Set, r.Search})
	if err != nil {
		return fmt.Errorf("naming the search: %w", err)
	}
	sum := sha256.Sum256(about)
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the search: %w", err)
	}
	r.File = filepath.Join(s.Dir, "tunes", fmt.Sprintf("%s-%s-%s.json", r.Lab, r.Scheme, hex.EncodeToString(sum[:4])))
	if err := os.MkdirAll(filepath.Dir(r.File), 0o755); err != nil {
		return fmt.Errorf("storing the search: %w", err)
	}
	return store.WriteFile(r.File, append(text, '\n'))
}

// bench measures what a search asks for.
type bench struct {
	Options
	baseline string
	keys     sweep.Hasher
	checked  map[string]bool // points that are whole, by key
	asked    map[string]bool // points that the search has asked for, by key
}

// measure measures what is not stored, and reads the rest.
func (b *bench) measure(ctx context.Context, asks []Ask) ([]map[string]float64, error) {
	loaded := make(map[string]*labs.Lab) // by setting
	var units []sweep.Unit
	keys := make([]string, len(asks))
	seen := make(map[string]bool)
	for i, a := range asks {
		set := strings.Join(a.Setting, " ")
		lab, ok := loaded[set]
		if !ok {
			lab = b.load(a.Setting, asks)
			loaded[set] = lab
		}
		if lab == nil {
			continue
		}
		at := results.Coord{Scheme: b.Scheme, Load: a.Load, Seed: a.Seed}
		if a.Baseline {
			at.Scheme = b.baseline
		}
		key, err := b.keys.Key(lab, at)
		if err != nil {
			return nil, err
		}
		keys[i] = key
		b.asked[key] = true
		there, err := b.whole(key)
		if err != nil {
			return nil, err
		}
		if !seen[key] && !there {
			seen[key] = true
			units = append(units, sweep.Unit{Coord: at, Key: key, Set: set, Cost: 1, Lab: func() (*labs.Lab, error) { return lab, nil }})
		}
	}
	if err := b.run(ctx, units); err != nil {
		return nil, err
	}
	found := make([]map[string]float64, len(asks))
	for i, key := range keys {
		if key == "" {
			continue
		}
		figures, err := b.Store.Figures(key)
		if err != nil {
			return nil, fmt.Errorf("reading a point of the search: %w", err)
		}
		found[i] = figures.Values
	}
	return found, nil
}

// interrupted says what a search has spent that was interrupted.
func (b *bench) interrupted(err error) error {
	spent := 0
	for key := range b.asked {
		if b.Store.Has(key) {
			spent++
		}
	}
	return fmt.Errorf("%w: %d of %d points are spent, and stored in %s: the same command goes on from there", err, spent, b.Budget, b.Store.Dir)
}

// whole tells whether a point is stored and whole. A search asks for many of its points
// again and again.
func (b *bench) whole(key string) (is bool, err error) {
	if !b.checked[key] {
		if is, err = b.Store.Whole(key); is {
			b.checked[key] = true
		}
	}
	return b.checked[key], err
}

// load is the lab with a setting, and with all seeds that are asked for; nil where it does
// not hold together.
func (b *bench) load(set Setting, asks []Ask) *labs.Lab {
	lab, err := labs.Load(b.Lab, labs.Options{Set: slices.Concat(b.Set, set), Kinds: b.Kinds})
	if err != nil {
		b.Note(fmt.Sprintf("left out: %s: %v", strings.Join(set, ", "), err))
		return nil
	}
	lab.Seeds = nil
	for _, a := range asks {
		if !slices.Contains(lab.Seeds, a.Seed) {
			lab.Seeds = append(lab.Seeds, a.Seed)
		}
	}
	return lab
}

// run measures units. One that fails ends the search.
func (b *bench) run(ctx context.Context, units []sweep.Unit) error {
	m := &sweep.Meter{
		Watch: b.Watch, Quiet: b.Runtime.Facts().Virtual,
		Label: func(u sweep.Unit) string { return strings.TrimSpace(u.Coord.String() + " " + u.Set) },
	}
	m.Begin(units)
	var failed []error
	pool := sweep.Pool{Store: b.Store, Runtime: b.Runtime, Jobs: b.Jobs, Log: b.Log}
	err := pool.Run(ctx, units, func(e sweep.Event) {
		m.Take(e)
		if e.Err != nil {
			failed = append(failed, fmt.Errorf("%v %s: %w", e.Coord, e.Set, e.Err))
		}
	})
	return errors.Join(err, errors.Join(failed...))
}
