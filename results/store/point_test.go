package store

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/results"
	"aqmlab/results/resultstest"
)

func TestRoundTripOfEverything(t *testing.T) {
	points := resultstest.Everything()
	run := stored(t, resultstest.StarManifest(), points)
	for i, s := range run.Points() {
		p, err := s.Read()
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(p, points[i]) {
			t.Errorf("%s came back different", points[i].Folder())
		}
		if want := results.SummarizeProbes(p.Probes); !reflect.DeepEqual(s.Probes, want) {
			t.Errorf("point.json says %+v, want %+v", s.Probes, want)
		}
	}
	wantFiles(t, filepath.Join(run.Dir, points[0].Folder()), "SHA256SUMS", "flows.parquet", "goodput.parquet", "point.json", "probes.parquet", "series.parquet")
}

// What the damage of a probe's file is called.
func TestMissingProbes(t *testing.T) {
	points := resultstest.Everything()[:1]
	run := stored(t, resultstest.StarManifest(), points)
	path := filepath.Join(run.Dir, points[0].Folder(), probesFile)
	unsummed(t, filepath.Dir(path))
	writeRows(t, path, probeTable().rows(points[0].Coord, points[0].Probes)[:3])
	if _, err := open(t, run.Dir).Points()[0].Read(); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "3 rows") {
		t.Errorf("error %v does not say what is missing where", err)
	}
}

// oldFlowRow is a row of flows.parquet as it was before queries were recorded.
type oldFlowRow struct {
	Scheme    string  `parquet:"scheme,dict,zstd"`
	Load      float64 `parquet:"load,dict,zstd"`
	Seed      uint64  `parquet:"seed,dict,zstd"`
	ID        int64   `parquet:"flow_id,delta,zstd"`
	Start     int64   `parquet:"start_ns,delta,zstd"`
	Sent      int64   `parquet:"sent_ns,delta,zstd"`
	FCT       *int64  `parquet:"fct_ns,optional,zstd"`
	Bytes     int64   `parquet:"bytes,zstd"`
	Received  int64   `parquet:"received_bytes,zstd"`
	Client    int32   `parquet:"client,zstd"`
	Server    int32   `parquet:"server,zstd"`
	Service   int32   `parquet:"service,zstd"`
	Completed bool    `parquet:"completed,zstd"`
	Error     string  `parquet:"error,dict,zstd"`
}

// Runs of older versions still open, and their flows are of no query.
func TestOldFlowsStillOpen(t *testing.T) {
	p := resultstest.Trace("droptail", 1, 10, 0, 30)
	run := stored(t, resultstest.StarManifest(), []results.Point{p})
	path := filepath.Join(run.Dir, p.Folder(), flowsFile)
	var rows []oldFlowRow
	for _, r := range flowTable().rows(p.Coord, p.Flows) {
		rows = append(rows, oldFlowRow{
			r.Scheme, r.Load, r.Seed, r.ID, int64(r.Start), int64(r.Sent), (*int64)(r.FCT), r.Bytes, r.Received,
			r.Client, r.Server, r.Service, r.Completed, r.Error,
		})
	}
	unsummed(t, filepath.Dir(path))
	writeRows(t, path, rows)
	got, err := open(t, run.Dir).Points()[0].ReadFlows()
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Flows { // nor is it known what was sent again for them
		p.Flows[i].Retransmits, p.Flows[i].Timeouts = results.Unknown, results.Unknown
	}
	if !reflect.DeepEqual(got.Flows, p.Flows) {
		t.Errorf("read %+v, want %+v", got.Flows, p.Flows)
	}
}

// What a flow lost is stored, and that it was not counted as well.
func TestStoredFlowsKeepTheirLosses(t *testing.T) {
	p := resultstest.Lossy()
	p.Flows[1].Retransmits, p.Flows[1].Timeouts = results.Unknown, results.Unknown
	m := resultstest.StarManifest()
	m.Schemes, m.Baseline = []string{"red"}, "red"
	run := stored(t, m, []results.Point{p})
	got, err := run.Points()[0].ReadFlows()
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Flows, p.Flows) {
		t.Errorf("read\n%+v\nwant\n%+v", got.Flows, p.Flows)
	}
}

func TestEstimatesAreStored(t *testing.T) {
	p := resultstest.Lossy()
	p.Estimates = []results.EstimateSample{
		{At: time.Millisecond, Switch: "s1", Port: "h1", Queue: 1, Rate: 5e9, Smoothed: 9e9},
		{At: 2 * time.Millisecond, Switch: "s1", Port: "h1", Rate: 10e9, Smoothed: 9.5e9},
	}
	m := resultstest.StarManifest()
	m.Schemes, m.Baseline = []string{"red"}, "red"
	run := stored(t, m, []results.Point{p})
	wantFiles(t, run.Points()[0].dir, "SHA256SUMS", "estimates.parquet", "flows.parquet", "point.json", "series.parquet")
	got, err := run.Points()[0].Read()
	if err != nil || !reflect.DeepEqual(got.Estimates, p.Estimates) {
		t.Errorf("read %+v, %v, want %+v", got.Estimates, err, p.Estimates)
	}
	if few, err := run.Points()[0].ReadFlows(); err != nil || few.Estimates != nil {
		t.Errorf("with the flows alone: %+v, %v", few.Estimates, err)
	}
	if err := Remove(run.Dir); err != nil {
		t.Errorf("a run with estimates is not removed: %v", err)
	}
}

// TestDelaysAreStored: with what was counted of classes, which is in point.json.
func TestDelaysAreStored(t *testing.T) {
	p := resultstest.Lossy()
	p.Delays = []results.DelayCount{{Switch: "s1", Port: "h1", DSCP: 3, UpTo: 63, Packets: 7}, {Switch: "s1", Port: "h1", DSCP: 3, UpTo: 127, Packets: 1}}
	p.Classes = []results.ClassCount{{Switch: "s1", Port: "h1", DSCP: 3, Sent: 8, SentBytes: 12000, Marked: 2, DropsFull: 1, Waited: 500, Longest: 120}}
	m := resultstest.StarManifest()
	m.Schemes, m.Baseline = []string{"red"}, "red"
	run := stored(t, m, []results.Point{p})
	wantFiles(t, run.Points()[0].dir, "SHA256SUMS", "delays.parquet", "flows.parquet", "point.json", "series.parquet")
	got, err := run.Points()[0].Read()
	if err != nil || !reflect.DeepEqual(got.Delays, p.Delays) || !reflect.DeepEqual(got.Classes, p.Classes) {
		t.Errorf("read %+v and %+v, %v", got.Delays, got.Classes, err)
	}
	if few, err := run.Points()[0].ReadFlows(); err != nil || few.Delays != nil {
		t.Errorf("with the flows alone: %+v, %v", few.Delays, err)
	}
	if err := Remove(run.Dir); err != nil {
		t.Errorf("a run with delays is not removed: %v", err)
	}
}

// What is not known of a sender is null on disk, and read back as unknown.
func TestSendersAreStored(t *testing.T) {
	p := resultstest.Lossy()
	p.Senders = []results.SenderSample{
		{At: time.Millisecond, Flow: 3, Cwnd: 14480, SRTT: 250 * time.Microsecond, Alpha: 1},
		{At: 2 * time.Millisecond, Flow: 3, Cwnd: 7240, SSThresh: 7240, SRTT: 300 * time.Microsecond, Alpha: 0},
		{At: 3 * time.Millisecond, Flow: 4, Cwnd: 1448, Alpha: results.Unknown},
		{At: 4 * time.Millisecond, Flow: 5, Rate: 1e10, Alpha: 0.5},
	}
	p.Capture = results.Capture{Chunks: [][]byte{{1, 2}, {3}}, Packets: 7, LeftOut: 1}
	m := resultstest.StarManifest()
	m.Schemes, m.Baseline = []string{"red"}, "red"
	run := stored(t, m, []results.Point{p})
	wantFiles(t, run.Points()[0].dir, "SHA256SUMS", "capture.pcapng", "flows.parquet", "point.json", "senders.parquet", "series.parquet")
	got, err := run.Points()[0].Read()
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Senders, p.Senders) {
		t.Errorf("read\n%+v\nwant\n%+v", got.Senders, p.Senders)
	}
	var nulls []string
	columns := []string{"cwnd_bytes", "ssthresh_bytes", "srtt_ns", "alpha", "rate_bps"}
	err = run.Points()[0].EachRow("senders", columns, func(values []any) error {
		text := ""
		for i, v := range values {
			if v == nil {
				text += columns[i] + " "
			}
		}
		nulls = append(nulls, text)
		return nil
	})
	if want := []string{"ssthresh_bytes rate_bps ", "rate_bps ", "ssthresh_bytes srtt_ns alpha rate_bps ", "cwnd_bytes ssthresh_bytes srtt_ns "}; err != nil || !slices.Equal(nulls, want) {
		t.Errorf("null are %q (%v), want %q", nulls, err, want)
	}
	if err := Remove(run.Dir); err != nil {
		t.Errorf("a run with all that a point may hold is not removed: %v", err)
	}
	none := resultstest.Lossy()
	none.Seed = 2
	m.Seeds = []uint64{2}
	run = stored(t, m, []results.Point{none})
	if got, err := run.Points()[0].ReadSenders(); err != nil || !slices.Equal(got, nil) {
		t.Errorf("a point without senders has %v, %v", got, err)
	}
	wantFiles(t, run.Points()[0].dir, "SHA256SUMS", "flows.parquet", "point.json", "series.parquet")
}
