package reproduce

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"aqmlab/orchestrator"
)

// JSON is a score card as reproduce --json prints it.
type JSON struct {
	Scale  Scale           `json:"scale"`
	Claims []ClaimJSON     `json:"claims"`
	Counts map[Verdict]int `json:"counts"`
}

// ClaimJSON is one claim. Published, Sim and Testbed are differences from the
// baseline in percent, below zero for lower, or figures in Unit; null where the
// paper gives no number, or nothing was run.
type ClaimJSON struct {
	ID          string                              `json:"id"`
	Experiment  string                              `json:"experiment"`
	Paper       string                              `json:"paper"`
	Source      string                              `json:"source"`
	Statement   string                              `json:"statement"`
	Published   number                              `json:"published"`
	Sim         number                              `json:"sim"`
	Testbed     number                              `json:"testbed"` // of the runtime of real hosts that counts most
	Unit        string                              `json:"unit"`
	Verdict     Verdict                             `json:"verdict"`
	By          orchestrator.Runtime                `json:"verdict_by,omitempty"`  // the runtime that it is of
	Chance      bool                                `json:"may_be_chance"`         // the interval of the difference holds zero
	Unsettled   bool                                `json:"unsettled"`             // the interval holds what would be reproduced
	Reason      string                              `json:"reason,omitempty"`      // why it was not run, or cannot be
	Explanation string                              `json:"explanation,omitempty"` // why it was not reproduced
	Runtimes    map[orchestrator.Runtime]FigureJSON `json:"runtimes"`              // all that was measured, and what was [Computed]
}

// FigureJSON is a figure of one runtime.
type FigureJSON struct {
	Figure      number   `json:"figure"`
	CI95        []number `json:"ci95"` // null with a single seed
	From        number   `json:"baseline_value"`
	To          number   `json:"value"`
	Scheme      string   `json:"scheme"`
	Load        float64  `json:"load"`
	Flows       int      `json:"flows"` // a point
	Seeds       int      `json:"seeds"`
	LowFidelity bool     `json:"low_fidelity"`
	Stale       bool     `json:"stale"` // the lab has changed since
}

// number is one that JSON has, or null.
type number float64

// MarshalJSON writes null for what is no number.
func (n number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(n)) || math.IsInf(float64(n), 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// Counts counts the verdicts of a card; each has a count.
func Counts(card []Score) map[Verdict]int {
	counts := make(map[Verdict]int)
	for _, v := range Verdicts() {
		counts[v] = 0
	}
	for _, s := range card {
		counts[s.Verdict]++
	}
	return counts
}

// ToJSON is the card of a scale.
func ToJSON(card []Score, scale Scale) JSON {
	out := JSON{Scale: scale, Claims: []ClaimJSON{}, Counts: Counts(card)}
	for _, s := range card {
		real, _ := s.Testbed()
		c := ClaimJSON{
			ID: s.Claim.ID, Experiment: s.Experiment.ID, Paper: s.Paper,
			Source: s.Experiment.Source, Statement: s.Claim.Statement,
			Published: number(s.published()), Sim: s.number(orchestrator.Simulator()), Testbed: s.number(real),
			Unit: s.unit(), Verdict: s.Verdict, By: s.By, Chance: s.Chance, Unsettled: s.Unsettled, Reason: s.Reason, Explanation: s.explanation(),
			Runtimes: make(map[orchestrator.Runtime]FigureJSON),
		}
		for r, f := range s.Columns {
			c.Runtimes[r] = f.json()
		}
		out.Claims = append(out.Claims, c)
	}
	return out
}

// unit is that of the card's figures.
func (s Score) unit() string {
	if s.Claim.Relation.Relative() {
		return "%"
	}
	return s.Claim.Unit
}

// published is the paper's figure, or no number.
func (s Score) published() float64 {
	c := s.Claim
	switch {
	case !c.Relation.Relative():
		return *c.To
	case c.Percent == 0 && (c.From == nil || c.To == nil):
		return math.NaN()
	case c.Relation == "lower":
		return -c.Percent
	}
	return c.Percent
}

// number is the figure of a runtime, or none.
func (s Score) number(r orchestrator.Runtime) number {
	if f, ok := s.Columns[r]; ok {
		return number(f.Value)
	}
	return number(math.NaN())
}

func (f Figure) json() FigureJSON {
	out := FigureJSON{
		Figure: number(f.Value), From: number(f.From), To: number(f.To), Scheme: f.Scheme, Load: f.Load,
		Flows: f.Flows, Seeds: f.Seeds, LowFidelity: f.LowFidelity, Stale: f.Stale,
	}
	if f.HasCI {
		out.CI95 = []number{number(f.CI95[0]), number(f.CI95[1])}
	}
	return out
}

// Table prints a card, experiment by experiment.
func Table(w io.Writer, card []Score) error {
	var out strings.Builder
	for i := 0; i < len(card); {
		n := i + 1
		for n < len(card) && card[n].Experiment.ID == card[i].Experiment.ID {
			n++
		}
		section(&out, card[i:n])
		i = n
	}
	var counts []string
	for _, v := range Verdicts() {
		counts = append(counts, fmt.Sprintf("%d %s", Counts(card)[v], v))
	}
	noun := "claims"
	if len(card) == 1 {
		noun = "claim"
	}
	fmt.Fprintf(&out, "%d %s: %s\n", len(card), noun, strings.Join(counts, ", "))
	if _, err := io.WriteString(w, out.String()); err != nil {
		return fmt.Errorf("printing the score card: %w", err)
	}
	return nil
}

// section prints the claims of one experiment: a line of figures for each, and
// below it what it says. What several have in common stands below them all, and
// what is only described has no line of its own.
func section(out *strings.Builder, claims []Score) {
	e := claims[0].Experiment
	fmt.Fprintf(out, "%s: %s (%s; %s in the paper)\n", e.ID, e.Title, e.Source, e.Environment)
	var rows strings.Builder
	tw := tabwriter.NewWriter(&rows, 0, 0, 2, ' ', 0)
	remarks := remarksOf(claims)
	rest := figured(claims)
	columns := columnsOf(rest)
	if len(rest) > 0 {
		fmt.Fprintf(tw, "  claim\tpublished\t%s\tverdict\n", strings.Join(columns, "\t"))
	}
	for _, s := range rest {
		fmt.Fprintf(tw, "  %s\t%s\t", s.short(), s.publishedText())
		for _, column := range columns {
			fmt.Fprintf(tw, "%s\t", s.text(orchestrator.Runtime(column)))
		}
		text := s.verdictText()
		if s.Reason != "" && !shared(remarks, s) {
			text += ": " + s.Reason
		}
		fmt.Fprintln(tw, text)
	}
	tw.Flush() // into memory: it cannot fail
	i := -1
	for line := range strings.Lines(rows.String()) {
		out.WriteString(line)
		if i >= 0 {
			fmt.Fprintf(out, "      %s\n", rest[i].about())
			if text := rest[i].explanation(); text != "" && !shared(remarks, rest[i]) {
				fmt.Fprintf(out, "      why: %s\n", text)
			}
		}
		i++
	}
	for _, r := range remarks {
		if r.stands() {
			fmt.Fprintf(out, "  %s\n", r)
		}
	}
	fmt.Fprintln(out)
}

// columnsOf lists the runtimes that some claims were measured on; sim stands
// there always, unless all were computed.
func columnsOf(claims []Score) []string {
	in := func(r orchestrator.Runtime) func(Score) bool {
		return func(s Score) bool { _, ok := s.Columns[r]; return ok }
	}
	var columns []string
	if slices.ContainsFunc(claims, func(s Score) bool { return !in(Computed)(s) }) {
		columns = append(columns, string(orchestrator.Simulator()))
	}
	for _, r := range append(testbeds(), Computed) {
		if slices.ContainsFunc(claims, in(r)) {
			columns = append(columns, string(r))
		}
	}
	return columns
}

// short is a claim's name within its experiment.
func (s Score) short() string { return strings.TrimPrefix(s.Claim.ID, s.Experiment.ID+"-") }

func (s Score) verdictText() string {
	text := string(s.Verdict)
	if s.Chance {
		text += ", may be chance"
	}
	if s.Unsettled {
		text += ", unsettled"
	}
	return text
}

// about says what a claim is about.
func (s Score) about() string {
	text := s.Claim.Statement
	c := s.Claim
	if c.Baseline != "" {
		text += fmt.Sprintf(" [%s against %s", strings.Join(c.Schemes(), ", "), c.Baseline)
		if c.In != "" {
			text += " of " + c.In
		}
		return text + "]"
	}
	return text + fmt.Sprintf(" [%s]", strings.Join(c.Schemes(), ", "))
}

// explanation says why a claim that was judged is not reproduced, where that is
// known.
func (s Score) explanation() string {
	if s.Verdict == DirectionOnly || s.Verdict == NotReproduced {
		return s.Claim.Explanation
	}
	return ""
}

func (s Score) publishedText() string {
	c := s.Claim
	text := "alike"
	switch {
	case c.Relation == "close" && c.Percent > 0:
		text = fmt.Sprintf("within %.3g %%", c.Percent)
	case c.Relation == "close":
	case math.IsNaN(s.published()):
		return string(c.Relation)
	case c.Relation.Relative():
		text = fmt.Sprintf("%+.3g %%", s.published())
	case c.Relation == "equal":
		text = fmt.Sprintf("%.4g %s", *c.To, c.Unit)
	default:
		text = fmt.Sprintf("%s %.4g %s", strings.ReplaceAll(string(c.Relation), "-", " "), *c.To, c.Unit)
	}
	if c.Qualifier == "up to" {
		text = "up to " + text
	}
	return text
}

// text is a figure with its interval, and where it is from when there were
// several loads or schemes to choose from.
func (s Score) text(column orchestrator.Runtime) string {
	f, ok := s.Columns[column]
	if !ok {
		return "-"
	}
	format := "%.4g"
	if s.Claim.Relation.Relative() {
		format = "%+.3g"
	}
	text := fmt.Sprintf(format+" %s", f.Value, s.unit())
	switch {
	case !math.IsInf(f.Value, 0):
	case s.Claim.Relation.Relative(): // than none, or to what never happened
		text = fmt.Sprintf("from %s to %s", orNever(f.From), orNever(f.To))
	default:
		text = orNever(f.Value)
	}
	if f.HasCI {
		text += fmt.Sprintf(" ("+format+" to "+format+")", f.CI95[0], f.CI95[1])
	}
	if s.Claim.Load == 0 && s.Claim.Class != "" {
		text += fmt.Sprintf(" at %v", f.Load)
	}
	if len(s.Claim.Others) > 0 {
		text += ", " + f.Scheme
	}
	if f.LowFidelity {
		text += ", low fidelity"
	}
	if f.Stale {
		text += ", before the lab was changed"
	}
	return text
}

// orNever is a number, or what stands for one that is infinite.
func orNever(v float64) string {
	if math.IsInf(v, 0) {
		return "never"
	}
	return fmt.Sprintf("%.4g", v)
}
