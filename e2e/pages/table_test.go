package pages

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// table is one of Markdown, or one whose columns end where their headings do.
type table struct {
	markdown bool
	rows     [][]string // the first are headings
	headings []string   // their lines, as they stand
	ends     []int      // of columns, in characters
}

// readTable reads a table out of its lines.
func readTable(lines []string) (t table) {
	if strings.HasPrefix(lines[0], "|") {
		t.markdown, t.headings = true, lines[:2]
		for i, line := range lines {
			if i == 1 {
				continue
			}
			var row []string
			for _, c := range strings.Split(strings.Trim(line, "|"), "|") {
				row = append(row, strings.TrimSpace(c))
			}
			t.rows = append(t.rows, row)
		}
		return t
	}
	gap := regexp.MustCompile(` {2,}`)
	t.headings = lines[:1]
	headings := []string{""}
	for _, at := range regexp.MustCompile(`\S+`).FindAllStringIndex(lines[0], -1) {
		headings, t.ends = append(headings, lines[0][at[0]:at[1]]), append(t.ends, at[1])
	}
	t.rows = [][]string{headings}
	for _, line := range lines[1:] {
		t.rows = append(t.rows, gap.Split(line, -1))
	}
	return t
}

// lines are the table as text.
func (t table) lines() (lines []string) {
	lines = append(lines, t.headings...)
	for _, row := range t.rows[1:] {
		if t.markdown {
			lines = append(lines, strings.ReplaceAll("| "+strings.Join(row, " | ")+" |", "|  |", "| |"))
			continue
		}
		line := row[0]
		for j, c := range row[1:] {
			line += strings.Repeat(" ", max(2, t.ends[j]-utf8.RuneCountInString(line)-utf8.RuneCountInString(c))) + c
		}
		lines = append(lines, line)
	}
	return lines
}
