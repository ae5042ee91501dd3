package trafficgen

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/trafficgen/traffic"
)

// traced is the trace of a CSV file.
func traced(t *testing.T, content string, change func(*Spec)) ([]traffic.Flow, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "own.csv"), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	spec := paperSpec()
	spec.Arrival = kind.Choice{Kind: "trace", Params: map[string]any{"file": "own.csv"}}
	spec.Dir, spec.Load, spec.Flows, spec.Push = dir, 0, 0, true
	change(&spec)
	return Trace(spec)
}

func TestReplayReadsItsColumns(t *testing.T) {
	want := []traffic.Flow{
		{ID: 0, Start: 1, Client: 1, Server: 2, Bytes: 7, Push: true},
		{ID: 1, Start: 2733, Client: 8, Server: 0, Bytes: traffic.MaxBytes, Push: true},
	}
	for name, content := range map[string]string{
		"times":       "start,client,server,bytes\n2.733us,8,0,1099511627776\n0s,1,2,7\n",
		"seconds":     "start_s,src,dst,bytes\n0.000002733,0,8,1099511627776\n0,2,1,7\n",
		"nanoseconds": "# own\nbytes, server, client, start_ns\n\n7, 2, 1, 0\n1099511627776, 0, 8, 2733\n",
	} {
		if flows, err := traced(t, content, func(*Spec) {}); err != nil || !slices.Equal(flows, want) {
			t.Errorf("%s: got %+v, %v\nwant %+v", name, flows, err, want)
		}
	}
	flows, err := traced(t, "start,client,server,bytes,service\n1s,1,2,7,3\n", func(s *Spec) { s.Push = false })
	if want := []traffic.Flow{{Start: time.Second, Client: 1, Server: 2, Bytes: 7, Service: 3}}; err != nil || !slices.Equal(flows, want) {
		t.Errorf("got %+v, %v\nwant %+v", flows, err, want)
	}
}

// The trace that ships with aqmlab: 200 flows among 144 hosts, of the half
// load that it was drawn for within the error of so small a sample.
func TestShippedTrace(t *testing.T) {
	if names := Traces(); !slices.Equal(names, []string{"leafspine-144"}) {
		t.Errorf("traces %v", names)
	}
	flows := withSpec(t, func(s *Spec) {
		s.Hosts, s.Racks, s.Arrival = 144, nil, kind.Choice{Kind: "trace", Params: map[string]any{"name": "leafspine-144"}}
	})
	first, last := flows[0], flows[len(flows)-1]
	if want := (traffic.Flow{Start: 2733, Client: 90, Server: 78, Bytes: 1401}); first != want {
		t.Errorf("the first flow is %+v, want %+v", first, want)
	}
	if want := (traffic.Flow{ID: 199, Start: 4269964, Client: 40, Server: 108, Bytes: 66072}); last != want || len(flows) != 200 {
		t.Errorf("the last of %d flows is %+v, want %+v", len(flows), last, want)
	}
}

func TestReplayErrors(t *testing.T) {
	const header = "start,client,server,bytes,service\n"
	for want, content := range map[string]string{
		":1: \"size\" is not a column that is still missing: want one of start, start_s, start_ns, client,": "size,start\n",
		":1: \"start_s\" is not a column that is still missing":                                             "start,start_s\n",
		":1: the header lacks columns: want one of client, dst, bytes":                                      "start,server\n",
		": there are no flows":                                     header,
		":2: start: \"1\" is not":                                  header + "1,1,2,7,0\n",
		":2: start: \"-1s\" is ou":                                 header + "-1s,1,2,7,0\n",
		":2: client: \"-1\" is no":                                 header + "1s,-1,2,7,0\n",
		":2: server: \"x\" is not":                                 header + "1s,1,x,7,0\n",
		":2: bytes: \"0\" is not ":                                 header + "1s,1,2,0,0\n",
		":2: host 2 is both clien":                                 header + "1s,2,2,7,0\n",
		"wrong number of fields":                                   header + "1s,2,1,7\n",
		":2: start_s: \"NaN\" is ":                                 "start_s,client,server,bytes\nNaN,1,2,7\n",
		":2: start_s: \"1e9\" is ":                                 "start_s,client,server,bytes\n1e9,1,2,7\n",
		":2: start_s: \"-1\" is o":                                 "start_s,client,server,bytes\n-1,1,2,7\n",
		"arrival: trace: line 3: hosts 9 and 1: want 0 to 8":       header + "1s,1,2,7,0\n1s,9,1,7,0\n",
		"arrival: trace: line 2: service 4 is outside 0 to 3":      header + "1s,1,2,7,4\n",
		"arrival: trace: file: own.csv: record on line 2: wrong n": header + "1\n",
	} {
		_, err := traced(t, content, func(*Spec) {})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	for want, params := range map[string]map[string]any{
		"trace: name: want either a file or the name":  {"file": "a.csv", "name": "leafspine-144"},
		"trace: file: want either a file or the name":  {},
		"trace: name: unknown trace \"leafspine\": wa": {"name": "leafspine"},
	} {
		if _, err := Arrivals().New("trace", params, Env{}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if _, err := Arrivals().New("trace", map[string]any{"file": "none.csv"}, Env{Dir: t.TempDir()}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent file: error %v", err)
	}
}

// Whatever a file holds, it is an error or flows within their bounds.
func FuzzReadTrace(f *testing.F) {
	f.Add("start,client,server,bytes,service\n12.5us,1,2,1000,3\n")
	f.Add("# own\nstart_s,src,dst,bytes\n0.000002733,78,90,1401\n")
	f.Add("start_ns,client,server,bytes\n1e300,\"1\",2,7\n")
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := readTrace(strings.NewReader(text))
		checkRows(t, rows, err)
	})
}

// checkRows wants an error, or flows within their bounds.
func checkRows(t *testing.T, rows []row, err error) {
	t.Helper()
	if (err == nil) != (len(rows) > 0) {
		t.Fatalf("%d rows, error %v", len(rows), err)
	}
	for _, r := range rows {
		if r.Start < 1 || r.Start > maxSpan || min(r.Client, r.Server, r.Service) < 0 || r.Client == r.Server || r.Bytes < 1 || r.Bytes > traffic.MaxBytes {
			t.Fatalf("row %+v", r)
		}
	}
}
