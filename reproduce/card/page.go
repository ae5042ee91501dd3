package card

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"aqmlab/orchestrator"
	"aqmlab/reproduce/metric"
	"aqmlab/reproduce/papers"
	"aqmlab/reproduce/record"
	"aqmlab/results/report/figure"
)

// Page is the card of all papers, as the folder of the records shows it. The same
// records give the same page.
type Page struct {
	Papers  []papers.Paper
	Records map[string]*record.Record // by experiment
	Scores  []Score
	Figures map[string][]figure.Figure // by experiment
}

// preface stands above the tables.
const preface = `# Published experiments, reproduced

<!-- Written by aqmlab reproduce from the records in this folder: do not edit. -->

Every claim of the papers beside what was measured here: on modelled hosts
(sim), and on the TCP of Linux in guests (uml) or namespaces (netns). How figures
are judged: [docs/reproduction.md](../../docs/reproduction.md). The verdict is of
the kind of environment that the paper used, where it was run. "Established" is a
stricter one: the number is met on both sides, and not by chance. "n" is the number
of flows a point; figures are differences from the baseline in percent, or in the
unit that stands beside them, with 95 % intervals in parentheses. What is
"computed" is arithmetic of a switch, which takes no run. "Described" are claims
about inputs of experiments, or machines of the authors: nothing that could be
run here.
`

// Markdown is the whole page.
func (p Page) Markdown() string {
	var b strings.Builder
	b.WriteString(preface)
	p.writeCounts(&b)
	for _, paper := range p.Papers {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", paper.Title, paper.Venue)
		for _, e := range paper.Experiments {
			p.writeExperiment(&b, paper.ID, e)
		}
	}
	p.writeOrigins(&b)
	return b.String()
}

// writeCounts adds up the verdicts by paper, what keeps claims from being established,
// and why claims are not reproduced.
func (p Page) writeCounts(b *strings.Builder) {
	for _, table := range tallyTables(p.Scores) {
		writeTable(b, table[0], table[1:])
	}
}

func (p Page) scores(of func(Score) bool) []Score {
	return slices.DeleteFunc(slices.Clone(p.Scores), func(s Score) bool { return !of(s) })
}

// writeExperiment writes the table of an experiment, its figures, and why its
// claims are not reproduced or were not run.
func (p Page) writeExperiment(b *strings.Builder, paper string, e papers.Experiment) {
	claims := p.scores(func(s Score) bool { return s.Experiment.ID == e.ID })
	if len(claims) == 0 {
		return
	}
	fmt.Fprintf(b, "\n### %s: %s\n\n%s; %s in the paper.", e.ID, e.Title, e.Source, e.Environment)
	if p.Records[e.ID].Figures != nil {
		fmt.Fprintf(b, " Record: [%s.json](%s/%s.json).", e.ID, paper, e.ID)
	}
	b.WriteByte('\n')
	if run := withoutDescribed(claims); len(run) > 0 {
		writeClaims(b, run)
	}
	var notes []string
	for _, r := range remarksOn(claims) {
		if r.why != metric.ErrNotRun.Error() {
			notes = append(notes, fmt.Sprintf("- %s\n", r))
		}
	}
	var images []string
	for _, f := range p.Figures[e.ID] {
		images = append(images, fmt.Sprintf("![%s](%s/%s.svg)\n", f.About, paper, f.Name))
	}
	for _, lines := range [][]string{notes, images} {
		if len(lines) > 0 {
			b.WriteString("\n" + strings.Join(lines, ""))
		}
	}
}

// writeClaims writes a table of claims.
func writeClaims(b *strings.Builder, claims []Score) {
	columns := columnsOf(claims)
	var rows [][]string
	for _, s := range claims {
		row := []string{s.shortID() + ": " + s.statement(), s.publishedText()}
		for _, column := range columns {
			row = append(row, s.figureAndFlows(orchestrator.Runtime(column)))
		}
		rows = append(rows, append(row, s.verdictText(), s.establishedText()))
	}
	writeTable(b, slices.Concat([]string{"claim", "published"}, columns, []string{"verdict", "established"}), rows)
}

// figureAndFlows is a figure with the flows of each of its points.
func (s Score) figureAndFlows(column orchestrator.Runtime) string {
	text := s.figureText(column)
	if f, ok := s.Columns[column]; ok && column != Computed {
		text += fmt.Sprintf(", n %d", f.Flows)
	}
	return text
}

// writeOrigins writes by what commands the points were measured, and where.
func (p Page) writeOrigins(b *strings.Builder) {
	b.WriteString("\n## Commands and machines\n\n")
	efforts := record.Efforts(p.Records)
	if len(efforts) == 0 {
		b.WriteString("Nothing has been measured yet.\n")
		return
	}
	b.WriteString("\"Time\" is that of the points, added up: each takes one core in virtual time.\n")
	minute := func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }
	var rows [][]string
	for _, e := range efforts {
		m := e.Machine
		rows = append(rows, []string{
			"`" + e.Command + "`", e.Runtime, fmt.Sprint(e.Points), e.Took.Round(time.Second).String(), minute(e.First), minute(e.Last), fmt.Sprintf("%.12s", e.Revision),
			fmt.Sprintf("%s, %d cores, %.1f GiB, Linux %s, %s", m.CPU, m.Cores, float64(m.Memory)/(1<<30), m.Kernel, m.GoVersion),
		})
	}
	writeTable(b, []string{"command", "runtime", "points", "time", "from", "to", "aqmlab", "machine"}, rows)
}

// writeTable writes a table of Markdown.
func writeTable(b *strings.Builder, head []string, rows [][]string) {
	fmt.Fprintf(b, "\n| %s |\n|%s\n", strings.Join(head, " | "), strings.Repeat("---|", len(head)))
	for _, row := range rows {
		for _, cell := range row {
			b.WriteString("| " + strings.ReplaceAll(cell, "|", `\|`) + " ")
		}
		b.WriteString("|\n")
	}
}
