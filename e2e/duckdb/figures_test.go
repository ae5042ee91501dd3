package duckdb

import (
	"bufio"
	"database/sql"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestMain has this program stand in for DuckDB's own command where it is called so: the
// same library answers the same query in CSV.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) != "duckdb" {
		code := m.Run()
		if dir, err := built(); err == nil {
			os.RemoveAll(dir)
		}
		os.Exit(code)
	}
	if err := query(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// query prints what -csv -c QUERY asks for.
func query(args []string) error {
	if len(args) != 3 || args[0] != "-csv" || args[1] != "-c" {
		return fmt.Errorf("want -csv -c QUERY, got %q", args)
	}
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.Exec("copy (" + args[2] + ") to '/dev/stdout' (format csv, header)")
	return err
}

// script is a way to run a script of examples/figures.
type script struct {
	name    string
	command func(run, out, exported string) []string
	missing string // why it cannot be run here
}

// scripts are those for pandas and for R.
func scripts(t *testing.T) []script {
	t.Helper()
	here, err := filepath.Abs("../../examples/figures")
	if err != nil {
		t.Fatal(err)
	}
	python := script{name: "pandas", missing: "no python3 with pandas and matplotlib on this machine"}
	for _, p := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(p, "-c", "import numpy, pandas, matplotlib").Run() == nil {
			python.missing = ""
			python.command = func(run, out, exported string) []string {
				args := []string{p, filepath.Join(here, "figures.py"), run, "--out", out}
				if exported != "" {
					args = append(args, "--csv", exported)
				}
				return args
			}
		}
	}
	r := script{name: "R", command: func(run, out, exported string) []string {
		return []string{"Rscript", filepath.Join(here, "figures.R"), run, out, exported}
	}}
	if _, err := exec.LookPath("Rscript"); err != nil {
		r.missing = "no R on this machine"
	}
	return []script{python, r}
}

// TestFigures: the scripts of examples/figures read Parquet, or what was exported, draw what
// the report draws, and find the numbers that aqmlab prints, intervals included.
func TestFigures(t *testing.T) {
	binary := program(t)
	run := measured(t, binary, "--loads", "0.4,0.7")
	work := t.TempDir()
	exported, plots, bin := filepath.Join(work, "exported"), filepath.Join(work, "plots"), filepath.Join(work, "bin")
	aqmlab(t, binary, "results", "export", run, "--csv", "--out", exported)
	aqmlab(t, binary, "report", run, "--out", filepath.Join(work, "report.html"), "--plots", plots)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "duckdb")); err != nil {
		t.Fatal(err)
	}
	path := "PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH")
	for _, s := range scripts(t) {
		for _, from := range []string{"Parquet", "CSV"} {
			t.Run(s.name+"/"+from, func(t *testing.T) {
				if s.missing != "" {
					t.Skip(s.missing)
				}
				out, csv := filepath.Join(t.TempDir(), "figures"), ""
				if from == "CSV" {
					csv = exported
				}
				words := s.command(run, out, csv)
				c := exec.Command(words[0], words[1:]...)
				c.Env = append(os.Environ(), path)
				if text, err := c.CombinedOutput(); err != nil {
					t.Fatalf("%v: %v\n%s", words, err, text)
				}
				checkComparison(t, aqmlab(t, binary, "compare", run, "--json"), filepath.Join(out, "comparison.csv"))
				checkTimes(t, aqmlab(t, binary, "results", "show", run, "--json"), filepath.Join(out, "times.csv"))
				checkQueues(t, plots, out)
				checkDrawn(t, plots, out)
			})
		}
	}
}

// TestNothingReadsParquet: a script that finds no reader says what to install.
func TestNothingReadsParquet(t *testing.T) {
	run := measured(t, program(t))
	for _, s := range scripts(t) {
		t.Run(s.name, func(t *testing.T) {
			if s.missing != "" {
				t.Skip(s.missing)
			}
			words := s.command(run, filepath.Join(t.TempDir(), "figures"), "")
			out, err := exec.Command(words[0], words[1:]...).CombinedOutput()
			if err != nil && !(strings.Contains(string(out), "arrow") && strings.Contains(string(out), "aqmlab results export")) {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// rows are those of a CSV file, by the words of the key columns.
func rows(t *testing.T, file string, key ...string) map[string]map[string]string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := csv.NewReader(bufio.NewReader(f)).ReadAll()
	if err != nil || len(all) < 2 {
		t.Fatalf("%s: %d lines, %v", file, len(all), err)
	}
	out := map[string]map[string]string{}
	for _, line := range all[1:] {
		row, at := map[string]string{}, []string{}
		for i, name := range all[0] {
			row[name] = line[i]
		}
		for _, k := range key {
			at = append(at, row[k])
		}
		out[strings.Join(at, " ")] = row
	}
	return out
}

// checkComparison wants the rows of compare, to the last digit of the file.
func checkComparison(t *testing.T, printed []byte, file string) {
	t.Helper()
	var compared struct {
		Rows []struct {
			Scheme, Class, Metric, Verdict string
			Load, Value, Normalized        float64
			CI95                           [2]float64
		}
	}
	if err := json.Unmarshal(printed, &compared); err != nil || len(compared.Rows) != 2*2*8 {
		t.Fatalf("%d rows, %v", len(compared.Rows), err)
	}
	got := rows(t, file, "scheme", "load", "class", "metric")
	for _, r := range compared.Rows {
		at := fmt.Sprintf("%s %g %s %s", r.Scheme, r.Load, r.Class, r.Metric)
		want := map[string]string{
			"scheme": r.Scheme, "load": fmt.Sprint(r.Load), "class": r.Class, "metric": r.Metric, "verdict": r.Verdict,
			"value_us": fmt.Sprintf("%.3f", r.Value), "normalized": fmt.Sprintf("%.6f", r.Normalized),
			"ci_low": fmt.Sprintf("%.4f", r.CI95[0]), "ci_high": fmt.Sprintf("%.4f", r.CI95[1]),
		}
		if !maps.Equal(got[at], want) {
			t.Errorf("%s:\n%v, compare has\n%v", at, got[at], want)
		}
	}
	if len(got) != len(compared.Rows) {
		t.Errorf("%d rows, compare has %d", len(got), len(compared.Rows))
	}
}

// checkTimes wants the completion times of each point.
func checkTimes(t *testing.T, printed []byte, file string) {
	t.Helper()
	var shown struct {
		Runs []struct {
			Scheme     string
			Load, Seed float64
			FCT        map[string]struct{ Count, Mean, P50, P95, P99, P999 *float64 } `json:"fct_us"`
		}
	}
	if err := json.Unmarshal(printed, &shown); err != nil || len(shown.Runs) != 8 {
		t.Fatalf("%d points, %v", len(shown.Runs), err)
	}
	got := rows(t, file, "scheme", "load", "seed", "class")
	for _, p := range shown.Runs {
		for _, class := range []string{"all", "small", "medium", "large"} {
			at := fmt.Sprintf("%s %g %g %s", p.Scheme, p.Load, p.Seed, class)
			want := p.FCT[class]
			for name, v := range map[string]*float64{"count": want.Count, "mean": want.Mean, "p50": want.P50, "p95": want.P95, "p99": want.P99, "p999": want.P999} {
				text := got[at][name]
				x, err := strconv.ParseFloat(text, 64)
				if v == nil && text != "" || v != nil && (err != nil || math.Abs(x-*v) > 0.001) {
					t.Errorf("%s: %s is %q, aqmlab has %v", at, name, text, v)
				}
			}
		}
	}
}

// checkQueues wants the report's curve of each queue: the same places, to a tenth of a pixel.
func checkQueues(t *testing.T, plots, out string) {
	t.Helper()
	courses := map[string][][2]float64{}
	f, err := os.Open(filepath.Join(out, "queue.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range all[1:] {
		x, _ := strconv.ParseFloat(line[2], 64)
		y, _ := strconv.ParseFloat(line[3], 64)
		name := "queue-" + line[0] + "-load" + line[1]
		courses[name] = append(courses[name], [2]float64{x, y})
	}
	if len(courses) != 4 {
		t.Fatalf("%d queues", len(courses))
	}
	for name, course := range courses {
		drawn := curve(t, filepath.Join(plots, name+".svg"))
		if len(drawn) != len(course) {
			t.Errorf("%s: %d places, the report has %d", name, len(course), len(drawn))
			continue
		}
		for axis := range 2 {
			low, high := 0, 0 // where the curve is lowest and highest
			for i := range course {
				if course[i][axis] < course[low][axis] {
					low = i
				}
				if course[i][axis] > course[high][axis] {
					high = i
				}
			}
			scale := (drawn[high][axis] - drawn[low][axis]) / (course[high][axis] - course[low][axis])
			for i := range course {
				if want := drawn[low][axis] + scale*(course[i][axis]-course[low][axis]); math.Abs(drawn[i][axis]-want) > 0.16 {
					t.Errorf("%s: place %d of axis %d is at %.2f of the figure, the report has %.2f", name, i, axis, want, drawn[i][axis])
				}
			}
		}
	}
}

// curve is the longest line of a figure: what it draws.
func curve(t *testing.T, file string) (places [][2]float64) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	longest := ""
	for _, line := range regexp.MustCompile(`<path class="s\d+" d="([^"]+)"`).FindAllStringSubmatch(string(text), -1) {
		if len(line[1]) > len(longest) {
			longest = line[1]
		}
	}
	for _, at := range regexp.MustCompile(`[ML]([\d.]+) ([\d.]+)`).FindAllStringSubmatch(longest, -1) {
		x, _ := strconv.ParseFloat(at[1], 64) // digits, as above
		y, _ := strconv.ParseFloat(at[2], 64)
		places = append(places, [2]float64{x, y})
	}
	return places
}

// checkDrawn wants a figure for each of the report's that the scripts draw.
func checkDrawn(t *testing.T, plots, out string) {
	t.Helper()
	n := 0
	for _, pattern := range []string{"fct-*", "qct-queries-*", "queue-*"} {
		drawn, err := filepath.Glob(filepath.Join(plots, pattern+".pdf"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range drawn {
			n++
			if info, err := os.Stat(filepath.Join(out, filepath.Base(file))); err != nil || info.Size() < 2000 {
				t.Errorf("%s is not drawn: %v", filepath.Base(file), err)
			}
		}
	}
	if n < 16 {
		t.Errorf("the report has %d figures", n)
	}
}
