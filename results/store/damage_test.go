package store

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"aqmlab/results"
	"aqmlab/results/resultstest"
)

// required are the columns that the first version that wrote a table gave it.
var required = map[string][]string{
	flowsFile:     {"scheme", "load", "seed", "flow_id", "start_ns", "sent_ns", "fct_ns", "bytes", "received_bytes", "client", "server", "service", "completed", "error"},
	seriesFile:    {"scheme", "load", "seed", "at_ns", "switch", "port", "queue", "queue_bytes", "peak_bytes", "sent_bytes", "marks", "drops"},
	goodputFile:   {"scheme", "load", "seed", "at_ns", "interval_ns", "service", "bytes"},
	probesFile:    {"scheme", "load", "seed", "probe", "at_ns", "rtt_ns"},
	sendersFile:   {"scheme", "load", "seed", "at_ns", "flow_id", "cwnd_bytes", "ssthresh_bytes", "srtt_ns", "alpha", "rate_bps"},
	estimatesFile: {"scheme", "load", "seed", "at_ns", "switch", "port", "queue", "rate_bps", "smoothed_bps"},
	delaysFile:    {"scheme", "load", "seed", "switch", "port", "queue", "dscp", "sojourn_ns", "packets"},
}

// whole is a run of one point that has every kind of file.
func whole(t *testing.T) *Run {
	t.Helper()
	p := resultstest.Everything()[0]
	p.Flows = p.Flows[:40]
	p.Senders = []results.SenderSample{{At: 1, Flow: 3, Cwnd: 14480, Alpha: 1}, {At: 2, Flow: 4, Cwnd: 1448, Alpha: results.Unknown}}
	p.Estimates = []results.EstimateSample{{At: 1, Switch: "s1", Port: "h1", Queue: 1, Rate: 5e9, Smoothed: 9e9}}
	p.Delays = []results.DelayCount{{Switch: "s1", Port: "h1", Queue: 1, DSCP: 9, UpTo: 4, Packets: 6}}
	p.Capture = results.Capture{Chunks: [][]byte{{1, 2}, {3}}, Packets: 7, LeftOut: 1}
	return stored(t, resultstest.StarManifest(), []results.Point{p})
}

// TestTablesHaveTheirColumns: a file without a column that every version wrote, and a
// null where there cannot be one, is an error that names both, with and without checksums.
func TestTablesHaveTheirColumns(t *testing.T) {
	run := whole(t)
	unsummed(t, run.Points()[0].dir)
	p := open(t, run.Dir).Points()[0]
	for file, names := range required {
		path := p.path(file)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			other := []byte(name)
			other[0]++
			if err := os.WriteFile(path, bytes.ReplaceAll(whole, []byte(name), other), 0o600); err != nil {
				t.Fatal(err)
			}
			want := "it has no column " + name
			if _, err := p.Read(); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s without %s: %v", file, name, err)
			}
			err = p.EachRow(strings.TrimSuffix(file, tableExt), names, func([]any) error { return nil })
			if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), want) {
				t.Errorf("exporting %s without %s: %v", file, name, err)
			}
		}
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// nullable is a table of flows whose columns may all be null.
type nullable struct {
	Scheme    *string  `parquet:"scheme,optional"`
	Load      *float64 `parquet:"load,optional"`
	Seed      *uint64  `parquet:"seed,optional"`
	ID        *int64   `parquet:"flow_id,optional"`
	Start     *int64   `parquet:"start_ns,optional"`
	Sent      *int64   `parquet:"sent_ns,optional"`
	FCT       *int64   `parquet:"fct_ns,optional"`
	Bytes     *int64   `parquet:"bytes,optional"`
	Received  *int64   `parquet:"received_bytes,optional"`
	Client    *int32   `parquet:"client,optional"`
	Server    *int32   `parquet:"server,optional"`
	Service   *int32   `parquet:"service,optional"`
	Completed *bool    `parquet:"completed,optional"`
	Error     *string  `parquet:"error,optional"`
}

func TestNullsAreRefused(t *testing.T) {
	names := required[flowsFile]
	run := whole(t)
	path := run.Points()[0].path(flowsFile)
	unsummed(t, run.Points()[0].dir)
	p := open(t, run.Dir).Points()[0]
	for i, name := range names {
		var rows []nullable
		for _, f := range flowTable().rows(run.Points()[0].Coord, resultstest.Everything()[0].Flows[:40]) {
			rows = append(rows, nullable{
				&f.Scheme, &f.Load, &f.Seed, &f.ID, (*int64)(&f.Start), (*int64)(&f.Sent), (*int64)(f.FCT), &f.Bytes, &f.Received,
				&f.Client, &f.Server, &f.Service, &f.Completed, &f.Error,
			})
		}
		reflect.ValueOf(&rows[7]).Elem().Field(i).SetZero()
		writeRows(t, path, rows)
		want := "column " + name
		if name == "fct_ns" {
			want = "flow 7 is complete and has no fct_ns"
		}
		_, err := p.Read()
		kept := flowTable().schema()[name].record != nil // by readers of flows
		if kept && (err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s is null: %v", name, err)
		}
		err = p.EachRow("flows", names, func([]any) error { return nil })
		if name != "fct_ns" && (err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s is null when exported: %v", name, err)
		}
	}
}

// TestClaimedRows: what a file says of its rows costs no memory, also where the point
// says the same.
func TestClaimedRows(t *testing.T) {
	const claimed = 100_000_000
	run := whole(t)
	path := run.Points()[0].path(seriesFile)
	rows := queueTable().rows(run.Points()[0].Coord, make([]results.QueueSample, 300))
	var file bytes.Buffer
	if err := parquet.Write(&file, rows); err != nil {
		t.Fatal(err)
	}
	// The number of rows is in the footer, of the file and of its group, as varints.
	lying := bytes.ReplaceAll(file.Bytes(), []byte{0xd8, 0x04}, []byte{0x80, 0x84, 0xaf, 0x5f})
	if err := os.WriteFile(path, lying, 0o600); err != nil {
		t.Fatal(err)
	}
	p := run.Points()[0]
	p.sums, p.Samples = nil, claimed
	if n := testing.AllocsPerRun(1, func() {
		if got, err := p.ReadQueues(); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%d rows, %v", len(got), err)
		}
	}); n > 1e5 {
		t.Errorf("%v allocations", n)
	}
}

// allBytes is the environment variable with which every byte of the files is tried.
const allBytes = "AQMLAB_FLIP_ALL_BYTES"

// TestFlippedBytes: whatever byte of a run's files is another, opening and reading the run
// gives what it was, or an error that names the file. Of large files some bytes stand for all,
// without the environment variable.
func TestFlippedBytes(t *testing.T) {
	run := whole(t)
	want, err := run.Points()[0].Read()
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(run.Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		step := len(b)/60 + 1
		if os.Getenv(allBytes) != "" {
			step = 1
		}
		for at := 0; at < len(b); at += step {
			for _, bit := range []byte{1, 0x20} {
				b[at] ^= bit
				if err := os.WriteFile(path, b, 0o600); err != nil {
					return err
				}
				b[at] ^= bit
				flipped, err := Open(run.Dir)
				var got results.Point
				switch {
				case err != nil:
				case len(flipped.Damaged()) > 0:
					err = flipped.Damaged()[0].Err
				default:
					got, err = flipped.Points()[0].Read()
				}
				if h := Verify(run.Dir); len(h.Flaws) == 0 && filepath.Base(path) != manifestFile || len(h.Flaws) > 0 && !strings.Contains(h.Flaws[0].Why, path) {
					t.Errorf("byte %d of %s: verified: %+v", at, path, h)
				}
				if err != nil && !strings.Contains(err.Error(), path) {
					t.Errorf("byte %d of %s: error %v does not name it", at, path, err)
				}
				if err == nil && (!reflect.DeepEqual(got, want) || !sameButSums(flipped.Manifest, run.Manifest) || string(flipped.LabYAML) != string(run.LabYAML)) {
					t.Errorf("byte %d of %s: other figures without an error", at, path)
				}
			}
		}
		return os.WriteFile(path, b, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestPointsKeepTheirChecksums: a point without its checksums is damaged, unless a version
// that noted none stored it. Going on with a run of such a version changes nothing of that.
func TestPointsKeepTheirChecksums(t *testing.T) {
	older := aborted(t)
	for _, p := range older.Points() {
		unsummed(t, p.dir)
	}
	w, err := Resume(older.Dir, later(), []byte(resultstest.LabText), describe)
	if err != nil {
		t.Fatal(err)
	}
	addAll(t, w, resultstest.Measured()[2:4])
	if _, err := w.Finish(resultstest.Began().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if h := Verify(older.Dir); len(h.Flaws) > 0 || h.Points != 4 || h.Unchecked != 2 {
		t.Errorf("with points of an older version: %+v", h)
	}
	added := resultstest.Measured()[2].Folder()
	for _, dir := range []string{filepath.Join(older.Dir, added), whole(t).Points()[0].dir} {
		sums := filepath.Join(dir, sumsFile)
		if err := os.Remove(sums); err != nil {
			t.Fatal(err)
		}
		got := open(t, filepath.Dir(dir)).Damaged()
		if len(got) != 1 || !strings.Contains(got[0].Err.Error(), sums+" is missing") {
			t.Errorf("without %s: damaged %+v", sums, got)
		}
	}
}

func sameButSums(a, b results.Manifest) bool {
	a.Files, b.Files = nil, nil
	return reflect.DeepEqual(a, b)
}

// TestManifestsThatSayNothing: one that is not of a run is refused, and says why.
func TestManifestsThatSayNothing(t *testing.T) {
	run := whole(t)
	path := filepath.Join(run.Dir, manifestFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	object, err := Unseal(path, text)
	if err != nil {
		t.Fatal(err)
	}
	for want, b := range map[string][]byte{
		`state ""`:               []byte("{}\n"),
		"no schemes, loads":      bytes.Replace(object, []byte(`"loads": [`), []byte(`"other": [`), 1),
		"changed by hand":        bytes.Replace(text, []byte(`"netns"`), []byte(`"docker"`), 1),
		"last key, sha256":       bytes.ReplaceAll(text, []byte("\n  "), []byte("\n    ")),
		"lab.yaml: missing":      bytes.Replace(object, []byte(`"lab_sha256": "`), []byte(`"lab_sha256": "0`), 1),
		"unexpected end of":      text[:len(text)/2],
		"no start time":          bytes.Replace(object, []byte(`"start"`), []byte(`"begin"`), 1),
		`baseline "drop" is not`: bytes.Replace(object, []byte(`"baseline": "droptail"`), []byte(`"baseline": "drop"`), 1),
	} {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(run.Dir); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if err := os.WriteFile(path, object, 0o600); err != nil { // by hand, or by an older version
		t.Fatal(err)
	}
	if got := open(t, run.Dir); !reflect.DeepEqual(got.Manifest, run.Manifest) {
		t.Errorf("without its seal the manifest is %+v", got.Manifest)
	}
}

func TestSeal(t *testing.T) {
	for _, object := range []string{"{\n  \"a\": 1\n}\n", "{\"a\":1}\n", "{\"a\":{\"b\":1}}\n", "{\n  \"a\": {\n    \"b\": 1\n  }\n}\n"} {
		sealed := Seal([]byte(object))
		if got, err := Unseal("f", sealed); err != nil || string(got) != object {
			t.Errorf("%q became %q (%v), sealed %q", object, got, err, sealed)
		}
		sealed[6] ^= 1
		if _, err := Unseal("f.json", sealed); !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), "f.json") {
			t.Errorf("a change of %q: %v", object, err)
		}
	}
}

// BenchmarkSums is the cost of checksums beside reading.
func BenchmarkSums(b *testing.B) {
	p := resultstest.Synth{Flows: 50_000, Reach: 5, Sigma: 0.3}.Point("droptail", 1, 2, 1)
	f := folder{b.TempDir(), make(map[string]string)}
	if err := flowTable().write(f, p.Coord, p.Flows); err != nil {
		b.Fatal(err)
	}
	for name, from := range map[string]folder{"checked": f, "unchecked": {dir: f.dir}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := flowTable().read(from, len(p.Flows)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
