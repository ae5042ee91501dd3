package card

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"aqmlab/orchestrator"
	"aqmlab/reproduce/papers"
)

// WriteText prints a card, experiment by experiment.
func WriteText(w io.Writer, card []Score) error {
	var out strings.Builder
	for i := 0; i < len(card); {
		n := i + 1
		for n < len(card) && card[n].Experiment.ID == card[i].Experiment.ID {
			n++
		}
		writeExperiment(&out, card[i:n])
		i = n
	}
	writeTallies(&out, card)
	if _, err := io.WriteString(w, out.String()); err != nil {
		return fmt.Errorf("printing the score card: %w", err)
	}
	return nil
}

// writeExperiment prints the claims of one experiment: a line of figures for each,
// and below it what it says. Remarks that several share stand below them all, and
// what is only described has no line of its own.
func writeExperiment(out *strings.Builder, claims []Score) {
	e := claims[0].Experiment
	fmt.Fprintf(out, "%s: %s (%s; %s in the paper)\n", e.ID, e.Title, e.Source, e.Environment)
	remarks := remarksOn(claims)
	rest := withoutDescribed(claims)
	columns := columnsOf(rest)
	var rows strings.Builder
	tw := tabwriter.NewWriter(&rows, 0, 0, 2, ' ', 0)
	if len(rest) > 0 {
		fmt.Fprintf(tw, "  claim\tpublished\t%s\tverdict\testablished\n", strings.Join(columns, "\t"))
	}
	for _, s := range rest {
		fmt.Fprintf(tw, "  %s\t%s\t", s.shortID(), s.publishedText())
		for _, column := range columns {
			fmt.Fprintf(tw, "%s\t", s.figureText(orchestrator.Runtime(column)))
		}
		text := s.establishedText()
		if s.Reason != "" && !shared(remarks, s) {
			text += ": " + s.Reason
		}
		fmt.Fprintf(tw, "%s\t%s\n", s.verdictText(), text)
	}
	tw.Flush() // into memory: it cannot fail
	i := -1
	for line := range strings.Lines(rows.String()) {
		out.WriteString(line)
		if i >= 0 {
			fmt.Fprintf(out, "      %s\n", rest[i].statement())
			if text := rest[i].explanation(); text != "" && !shared(remarks, rest[i]) {
				fmt.Fprintf(out, "      why: %s\n", text)
			}
		}
		i++
	}
	for _, r := range remarks {
		if r.standsBelow() {
			fmt.Fprintf(out, "  %s\n", r)
		}
	}
	fmt.Fprintln(out)
}

// JSON is a score card as reproduce --json prints it.
type JSON struct {
	Scale  string      `json:"scale"`
	Claims []ClaimJSON `json:"claims"`
	Tally
	Papers map[string]Tally `json:"papers"`
}

// ClaimJSON is one claim. Published, Sim and Testbed are differences from the
// baseline in percent, below zero for lower, or figures in Unit; null where the
// paper gives no number, or nothing was run.
type ClaimJSON struct {
	ID         string `json:"id"`
	Experiment string `json:"experiment"`
	Paper      string `json:"paper"`
	Source     string `json:"source"`
	Statement  string `json:"statement"`
	Published  number `json:"published"`
	Sim        number `json:"sim"`
	Testbed    number `json:"testbed"` // of the runtime of real hosts that counts most
	Unit       string `json:"unit"`
	Outcome
	Explanation string                              `json:"explanation,omitempty"` // why it was not reproduced
	Cause       papers.Cause                        `json:"cause,omitempty"`       // the kind of that reason
	Runtimes    map[orchestrator.Runtime]FigureJSON `json:"runtimes"`              // all that was measured, and what was [Computed]
}

// FigureJSON is a figure of one runtime.
type FigureJSON struct {
	Figure      number     `json:"figure"`
	CI95        *[2]number `json:"ci95"` // null with a single seed; a bound is null where the interval has no end
	From        number     `json:"baseline_value"`
	To          number     `json:"value"`
	Scheme      string     `json:"scheme"`
	Load        float64    `json:"load"`
	Flows       int        `json:"flows"` // a point
	Seeds       int        `json:"seeds"`
	LowFidelity bool       `json:"low_fidelity"`
	Stale       bool       `json:"stale"` // the lab has changed since
}

// number is one that JSON has, or null.
type number = *float64

func toNumber[F ~float64](v F) number {
	f := float64(v)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return &f
}

// ToJSON is the card of a scale.
func ToJSON(card []Score, scale string) JSON {
	out := JSON{Scale: scale, Claims: []ClaimJSON{}, Tally: TallyOf(card), Papers: make(map[string]Tally)}
	for _, paper := range papersOf(card) {
		out.Papers[paper] = TallyOf(ofPaper(card, paper))
	}
	for _, s := range card {
		real, _ := s.Testbed()
		c := ClaimJSON{
			ID: s.Claim.ID, Experiment: s.Experiment.ID, Paper: s.Paper,
			Source: s.Experiment.Source, Statement: s.Claim.Statement,
			Published: toNumber(s.published()), Sim: s.number(orchestrator.Simulator()), Testbed: s.number(real),
			Unit: s.unit(), Outcome: s.Outcome, Explanation: s.explanation(), Cause: s.cause(),
			Runtimes: make(map[orchestrator.Runtime]FigureJSON),
		}
		for r, f := range s.Columns {
			c.Runtimes[r] = f.json()
		}
		out.Claims = append(out.Claims, c)
	}
	return out
}

// number is the figure of a runtime, or none.
func (s Score) number(r orchestrator.Runtime) number {
	if f, ok := s.Columns[r]; ok {
		return toNumber(f.Value)
	}
	return nil
}

func (f Figure) json() FigureJSON {
	out := FigureJSON{
		Figure: toNumber(f.Value), From: toNumber(f.From), To: toNumber(f.To), Scheme: f.Scheme, Load: f.Load,
		Flows: f.Flows, Seeds: f.Seeds, LowFidelity: f.LowFidelity, Stale: f.Stale,
	}
	if f.CI95 != nil {
		out.CI95 = &[2]number{toNumber(f.CI95[0]), toNumber(f.CI95[1])}
	}
	return out
}
