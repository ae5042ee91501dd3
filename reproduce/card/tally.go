package card

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

// Tally counts the claims of a card.
type Tally struct {
	Counts      map[Verdict]int   `json:"counts"`      // each verdict has one
	Established int               `json:"established"` // claims
	Shortfalls  map[Shortfall]int `json:"shortfalls"`  // of the others; each has a count
}

// TallyOf counts the claims of a card.
func TallyOf(card []Score) Tally {
	t := Tally{Counts: make(map[Verdict]int), Shortfalls: make(map[Shortfall]int)}
	for _, v := range Verdicts() {
		t.Counts[v] = 0
	}
	for _, f := range Shortfalls() {
		t.Shortfalls[f] = 0
	}
	for _, s := range card {
		t.Counts[s.Verdict]++
		switch {
		case s.Established:
			t.Established++
		case s.Shortfall != none:
			t.Shortfalls[s.Shortfall]++
		}
	}
	return t
}

// papersOf lists the papers of a card, in its order.
func papersOf(card []Score) (papers []string) {
	for _, s := range card {
		if !slices.Contains(papers, s.Paper) {
			papers = append(papers, s.Paper)
		}
	}
	return papers
}

func ofPaper(card []Score, paper string) []Score {
	return slices.DeleteFunc(slices.Clone(card), func(s Score) bool { return s.Paper != paper })
}

// tallyTables are the counts of a card by paper: one table of the verdicts, and one of
// what keeps claims from being established. The first row of each is its head.
func tallyTables(card []Score) (verdicts, shortfalls [][]string) {
	verdicts, shortfalls = [][]string{{"paper"}}, [][]string{{"not established because"}}
	for _, v := range Verdicts() {
		verdicts[0] = append(verdicts[0], string(v))
		if v == Reproduced {
			verdicts[0] = append(verdicts[0], "established")
		}
	}
	verdicts[0] = append(verdicts[0], "claims")
	for _, f := range Shortfalls() {
		shortfalls = append(shortfalls, []string{string(f)})
	}
	add := func(name string, card []Score) {
		t := TallyOf(card)
		row := []string{name}
		for _, v := range Verdicts() {
			row = append(row, fmt.Sprint(t.Counts[v]))
			if v == Reproduced {
				row = append(row, fmt.Sprint(t.Established))
			}
		}
		verdicts = append(verdicts, append(row, fmt.Sprint(len(card))))
		shortfalls[0] = append(shortfalls[0], name)
		for i, f := range Shortfalls() {
			shortfalls[i+1] = append(shortfalls[i+1], fmt.Sprint(t.Shortfalls[f]))
		}
	}
	papers := papersOf(card)
	for _, paper := range papers {
		add(paper, ofPaper(card, paper))
	}
	if len(papers) != 1 {
		add("all", card)
	}
	return verdicts, shortfalls
}

// writeTallies prints the counts of a card.
func writeTallies(out *strings.Builder, card []Score) {
	verdicts, shortfalls := tallyTables(card)
	for _, table := range [][][]string{verdicts, shortfalls} {
		tw := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		for _, row := range table {
			fmt.Fprintln(tw, strings.Join(row, "\t"))
		}
		tw.Flush() // into memory: it cannot fail
		fmt.Fprintln(out)
	}
	t := TallyOf(card)
	fmt.Fprintf(out, "%d of %d claims established", t.Established, len(card)-t.Counts[Described])
	if n := t.Counts[Described]; n > 0 {
		fmt.Fprintf(out, "; %d more are only described", n)
	}
	fmt.Fprintln(out)
}
