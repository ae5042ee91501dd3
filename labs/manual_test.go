package labs

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"aqmlab/kind"
	"aqmlab/labs/basertt"
	"aqmlab/labs/topologies"
	"aqmlab/switch/port"
	"aqmlab/trafficgen"
)

var update = flag.Bool("update", false, "rewrite the tables of docs/labs.md and docs/rack.md")

// TestManual: the tables of the manual are what the tags of the lab's structs and
// the rows of kinds say. A stale one is rewritten with -update.
func TestManual(t *testing.T) {
	checkManual(t, "../docs/labs.md", map[string]string{
		"keys":        keyTable(),
		"events":      entryTable(eventsKey),
		"programs":    entryTable(programsKey),
		"transports":  entryTable(transportsKey),
		"classifiers": kindTable(port.Classifiers().Entries()),
		"topologies":  kindTable(topologies.Table().Entries()),
		"base RTTs":   kindTable(basertt.Table().Entries()),
		"arrivals":    kindTable(trafficgen.Arrivals().Entries()),
	})
	checkManual(t, "../docs/rack.md", map[string]string{"machines": entryTable("machines")})
}

// checkManual is TestManual for the tables of one file.
func checkManual(t *testing.T, manual string, tables map[string]string) {
	t.Helper()
	data, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for name, table := range tables {
		start, end := fmt.Sprintf("<!-- %s: made from the code by make golden -->\n", name), "<!-- end -->"
		before, rest, ok := strings.Cut(text, start)
		_, after, ended := strings.Cut(rest, end)
		if !ok || !ended {
			t.Fatalf("%s has no table between %q and %q", manual, start, end)
		}
		text = before + start + "\n" + table + "\n" + end + after
	}
	if text == string(data) {
		return
	}
	if !*update {
		t.Fatalf("the tables of %s are stale: run go test ./labs -run TestManual -update", manual)
	}
	if err := os.WriteFile(manual, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// keyTable has a row for each key and choice, section by section, in the order of
// a written lab.
func keyTable() string {
	s := schemaOf(port.Kinds{})
	type row struct{ path, text string }
	var rows []row
	var sections []string
	add := func(path string, cells ...string) {
		top, _, _ := strings.Cut(path, ".")
		if !slices.Contains(sections, top) {
			sections = append(sections, top)
		}
		rows = append(rows, row{path, tableRow(append([]string{code(path)}, cells...)...)})
	}
	for _, k := range s.Keys {
		add(k.Path, typeOf(k.Param), code(k.Default), meaning(k.Param))
	}
	for _, c := range s.Choices {
		if kindPath := c.KindPath(); !slices.ContainsFunc(rows, func(r row) bool { return r.path == kindPath }) {
			add(c.Path, "kind", code(c.Default), c.Doc)
		}
	}
	for _, l := range s.Lists {
		add(l.Path, "list", "", l.Doc)
	}
	section := func(r row) int {
		top, _, _ := strings.Cut(r.path, ".")
		return slices.Index(sections, top)
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(section(a), section(b)) })
	var text strings.Builder
	text.WriteString("| key | type | default | range and meaning |\n|---|---|---|---|\n")
	for _, r := range rows {
		text.WriteString(r.text)
	}
	return text.String()
}

// entryTable has a row for each key of the entries of a list.
func entryTable(list string) string {
	var text strings.Builder
	text.WriteString("| key | type | range and meaning |\n|---|---|---|\n")
	for _, l := range schemaOf(port.Kinds{}).Lists {
		for _, k := range l.Item.Keys {
			if l.Path == list {
				text.WriteString(tableRow(code(k.Path), typeOf(k.Param), meaning(k.Param)))
			}
		}
	}
	return text.String()
}

// kindTable has a row for each kind, and one for each of its parameters.
func kindTable(entries []kind.Entry) string {
	var text strings.Builder
	text.WriteString("| kind | parameter | type | default | range and meaning |\n|---|---|---|---|---|\n")
	for _, e := range entries {
		text.WriteString(tableRow(code(e.Name), "", "", "", e.Doc))
		for _, p := range e.Params {
			text.WriteString(tableRow("", code(p.Name), typeOf(p), code(p.Default), meaning(p)))
		}
	}
	return text.String()
}

func tableRow(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

func typeOf(p kind.Param) string {
	if p.OneOf != nil {
		return strings.ReplaceAll(p.Type, "text", "name")
	}
	return p.Type
}

// meaning begins with the values that a parameter may have.
func meaning(p kind.Param) string {
	values := strings.ReplaceAll(p.Range, "..", " to ")
	if p.OneOf != nil {
		values = "`" + strings.Join(p.OneOf, "`, `") + "`"
	}
	doc := p.Doc
	if p.Only != "" {
		doc = "hosts that are " + p.Only + ": " + doc
	}
	if values == "" || doc == "" {
		return values + doc
	}
	return values + "; " + doc
}
