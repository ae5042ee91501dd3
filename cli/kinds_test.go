package cli

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"aqmlab/kind"
	"aqmlab/switch/aqm"
	"aqmlab/switch/port"
	"aqmlab/switch/sched"
	"aqmlab/trafficgen"
	"aqmlab/trafficgen/transport"
)

// rowsOf is what a table says, as the commands print it.
func rowsOf[E, T any](table kind.Table[E, T]) []kind.Entry {
	rows := make([]kind.Entry, len(table))
	for i, k := range table {
		rows[i] = kind.Entry{Name: k.Name, Doc: k.Doc, Note: k.Note}
		for _, p := range k.Params {
			rows[i].Params = append(rows[i].Params, kind.Param{Name: p.Name, Type: p.Type, Default: p.Default, Doc: p.Doc, Tune: p.Tune})
		}
	}
	return rows
}

// TestKinds: list and show print what stands in the tables, as text and as
// JSON with lower-case keys.
func TestKinds(t *testing.T) {
	for command, rows := range map[string][]kind.Entry{
		"scheme":    slices.Concat(rowsOf(aqm.Table()), rowsOf(port.Gates())),
		"scheduler": rowsOf(sched.Table()),
		"workload":  slices.Concat(rowsOf(trafficgen.Sizes()), rowsOf(trafficgen.Arrivals())),
		"transport": rowsOf(transport.Table()),
	} {
		t.Run(command, func(t *testing.T) {
			text, _ := run(t, 0, command, "list")
			raw, _ := run(t, 0, command, "list", "--json")
			listed := decode[[]kind.Entry](t, raw)
			if len(listed) != len(rows) || strings.Count(text, "\n") != len(rows) {
				t.Fatalf("%d listed as JSON, %d lines of text, of %d", len(listed), strings.Count(text, "\n"), len(rows))
			}
			for i, row := range rows {
				if !sameEntry(listed[i], row) {
					t.Errorf("listed %+v, want %+v", listed[i], row)
				}
				if !strings.Contains(text, row.Name) || !strings.Contains(text, row.Doc) {
					t.Errorf("%s is not in\n%s", row.Name, text)
				}
				checkShow(t, command, row)
			}
		})
	}
}

func checkShow(t *testing.T, command string, row kind.Entry) {
	t.Helper()
	raw, _ := run(t, 0, command, "show", row.Name, "--json")
	if strings.Contains(raw, "null") {
		t.Errorf("%s show %s prints null:\n%s", command, row.Name, raw)
	}
	got := decode[workload](t, raw).Entry // what other kinds print is part of it
	if !sameEntry(got, row) {
		t.Errorf("shown %+v, want %+v", got, row)
	}
	text, _ := run(t, 0, command, "show", row.Name)
	if !strings.HasPrefix(text, row.Name+": "+row.Doc+"\n"+row.Note) {
		t.Errorf("%s show %s begins\n%s", command, row.Name, text)
	}
	for _, p := range row.Params {
		if !strings.Contains(text, p.Name) || !strings.Contains(text, p.Doc) || !strings.Contains(text, p.Type) || !strings.Contains(text, p.Default) {
			t.Errorf("parameter %+v is not in\n%s", p, text)
		}
	}
	if len(row.Params) == 0 && !strings.Contains(text, "no parameters") {
		t.Errorf("%s show %s:\n%s", command, row.Name, text)
	}
}

func sameEntry(a, b kind.Entry) bool {
	return a.Name == b.Name && a.Doc == b.Doc && a.Note == b.Note && slices.EqualFunc(a.Params, b.Params, func(a, b kind.Param) bool { return reflect.DeepEqual(a, b) })
}
