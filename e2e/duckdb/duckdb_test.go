package duckdb

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"
)

// lab has all tables: flows of which some are of queries, queues, probes.
const lab = `
name: duckdb
topology: {hosts: 5, rate: 100Mbps}
rtt: 1ms
switch: {buffer: {per_port: 30KB}}
schemes: [{name: droptail, aqm: droptail}, {name: tcn, aqm: tcn, threshold: 1ms}]
workload: {flows: 200, load: 0.7}
background: [{name: queries, arrival: {kind: incast, fan_out: 4, queries: 5, total: 200KB}}]
probe: {from: h2, to: h1, every: 2ms}
seeds: [1, 2]
`

// aqmlab runs the command and returns what it prints.
func aqmlab(t *testing.T, binary string, args ...string) []byte {
	t.Helper()
	out, err := exec.Command(binary, args...).Output()
	if err != nil {
		t.Fatalf("aqmlab %s: %v", strings.Join(args, " "), err)
	}
	return out
}

// built is a folder with the program.
var built = sync.OnceValues(func() (dir string, err error) {
	dir, err = os.MkdirTemp("", "duckdb")
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "aqmlab"), ".")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		return dir, fmt.Errorf("building aqmlab: %w\n%s", err, out)
	}
	return dir, nil
})

// program is the program.
func program(t *testing.T) (binary string) {
	t.Helper()
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "aqmlab")
}

// measured runs the lab and returns the folder of the run.
func measured(t *testing.T, binary string, flags ...string) (run string) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "duckdb.yaml")
	if err := os.WriteFile(file, []byte(lab), 0o600); err != nil {
		t.Fatal(err)
	}
	var ran struct{ Dir string }
	args := append([]string{"run", file, "--runtime", "sim", "--out", filepath.Join(dir, "runs"), "--json"}, flags...)
	if err := json.Unmarshal(aqmlab(t, binary, args...), &ran); err != nil {
		t.Fatal(err)
	}
	return ran.Dir
}

// TestDuckDBReadsRuns: DuckDB takes all points of a table by a pattern, finds
// the types that are documented, every row, and the figures that aqmlab prints.
func TestDuckDBReadsRuns(t *testing.T) {
	binary := program(t)
	run := measured(t, binary)
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	exported := t.TempDir()
	aqmlab(t, binary, "results", "export", run, "--csv", "--out", exported)
	tables, err := filepath.Glob(filepath.Join(exported, "*.csv"))
	if err != nil || len(tables) < 4 {
		t.Fatalf("exported %v, %v", tables, err)
	}
	for _, csv := range tables {
		name := strings.TrimSuffix(filepath.Base(csv), ".csv")
		if name == "summary" || name == "coexistence" {
			continue // of all points, and computed: no files of points
		}
		t.Run(name, func(t *testing.T) { checkRows(t, db, filepath.Join(run, "*", name+".parquet"), csv) })
	}
	t.Run("types", func(t *testing.T) { checkTypes(t, db, filepath.Join(run, "*", "flows.parquet")) })
	t.Run("figures", func(t *testing.T) {
		var ran struct {
			Runs []struct {
				Scheme    string
				Seed      uint64
				Completed int
				FCT       struct {
					Small struct{ Mean, P99 float64 }
				} `json:"fct_us"`
			}
		}
		if err := json.Unmarshal(aqmlab(t, binary, "results", "show", run, "--json"), &ran); err != nil || len(ran.Runs) != 4 {
			t.Fatalf("%d points, %v", len(ran.Runs), err)
		}
		for _, p := range ran.Runs {
			var completed int
			var mean, p99 float64
			if err := db.QueryRow(`select count(*), avg(fct_ns) filter (bytes <= 100000) / 1e3,
				quantile_disc(fct_ns, 0.99) filter (bytes <= 100000) / 1e3
				from read_parquet(?) where completed and scheme = ? and seed = ?`,
				filepath.Join(run, "*", "flows.parquet"), p.Scheme, p.Seed).Scan(&completed, &mean, &p99); err != nil {
				t.Fatal(err)
			}
			if small := p.FCT.Small; completed != p.Completed || math.Abs(mean/small.Mean-1) > 1e-9 || p99 != small.P99 {
				t.Errorf("%s, seed %d: %d flows, mean %v, p99 %v; aqmlab has %d, %+v", p.Scheme, p.Seed, completed, mean, p99, p.Completed, small)
			}
		}
	})
}

// checkRows wants every row of the CSV in the Parquet files and the other way
// around, all values as text.
func checkRows(t *testing.T, db *sql.DB, parquet, csv string) {
	t.Helper()
	var rows, mine, theirs int
	ours := fmt.Sprintf("(select columns(*)::varchar from read_csv('%s', header = true, all_varchar = true, nullstr = ''))", csv)
	read := fmt.Sprintf("(select nullif(columns(*)::varchar, '') from read_parquet('%s'))", parquet)
	err := db.QueryRow(fmt.Sprintf(`select (select count(*) from %[2]s),
		(select count(*) from (select * from %[1]s except all select * from %[2]s)),
		(select count(*) from (select * from %[2]s except all select * from %[1]s))`, ours, read)).Scan(&rows, &mine, &theirs)
	if err != nil {
		t.Fatal(err)
	}
	if rows == 0 || mine != 0 || theirs != 0 {
		t.Errorf("of %d rows %d are only in the CSV and %d only in what DuckDB reads", rows, mine, theirs)
	}
}

// checkTypes wants the types of columns that people compute with.
func checkTypes(t *testing.T, db *sql.DB, parquet string) {
	t.Helper()
	rows, err := db.Query(fmt.Sprintf("select column_name, column_type from (describe select * from read_parquet('%s'))", parquet))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	types := map[string]string{}
	for rows.Next() {
		var name, kind string
		if err := rows.Scan(&name, &kind); err != nil {
			t.Fatal(err)
		}
		types[name] = kind
	}
	for name, kind := range map[string]string{"scheme": "VARCHAR", "load": "DOUBLE", "seed": "UBIGINT", "start_ns": "BIGINT", "fct_ns": "BIGINT", "bytes": "BIGINT", "client": "INTEGER", "completed": "BOOLEAN"} {
		if types[name] != kind {
			t.Errorf("%s is %s, want %s", name, types[name], kind)
		}
	}
	if err := rows.Err(); err != nil {
		t.Error(err)
	}
}
