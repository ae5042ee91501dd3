package reproduce

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aqmlab/orchestrator"
	"aqmlab/reproduce/papers"
	"aqmlab/results/report/figure"
)

// overview is the whole card, as the folder of the records shows it.
type overview struct {
	plan    *Plan
	papers  []papers.Paper
	records map[string]*record
	card    []Score
	figures map[string][]figure.Figure // by experiment
}

// publish writes the card of all papers as README.md beside the records, and
// their figures. It is made of records alone: the same ones give the same bytes.
func publish(o Options) error {
	o.Runtime = orchestrator.Simulator() // records are of all
	if o.Scale != Quick {
		o.Scale = Standard // of every experiment, whatever the others are for
	}
	p, err := outline([]string{All}, o)
	if err != nil {
		return err
	}
	v := overview{plan: p, figures: make(map[string][]figure.Figure)}
	if v.papers, err = papers.All(); err != nil {
		return err
	}
	if v.records, err = p.records(); err != nil {
		return err
	}
	v.card = p.card(v.records)
	for _, s := range p.studies {
		if err := v.draw(s); err != nil {
			return err
		}
	}
	var text strings.Builder
	v.write(&text)
	return write(filepath.Join(p.root(), "README.md"), []byte(text.String()))
}

// draw writes the figures of an experiment in the place of those of before.
func (v overview) draw(s *study) error {
	figures := v.plan.plots(s, v.records[s.ID])
	v.figures[s.ID] = append(v.figures[s.ID], figures...)
	stem := filepath.Join(v.plan.root(), s.paper, s.lab.Name)
	old, err := filepath.Glob(stem + "_*.svg")
	if err != nil {
		return fmt.Errorf("looking for figures: %w", err)
	}
	for _, file := range old {
		if err := os.Remove(file); err != nil {
			return fmt.Errorf("removing an old figure: %w", err)
		}
	}
	for _, f := range figures {
		if err := write(filepath.Join(v.plan.root(), s.paper, f.Name+".svg"), f.SVG()); err != nil {
			return err
		}
	}
	return nil
}

// write writes the page.
func (v overview) write(w io.Writer) {
	fmt.Fprintf(w, "# Published experiments, reproduced\n\n%s\n", strings.TrimSpace(`
<!-- Written by aqmlab reproduce from the records in this folder: do not edit. -->

Every claim of the papers beside what was measured here: on modelled hosts
(sim), and on the TCP of Linux in guests (uml) or namespaces (netns). How figures
are judged: [docs/reproduction.md](../../docs/reproduction.md). The verdict is of
the kind of environment that the paper used, where it was run. "n" is the number
of flows a point; figures are differences from the baseline in percent, or in the
unit that stands beside them, with 95 % intervals in parentheses. What is
"computed" is arithmetic of a switch, which takes no run. "Described" are claims
about inputs of experiments, or machines of the authors: nothing that could be
run here.`))
	v.writeCounts(w)
	for _, paper := range v.papers {
		fmt.Fprintf(w, "\n## %s\n\n%s\n", paper.Title, paper.Venue)
		for _, e := range paper.Experiments {
			v.writeExperiment(w, paper.ID, e)
		}
	}
	v.writeOrigins(w)
}

// writeCounts adds up the verdicts by paper.
func (v overview) writeCounts(w io.Writer) {
	fmt.Fprint(w, "\n| paper |")
	for _, verdict := range Verdicts() {
		fmt.Fprintf(w, " %s |", verdict)
	}
	fmt.Fprint(w, " claims |\n|---|"+strings.Repeat("---|", len(Verdicts())+1)+"\n")
	row := func(name string, card []Score) {
		fmt.Fprintf(w, "| %s |", name)
		for _, verdict := range Verdicts() {
			fmt.Fprintf(w, " %d |", Counts(card)[verdict])
		}
		fmt.Fprintf(w, " %d |\n", len(card))
	}
	for _, paper := range v.papers {
		row(paper.ID, slices.DeleteFunc(slices.Clone(v.card), func(s Score) bool { return s.Paper != paper.ID }))
	}
	row("all", v.card)
}

// writeExperiment writes the table of an experiment, its figures, and why its
// claims are not reproduced or were not run.
func (v overview) writeExperiment(w io.Writer, paper string, e papers.Experiment) {
	claims := slices.DeleteFunc(slices.Clone(v.card), func(s Score) bool { return s.Experiment.ID != e.ID })
	if len(claims) == 0 {
		return
	}
	fmt.Fprintf(w, "\n### %s: %s\n\n%s; %s in the paper.", e.ID, e.Title, e.Source, e.Environment)
	if v.records[e.ID].Figures != nil {
		fmt.Fprintf(w, " Record: [%s.json](%s/%s.json).", e.ID, paper, e.ID)
	}
	fmt.Fprintln(w)
	writeClaims(w, figured(claims))
	var notes []string
	for _, r := range remarksOf(claims) {
		if r.why != errMissing.Error() {
			notes = append(notes, fmt.Sprintf("- %s", r))
		}
	}
	if len(notes) > 0 {
		fmt.Fprintf(w, "\n%s\n", strings.Join(notes, "\n"))
	}
	for i, f := range v.figures[e.ID] {
		if i == 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "![%s](%s/%s.svg)\n", f.About, paper, f.Name)
	}
}

// writeClaims writes a table of claims, if there are any.
func writeClaims(w io.Writer, claims []Score) {
	if len(claims) == 0 {
		return
	}
	columns := columnsOf(claims)
	fmt.Fprintf(w, "\n| claim | published | %s | verdict |\n|---|---|%s---|\n", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
	for _, s := range claims {
		fmt.Fprintf(w, "| %s: %s | %s |", s.short(), cellText(s.about()), cellText(s.publishedText()))
		for _, column := range columns {
			fmt.Fprintf(w, " %s |", cellText(s.textWithFlows(orchestrator.Runtime(column))))
		}
		fmt.Fprintf(w, " %s |\n", s.verdictText())
	}
}

// textWithFlows is a figure with the flows of each of its points.
func (s Score) textWithFlows(column orchestrator.Runtime) string {
	text := s.text(column)
	if f, ok := s.Columns[column]; ok && column != Computed {
		text += fmt.Sprintf(", n %d", f.Flows)
	}
	return text
}

// cellText keeps a text within a cell of a table.
func cellText(text string) string { return strings.ReplaceAll(text, "|", "\\|") }
