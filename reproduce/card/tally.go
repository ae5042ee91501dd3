package card

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"aqmlab/reproduce/papers"
)

// Tally counts the claims of a card.
type Tally struct {
	Counts      map[Verdict]int   `json:"counts"`      // each verdict has one
	Established int               `json:"established"` // claims
	Shortfalls  map[Shortfall]int `json:"shortfalls"`  // of the others; each has a count
	// Causes has those of the claims that were judged and are not reproduced; each has a
	// count, and Unexplained has the rest.
	Causes      map[papers.Cause]int `json:"causes"`
	Unexplained int                  `json:"unexplained"`
}

// TallyOf counts the claims of a card.
func TallyOf(card []Score) Tally {
	t := Tally{Counts: make(map[Verdict]int), Shortfalls: make(map[Shortfall]int), Causes: make(map[papers.Cause]int)}
	for _, c := range papers.Causes() {
		t.Causes[c] = 0
	}
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
		switch {
		case s.Shortfall != OffClaim:
		case s.Claim.Cause == "":
			t.Unexplained++
		default:
			t.Causes[s.Claim.Cause]++
		}
	}
	return t
}

// papersOf lists the papers of a card, in its order.
func papersOf(card []Score) (ids []string) {
	for _, s := range card {
		if !slices.Contains(ids, s.Paper) {
			ids = append(ids, s.Paper)
		}
	}
	return ids
}

func ofPaper(card []Score, paper string) []Score {
	return slices.DeleteFunc(slices.Clone(card), func(s Score) bool { return s.Paper != paper })
}

// tallyTables are the counts of a card by paper: a table of the verdicts, one of what
// keeps claims from being established, and one of why claims are not reproduced. The first
// row of each is its head.
func tallyTables(card []Score) [][][]string {
	verdicts, shortfalls, causes := [][]string{{"paper"}}, [][]string{{"not established because"}}, [][]string{{"not reproduced because of"}}
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
	for _, c := range papers.Causes() {
		causes = append(causes, []string{causeText(c)})
	}
	causes = append(causes, []string{"what is not known"})
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
		causes[0] = append(causes[0], name)
		for i, c := range papers.Causes() {
			causes[i+1] = append(causes[i+1], fmt.Sprint(t.Causes[c]))
		}
		causes[len(causes)-1] = append(causes[len(causes)-1], fmt.Sprint(t.Unexplained))
	}
	all := papersOf(card)
	for _, paper := range all {
		add(paper, ofPaper(card, paper))
	}
	if len(all) != 1 {
		add("all", card)
	}
	return [][][]string{verdicts, shortfalls, causes}
}

// causeText names a cause in a table.
func causeText(c papers.Cause) string {
	switch c {
	case papers.Contradiction:
		return "a contradiction in the paper"
	case papers.Parameter:
		return "a parameter or model that the paper leaves open"
	case papers.Reading:
		return "words read as a number"
	case papers.Chance:
		return "chance, or too few loads"
	}
	return string(c)
}

// writeTallies prints the counts of a card.
func writeTallies(out *strings.Builder, card []Score) {
	for _, table := range tallyTables(card) {
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
