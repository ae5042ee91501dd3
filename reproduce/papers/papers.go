// Package papers holds what published experiments claim: one file a paper, its
// experiments, and the claims of each with their published figures and where
// these are from. It knows nothing of what aqmlab measures.
package papers

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

//go:embed *.yaml
var files embed.FS

// Paper is one paper.
type Paper struct {
	ID          string       `yaml:"paper"`
	Title       string       `yaml:"title"`
	Venue       string       `yaml:"venue"`
	Experiments []Experiment `yaml:"experiments"`
}

// Where the paper ran an experiment.
const (
	Testbed   = "testbed"
	Simulator = "sim"
	Input     = "input"    // it measured nothing, and shows what goes in
	Hardware  = "hardware" // it describes machines of the authors
)

// Experiment is a figure, table or section that reports measured behaviour.
type Experiment struct {
	ID          string  `yaml:"id"`
	Source      string  `yaml:"source"` // figure and section
	Title       string  `yaml:"title"`
	Environment string  `yaml:"environment"`
	Lab         string  `yaml:"lab"` // of the lab book
	Claims      []Claim `yaml:"claims"`
}

// Labs lists the labs of the experiment: its own, and those that single claims
// name.
func (e Experiment) Labs() []string {
	labs := []string{e.Lab}
	for _, c := range e.Claims {
		if c.Lab != "" && !slices.Contains(labs, c.Lab) {
			labs = append(labs, c.Lab)
		}
	}
	return labs
}

// On is the part of the experiment that one of its labs is for.
func (e Experiment) On(lab string) Experiment {
	e.Claims = slices.DeleteFunc(slices.Clone(e.Claims), func(c Claim) bool { return cmp.Or(c.Lab, e.Lab) != lab })
	e.Lab = lab
	return e
}

// Relation says what a claim states of its figure.
type Relation string

// The relations. The first three are about a baseline, the others about a
// figure by itself.
const (
	Lower   Relation = "lower"    // than the baseline, by Percent
	Higher  Relation = "higher"   // than the baseline, by Percent
	Close   Relation = "close"    // to the baseline, within Percent
	Equal   Relation = "equal"    // To
	AtLeast Relation = "at-least" // To
	AtMost  Relation = "at-most"  // To
)

// Relative tells whether the relation is to a baseline.
func (r Relation) Relative() bool { return r == Lower || r == Higher || r == Close }

// Which of several loads and schemes a claim is about.
const (
	Best  = "best"  // the one that supports it most: "up to"
	Worst = "worst" // the one that supports it least: "always"
)

// Claim is one statement of a paper about what was measured.
type Claim struct {
	ID        string   `yaml:"id"`
	Statement string   `yaml:"statement"` // in our words
	Metric    string   `yaml:"metric"`    // a kind of package reproduce
	Lab       string   `yaml:"lab"`       // of the lab book, when it is not the experiment's
	Scheme    string   `yaml:"scheme"`    // of the lab
	Others    []string `yaml:"others"`    // more schemes that the statement is about
	Baseline  string   `yaml:"baseline"`  // scheme that the relation is to; without, it is to From
	// In is the experiment of the baseline, when it is another's.
	In       string   `yaml:"in"`
	Relation Relation `yaml:"relation"`
	// Percent is by how much, never below zero. Zero: the paper gives no number.
	Percent float64 `yaml:"percent"`
	// PercentMax is the upper end of a printed range, of which Percent is the lower: what
	// the load has that supports the claim most. Zero: the paper gives one number.
	PercentMax float64 `yaml:"percent_max"`
	// Bound is set where Percent is the least that the paper says: "more than". A word
	// such as large, many or far is read as more than 10 %.
	Bound bool `yaml:"bound"`
	// From and To are the published figures of the baseline and of the scheme, in
	// Unit; nil where the paper has none.
	From *float64 `yaml:"from"`
	To   *float64 `yaml:"to"`
	Unit string   `yaml:"unit"` // of the metric
	// Qualifier is how the paper puts the figure: up to, about, more than.
	Qualifier string `yaml:"qualifier"`
	// Load is the one load that it is about; MinLoad and MaxLoad the lowest and the
	// highest of several. Without any it is about all.
	Load    float64 `yaml:"load"`
	MinLoad float64 `yaml:"min_load"`
	MaxLoad float64 `yaml:"max_load"`
	Over    string  `yaml:"over"` // Best, or Worst, the default
	// Headline is set for what the paper is known for: claims of its abstract or its
	// introduction, and the largest differences of its simulations.
	Headline bool `yaml:"headline"`

	// What the metric is taken of.

	Class   string   `yaml:"class"`   // of flow sizes
	Port    string   `yaml:"port"`    // node at the far end of the switch port
	Queue   int      `yaml:"queue"`   // of the port, from 0
	DSCP    int      `yaml:"dscp"`    // of the packets at the port
	Probe   string   `yaml:"probe"`   // by its name in the lab
	Windows []Window `yaml:"windows"` // of lab time
	// Base is what the baseline's figure is taken of, where that differs.
	Base Base `yaml:"base"`

	// Unmeasured says why the figure cannot be computed; the claim is not run.
	Unmeasured string `yaml:"unmeasured"`
	// Explanation says why the figure differs from the published one; it stands on
	// the card whenever the claim is not reproduced.
	Explanation string `yaml:"explanation"`
	Cause       Cause  `yaml:"cause"` // the kind of that reason
}

// Cause is the kind of reason for which figures differ from the published ones.
type Cause string

// The causes.
const (
	Contradiction Cause = "contradiction" // the paper says two things that cannot both be
	Parameter     Cause = "parameter"     // one that the paper leaves open, or what our hosts do not model
	Reading       Cause = "reading"       // words without a number, read as one
	Chance        Cause = "chance"        // too few flows, seeds or loads to tell
)

// Causes lists them in the order in which they are counted.
func Causes() []Cause { return []Cause{Contradiction, Parameter, Reading, Chance} }

// Base is the part of what a metric is taken of in which the baseline may differ
// from the scheme: nil for what does not.
type Base struct {
	Queue   *int     `yaml:"queue"`
	Windows []Window `yaml:"windows"`
}

// OfBase is the claim with what the baseline's figure is taken of.
func (c Claim) OfBase() Claim {
	if c.Base.Queue != nil {
		c.Queue = *c.Base.Queue
	}
	if c.Base.Windows != nil {
		c.Windows = c.Base.Windows
	}
	return c
}

// About tells whether the claim is about a load.
func (c Claim) About(load float64) bool {
	if c.Load != 0 {
		return load == c.Load
	}
	return load >= c.MinLoad && (c.MaxLoad == 0 || load <= c.MaxLoad)
}

// Window is a span of lab time.
type Window struct {
	From time.Duration `yaml:"from"`
	To   time.Duration `yaml:"to"`
}

// Begins tells whether something that begins at a time does so in the window.
func (w Window) Begins(at time.Duration) bool { return at >= w.From && at < w.To }

// Ends tells whether something that ends at a time, such as the time that a sample
// tells of, does so in the window.
func (w Window) Ends(at time.Duration) bool { return at > w.From && at <= w.To }

// SecondHalf is the half of the window in which what begins with it has settled.
func (w Window) SecondHalf() Window { return Window{w.From + (w.To-w.From)/2, w.To} }

// Schemes lists the schemes that the claim is about.
func (c Claim) Schemes() []string { return append([]string{c.Scheme}, c.Others...) }

// All reads every paper, in the order of their ids. An error names the file and
// what is wrong with it.
func All() ([]Paper, error) {
	names, err := fs.Glob(files, "*.yaml")
	if err != nil {
		return nil, fmt.Errorf("listing papers: %w", err)
	}
	var all []Paper
	for _, name := range names {
		data, err := files.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading papers: %w", err)
		}
		p, err := parse(data)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		all = append(all, p)
	}
	return all, nil
}

func parse(data []byte) (Paper, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	var p Paper
	if err := dec.Decode(&p); err != nil {
		return Paper{}, err
	}
	if err := dec.Decode(&struct{}{}); !errors.Is(err, io.EOF) {
		return Paper{}, errors.New("want one paper a file")
	}
	return p, p.check()
}

// check lists everything that is wrong with a paper.
func (p Paper) check() error {
	var errs []error
	seen := map[string]bool{}
	for _, e := range p.Experiments {
		if !strings.HasPrefix(e.ID, p.ID+"-") || seen[e.ID] || e.Source == "" || e.Title == "" {
			errs = append(errs, fmt.Errorf("experiment %q: want an id of its own that begins with %s-, a source and a title", e.ID, p.ID))
		}
		if !slices.Contains([]string{Testbed, Simulator, Input, Hardware}, e.Environment) {
			errs = append(errs, fmt.Errorf("experiment %s: environment %q: want %s, %s, %s or %s", e.ID, e.Environment, Testbed, Simulator, Input, Hardware))
		}
		seen[e.ID] = true
		for _, c := range e.Claims {
			if !strings.HasPrefix(c.ID, e.ID+"-") || seen[c.ID] {
				errs = append(errs, fmt.Errorf("claim %q: want an id of its own that begins with %s-", c.ID, e.ID))
			}
			seen[c.ID] = true
			if err := c.check(); err != nil {
				errs = append(errs, fmt.Errorf("claim %s: %w", c.ID, err))
			}
		}
	}
	return errors.Join(errs...)
}

func (c Claim) check() error {
	switch {
	case c.Statement == "" || c.Metric == "" || c.Scheme == "":
		return errors.New("want a statement, a metric and a scheme")
	case !slices.Contains([]Relation{Lower, Higher, Close, Equal, AtLeast, AtMost}, c.Relation):
		return fmt.Errorf("unknown relation %q", c.Relation)
	case c.Relation.Relative() && c.Baseline == "" && (c.From == nil || *c.From == 0):
		return fmt.Errorf("relation %s without a baseline", c.Relation)
	case !c.Relation.Relative() && (c.To == nil || *c.To == 0 && c.Relation != Equal):
		return fmt.Errorf("relation %s without the figure", c.Relation)
	case (c.Explanation == "") != (c.Cause == "") || c.Cause != "" && !slices.Contains(Causes(), c.Cause):
		return fmt.Errorf("cause %q: want one with an explanation, of %v", c.Cause, Causes())
	case c.Percent < 0:
		return fmt.Errorf("percent %v is below zero: the relation says which way", c.Percent)
	case c.Bound && (c.Percent == 0 || c.PercentMax != 0 || c.Relation != Lower && c.Relation != Higher):
		return fmt.Errorf("bound: want a percent without percent_max, of a claim that is %s or %s", Lower, Higher)
	case c.PercentMax != 0 && (c.PercentMax <= c.Percent || c.Relation != Lower && c.Relation != Higher || c.Over == Best):
		return fmt.Errorf("percent_max %v: want it above percent, %v, of a claim that is %s or %s, and about every load", c.PercentMax, c.Percent, Lower, Higher)
	case c.Over != "" && c.Over != Best && c.Over != Worst:
		return fmt.Errorf("over %q: want %s or %s", c.Over, Best, Worst)
	case c.Load != 0 && (c.MinLoad != 0 || c.MaxLoad != 0):
		return errors.New("want load, or min_load and max_load, not both")
	case c.MaxLoad != 0 && c.MaxLoad < c.MinLoad:
		return fmt.Errorf("max_load %v is below min_load %v", c.MaxLoad, c.MinLoad)
	case c.Baseline == "" && (c.Base.Queue != nil || c.Base.Windows != nil):
		return errors.New("base says what the baseline's figure is taken of: want a baseline")
	}
	for _, w := range slices.Concat(c.Windows, c.Base.Windows) {
		if w.From < 0 || w.To <= w.From {
			return fmt.Errorf("the window from %v to %v is empty", w.From, w.To)
		}
	}
	return nil
}
