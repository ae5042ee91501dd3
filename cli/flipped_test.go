package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aqmlab/results/store"
)

// readers are the commands that show what a run measured. {run} is its folder, {runs} the one
// around it, and {out} a folder to write to.
func readers() [][]string {
	return [][]string{
		{"results", "list", "--in", "{runs}"},
		{"results", "list", "--in", "{runs}", "--json"},
		{"results", "show", "{run}"},
		{"results", "show", "{run}", "--json"},
		{"results", "export", "{run}"},
		{"results", "export", "{run}", "--json", "--out", "{out}"},
		{"compare", "{run}"},
		{"compare", "{run}", "--json"},
		{"report", "{run}", "--out", "{out}/report.html"},
		{"report", "{run}", "--out", "{out}/report.html", "--plots", "{out}"},
	}
}

// told is what a command tells about a run.
type told struct {
	code      int
	out, errs string
	files     map[string]string
}

func tell(t *testing.T, run string, args []string) told {
	t.Helper()
	to, err := os.MkdirTemp("", "aqmlab-told-") // there are too many for the end of the test
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(to)
	names := strings.NewReplacer("{run}", run, "{runs}", filepath.Dir(run), "{out}", to)
	var given []string
	for _, a := range args {
		given = append(given, names.Replace(a))
	}
	var out, errs bytes.Buffer
	code := (App{}).Main(given, Streams{Out: &out, Err: &errs})
	files := make(map[string]string)
	entries, err := os.ReadDir(to)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(to, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(b)
	}
	without := strings.NewReplacer(to, "{out}")
	return told{code, without.Replace(out.String()), without.Replace(errs.String()), files}
}

// same says whether nothing differs.
func (a told) same(b told) bool {
	if a.code != b.code || a.out != b.out || a.errs != b.errs || len(a.files) != len(b.files) {
		return false
	}
	for name, text := range a.files {
		if b.files[name] != text {
			return false
		}
	}
	return true
}

// TestFlippedBytesAreTold: whatever byte of a stored run is another, every command that shows
// the run tells what it told before, or names the file. With AQMLAB_FLIP_ALL_BYTES every byte
// is tried, else a few of each file.
func TestFlippedBytesAreTold(t *testing.T) {
	root := t.TempDir()
	lab := filepath.Join(root, "x.yaml")
	text := `topology: {hosts: 3, rate: 1Gbps}
rtt: 100us
schemes: [{name: tcn, aqm: tcn}, {name: droptail, aqm: droptail}]
workload: {sizes: {kind: fixed, size: 20KB}, flows: 8}
`
	if err := os.WriteFile(lab, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	runs := filepath.Join(root, "runs")
	run(t, 0, "run", lab, "--runtime", "sim", "--out", runs)
	dir, err := filepath.EvalSymlinks(filepath.Join(runs, "latest"))
	if err != nil {
		t.Fatal(err)
	}
	var whole []told
	for _, args := range readers() {
		whole = append(whole, tell(t, dir, args))
		if again := tell(t, dir, args); whole[len(whole)-1].code != 0 || !again.same(whole[len(whole)-1]) {
			t.Fatalf("%v of a whole run: %+v, then %+v", args, whole[len(whole)-1], again)
		}
	}
	var files, positions, named int
	if err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		// Nothing reads the page of the run again; results verify compares it.
		if err == nil && !d.IsDir() && d.Name() != store.ReportFile {
			tried, by := flipEach(t, dir, path, whole)
			files, positions, named = files+1, positions+tried, named+by
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes of %d files, with %d commands each: for %d bytes some command names the file, for the others all tell what they told before", positions, files, len(whole), named)
}

// flipEach flips bits of a file of a run, and compares what is told of it. It counts the
// bytes that it tried, and those for which some command names the file.
func flipEach(t *testing.T, dir, path string, whole []told) (tried, named int) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	step := len(b)/3 + 1
	if os.Getenv("AQMLAB_FLIP_ALL_BYTES") != "" {
		step = 1
	}
	for at := step / 2; at < len(b); at += step {
		b[at] ^= 1
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		b[at] ^= 1
		tried++
		names := false
		for i, args := range readers() {
			got := tell(t, dir, args)
			switch {
			case got.same(whole[i]):
			case strings.Contains(got.out+got.errs, path):
				names = true
			default:
				t.Errorf("byte %d of %s: %v ended with %d and does not name it:\n%s%s", at, path, args, got.code, got.out, got.errs)
			}
		}
		if names {
			named++
		}
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return tried, named
}
