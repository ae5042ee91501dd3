package trafficgen

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"aqmlab/kind"
	"aqmlab/trafficgen/traffic"
)

// foreign is a Parquet file as another program may write it: other integers,
// its own columns beside those of a trace.
type foreign struct {
	Note  string  `parquet:"note"`
	Src   int64   `parquet:"src"`
	Dst   int64   `parquet:"dst"`
	Bytes int32   `parquet:"bytes"`
	Start float64 `parquet:"start_s"`
}

// record has the columns of flows.parquet that a trace reads.
type record struct {
	Scheme  string `parquet:"scheme"`
	ID      int64  `parquet:"flow_id"`
	Start   int64  `parquet:"start_ns"`
	FCT     *int64 `parquet:"fct_ns,optional"`
	Bytes   int64  `parquet:"bytes"`
	Client  int32  `parquet:"client"`
	Server  int32  `parquet:"server"`
	Service int32  `parquet:"service"`
	Query   int64  `parquet:"query"`
	Push    bool   `parquet:"push"`
	Stops   bool   `parquet:"stops"`
	Stop    int64  `parquet:"stop_ns"`
	Rate    int64  `parquet:"rate_bps"`
}

// oldRecord is of a version that did not store when a flow stops.
type oldRecord struct {
	Start  int64 `parquet:"start_ns"`
	Bytes  int64 `parquet:"bytes"`
	Client int32 `parquet:"client"`
	Server int32 `parquet:"server"`
	Stops  bool  `parquet:"stops"`
}

// parquetTrace is the trace of a Parquet file.
func parquetTrace[T any](t *testing.T, rows []T) ([]traffic.Flow, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "flows.parquet")
	if err := parquet.WriteFile(path, rows); err != nil {
		t.Fatal(err)
	}
	return traceFrom(path)
}

func traceFrom(path string) ([]traffic.Flow, error) {
	spec := paperSpec()
	spec.Arrival = kind.Choice{Kind: "trace", Params: map[string]any{"file": path}}
	spec.Load, spec.Flows, spec.Push = 0, 0, true
	return Trace(spec)
}

func TestParquetOfOthers(t *testing.T) {
	flows, err := parquetTrace(t, []foreign{{"late", 0, 8, 7, 2e-6}, {"early", 2, 1, 9, 0}})
	want := []traffic.Flow{{Start: 1, Client: 1, Server: 2, Bytes: 9, Push: true}, {ID: 1, Start: 2000, Client: 8, Server: 0, Bytes: 7, Push: true}}
	if err != nil || !slices.Equal(flows, want) {
		t.Errorf("got %+v, %v\nwant %+v", flows, err, want)
	}
}

// TestParquetRecords: what records say prevails over the workload; flows that
// start together are in the order of their numbers; one that stops would send on.
func TestParquetRecords(t *testing.T) {
	flows, err := parquetTrace(t, []record{
		{ID: 1, Start: 5, Bytes: 0, Client: 1, Server: 2, Service: 1, Push: true, Stops: true, Stop: 90, Rate: 1000},
		{ID: 0, Start: 5, Bytes: 9, Client: 1, Server: 2, Query: 4},
	})
	want := []traffic.Flow{
		{ID: 0, Start: 5, Client: 1, Server: 2, Bytes: 9, Query: 4},
		{ID: 1, Start: 5, Client: 1, Server: 2, Bytes: traffic.MaxBytes, Service: 1, Push: true, Stop: 90, Rate: 1000},
	}
	if err != nil || !slices.Equal(flows, want) {
		t.Errorf("got %+v, %v\nwant %+v", flows, err, want)
	}
}

func TestBadParquet(t *testing.T) {
	ok := record{Start: 5, Bytes: 9, Client: 1, Server: 2}
	bend := func(bend func(*record)) error {
		r := ok
		bend(&r)
		_, err := parquetTrace(t, []record{ok, r})
		return err
	}
	_, none := parquetTrace(t, []record{})
	_, lacks := parquetTrace(t, []struct {
		Start int64 `parquet:"start_ns"`
	}{{1}})
	_, old := parquetTrace(t, []oldRecord{{1, 9, 1, 2, false}, {1, 9, 1, 2, true}})
	for want, err := range map[string]error{
		"row 2: start_ns: \"-1\" is outside 0":                      bend(func(r *record) { r.Start = -1 }),
		"row 2: bytes: \"0\" is not a whole number from 1":          bend(func(r *record) { r.Bytes = 0 }),
		"row 2: client: \"-3\" is not":                              bend(func(r *record) { r.Client = -3 }),
		"row 2: host 2 is both":                                     bend(func(r *record) { r.Client = 2 }),
		"row 2: hosts 77 and 2: want 0 to 8":                        bend(func(r *record) { r.Client = 77 }),
		"row 2: service 9 is outside":                               bend(func(r *record) { r.Service = 9 }),
		"row 2: stop_ns: 5ns is not above the start, 5ns":           bend(func(r *record) { r.Stop = 5 }),
		"row 2: stop_ns: \"-5\" is not a time":                      bend(func(r *record) { r.Stop = -5 }),
		"row 2: rate_bps: \"-5\" is not":                            bend(func(r *record) { r.Rate = -5 }),
		"row 2: it is of scheme tcn, those before of : want the fl": bend(func(r *record) { r.Scheme = "tcn" }),
		"flows.parquet: there are no flows":                         none,
		"flows.parquet: the header lacks columns: want one of":      lacks,
		"row 2: stops: the flow stops at a time that the file does": old,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// TestDamagedParquet: a file that was cut short or scribbled over is an error.
func TestDamagedParquet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "flows.parquet")
	if err := parquet.WriteFile(path, slices.Repeat([]record{{Start: 5, Bytes: 9, Client: 1, Server: 2}}, 100)); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{
		"cut in half": whole[:len(whole)/2],
		"the magic":   whole[:4],
		"zeroed":      slices.Concat(whole[:4], make([]byte, len(whole)/2), whole[4+len(whole)/2:]),
	} {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := traceFrom(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestExportedCSV: records as CSV may have columns that a trace does not; a trace
// that somebody wrote may not.
func TestExportedCSV(t *testing.T) {
	flows, err := traced(t, "flow_id,start_ns,fct_ns,bytes,client,server,query,push,error\n0,1000000000,,7,1,2,0,false,\"cut, short\"\n", func(*Spec) {})
	if want := []traffic.Flow{{Start: time.Second, Client: 1, Server: 2, Bytes: 7}}; err != nil || !slices.Equal(flows, want) {
		t.Errorf("got %+v, %v\nwant %+v", flows, err, want)
	}
	for want, content := range map[string]string{
		"\"fct_ns\" is not a column":         "start_ns,fct_ns,bytes,client,server\n1,2,3,4,5\n",
		":2: push: \"maybe\" is neither":     "start_ns,bytes,client,server,push\n1,3,4,5,maybe\n",
		":3: it is of seed 2, those before ": "start_ns,bytes,client,server,seed\n1,3,4,5,1\n1,3,4,5,2\n",
	} {
		if _, err := traced(t, content, func(*Spec) {}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// FuzzReadParquet: whatever a Parquet file holds, it is an error or flows within their bounds.
func FuzzReadParquet(f *testing.F) {
	add := func(err error, b *bytes.Buffer) {
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	var b bytes.Buffer
	add(parquet.Write(&b, []foreign{{"a", 1, 2, 1401, 0.5}, {"b", 2, 1, 7, 1}}), &b)
	b = bytes.Buffer{}
	fct := int64(5)
	add(parquet.Write(&b, []record{{Scheme: "tcn", ID: 1, Start: 1, FCT: &fct, Bytes: 5, Client: 1}, {Scheme: "tcn", Start: 3, Bytes: 9, Server: 2}}), &b)
	f.Add([]byte("PAR1PAR1"))
	f.Fuzz(func(t *testing.T, b []byte) {
		rows, err := readParquet(bytes.NewReader(b), int64(len(b)))
		checkRows(t, rows, err)
	})
}
