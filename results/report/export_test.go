package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"testing"

	"aqmlab/results"
	"aqmlab/results/resultstest"
	"aqmlab/results/store"
)

// exported is a table of a run as CSV, by column.
func exported(t *testing.T, r *store.Run, table string) (header []string, rows []map[string]string) {
	t.Helper()
	var b bytes.Buffer
	if err := Export(&b, r, table, CSV); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, text := range line {
			row[lines[0][i]] = text
		}
		rows = append(rows, row)
	}
	return lines[0], rows
}

// TestExportFlows: the rows are the records, point after point.
func TestExportFlows(t *testing.T) {
	points := resultstest.Measured()[:2]
	points[1].Flows[0].Received, points[1].Flows[0].Error = 7, `cut, "short"`
	r := stored(t, resultstest.StarManifest(), points)
	header, rows := exported(t, r, "flows")
	if want := []string{"scheme", "load", "seed", "flow_id", "start_ns"}; !slices.Equal(header[:5], want) {
		t.Errorf("the header begins with %v, want %v", header[:5], want)
	}
	for _, p := range points {
		for _, f := range p.Flows {
			row := rows[0]
			rows = rows[1:]
			want := map[string]string{
				"scheme": p.Scheme, "load": strconv.FormatFloat(p.Load, 'g', -1, 64), "seed": strconv.FormatUint(p.Seed, 10),
				"flow_id": strconv.FormatInt(f.ID, 10), "start_ns": strconv.FormatInt(int64(f.Start), 10), "fct_ns": strconv.FormatInt(int64(f.FCT), 10),
				"bytes": strconv.FormatInt(f.Bytes, 10), "completed": strconv.FormatBool(f.Completed()), "error": f.Error,
			}
			if !f.Completed() {
				want["fct_ns"] = ""
			}
			for name, text := range want {
				if row[name] != text {
					t.Fatalf("flow %d of %s has %s %q, want %q", f.ID, p.Folder(), name, row[name], text)
				}
			}
		}
	}
	if len(rows) > 0 {
		t.Errorf("%d rows too many", len(rows))
	}
}

// TestExportSummary: a row for each point and class, with the figures of the
// JSON that run prints.
func TestExportSummary(t *testing.T) {
	points := resultstest.Measured()[:2]
	r := stored(t, resultstest.StarManifest(), points)
	_, rows := exported(t, r, SummaryTable)
	if want := len(points) * len(results.Classes()); len(rows) != want {
		t.Fatalf("%d rows, want %d", len(rows), want)
	}
	for i, row := range rows {
		p, c := points[i/len(results.Classes())], results.Classes()[i%len(results.Classes())]
		f := results.Summarize(p.Flows, c)
		mean := strconv.FormatFloat(f.Mean, 'g', -1, 64)
		if f.Count == 0 {
			mean = ""
		}
		if row["class"] != string(c) || row["count"] != strconv.Itoa(f.Count) || row["mean_us"] != mean {
			t.Errorf("row %v, want class %s, count %d, mean %s", row, c, f.Count, mean)
		}
	}
}

// TestExportJSON: an array of objects with the columns of the CSV, null where
// that is empty.
func TestExportJSON(t *testing.T) {
	points := resultstest.Measured()[:1]
	points[0].Flows[1].Error = "lost"
	r := stored(t, resultstest.StarManifest(), points)
	for _, table := range []string{SummaryTable, "flows", "series"} {
		var b bytes.Buffer
		if err := Export(&b, r, table, JSON); err != nil {
			t.Fatal(err)
		}
		var objects []map[string]any
		if err := json.Unmarshal(b.Bytes(), &objects); err != nil {
			t.Fatalf("%s: %v", table, err)
		}
		header, rows := exported(t, r, table)
		if len(objects) != len(rows) || len(rows) == 0 {
			t.Fatalf("%s: %d objects, %d rows", table, len(objects), len(rows))
		}
		for i, o := range objects {
			for _, name := range header {
				if v, ok := o[name]; !ok || v == nil && rows[i][name] != "" {
					t.Fatalf("%s: object %d has %s %v, the CSV has %q", table, i, name, v, rows[i][name])
				}
			}
		}
	}
}

func TestTables(t *testing.T) {
	r := stored(t, resultstest.StarManifest(), resultstest.Measured()[:2])
	if tables, err := Tables(r); err != nil || !slices.Equal(tables, []string{"summary", "coexistence", "flows", "series"}) {
		t.Errorf("tables %v, %v", tables, err)
	}
	err := Export(&bytes.Buffer{}, r, "queues", CSV)
	if !errors.Is(err, ErrNoTable) || err.Error() == "" {
		t.Errorf("an unknown table: %v", err)
	}
	if err := Export(brokenWriter{}, r, "flows", CSV); err == nil {
		t.Error("a table that could not be written was exported")
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("full") }
