package card

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"aqmlab/orchestrator"
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
	counts := Counts(card)
	var texts []string
	for _, v := range Verdicts() {
		texts = append(texts, fmt.Sprintf("%d %s", counts[v], v))
	}
	noun := "claims"
	if len(card) == 1 {
		noun = "claim"
	}
	fmt.Fprintf(&out, "%d %s: %s\n", len(card), noun, strings.Join(texts, ", "))
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
		fmt.Fprintf(tw, "  claim\tpublished\t%s\tverdict\n", strings.Join(columns, "\t"))
	}
	for _, s := range rest {
		fmt.Fprintf(tw, "  %s\t%s\t", s.shortID(), s.publishedText())
		for _, column := range columns {
			fmt.Fprintf(tw, "%s\t", s.figureText(orchestrator.Runtime(column)))
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
