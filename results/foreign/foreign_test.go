package foreign

import (
	"encoding/csv"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"aqmlab/results"
	"aqmlab/results/resultstest"
	"aqmlab/results/store"
)

// replayed is the trace that ns-3 replayed for testdata/flowmonitor.xml.
func replayed(t *testing.T) (flows []results.Flow) {
	t.Helper()
	f, err := os.Open("testdata/trace.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range rows[1:] {
		var n [4]int64
		for k, text := range row {
			if n[k], err = strconv.ParseInt(text, 10, 64); err != nil {
				t.Fatal(err)
			}
		}
		flows = append(flows, results.Flow{ID: int64(i), Start: time.Duration(n[0]), Server: int32(n[1]), Client: int32(n[2]), Bytes: n[3]})
	}
	return flows
}

func format(t *testing.T, name string) Format {
	t.Helper()
	at := slices.IndexFunc(Formats(), func(f Format) bool { return f.Name == name })
	if at < 0 {
		t.Fatalf("no format %s", name)
	}
	return Formats()[at]
}

// TestFlowMonitor: the file is what ns-3.37 wrote. Flow 4 sent its first packet at
// 122.814 ms, and its last byte arrived at 123.471 ms. Flow 13 was not over when the
// simulation ended: a packet was lost.
func TestFlowMonitor(t *testing.T) {
	seen, err := format(t, "flowmonitor").ReadFile("testdata/flowmonitor.xml")
	if err != nil {
		t.Fatal(err)
	}
	trace := replayed(t)
	if len(seen) != len(trace) {
		t.Fatalf("%d connections, want %d", len(seen), len(trace))
	}
	flows, exact, err := Match(trace, seen)
	if err != nil {
		t.Fatal(err)
	}
	if exact != 50*time.Microsecond { // the last flows ended at 19.9985 s, of which six digits show 100 us
		t.Errorf("exact to %v", exact)
	}
	for i, f := range flows {
		if f.ID != trace[i].ID || f.Start != trace[i].Start || f.Bytes != trace[i].Bytes || f.Retransmits != results.Unknown {
			t.Errorf("flow %d: %+v of %+v", i, f, trace[i])
		}
		if f.Completed() != (i != 13) {
			t.Errorf("flow %d: completed %v, received %d of %d", i, f.Completed(), f.Received, f.Bytes)
		}
	}
	if want := 123471*time.Microsecond - 122813911; flows[4].FCT != want {
		t.Errorf("flow 4 took %v, want %v", flows[4].FCT, want)
	}
}

// TestMatchRefuses flows that are not those of the trace.
func TestMatchRefuses(t *testing.T) {
	seen, err := format(t, "flowmonitor").ReadFile("testdata/flowmonitor.xml")
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(flows *[]results.Flow){
		"20 flows with data, and the trace has 19": func(flows *[]results.Flow) { *flows = (*flows)[1:] },
		"flow 7 starts at 204.321ms, and at":       func(flows *[]results.Flow) { (*flows)[7].Start += time.Millisecond },
		"is host 5 for flow 3":                     func(flows *[]results.Flow) { (*flows)[0].Server = 6 },
		"flow 2 of the trace stops at a time":      func(flows *[]results.Flow) { (*flows)[2].Stops = true },
	} {
		trace := replayed(t)
		change(&trace)
		if _, _, err := Match(trace, seen); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	// Another simulator may begin later.
	trace := replayed(t)
	for i := range trace {
		trace[i].Start += time.Second
	}
	if flows, _, err := Match(trace, seen); err != nil || !flows[4].Completed() {
		t.Errorf("a second later: %v", err)
	}
}

// TestHTSim: lines are of the forms that sources of csg-htsim print (uec.cpp, eqds.cpp and
// ndp.cpp), among others that programs print.
func TestHTSim(t *testing.T) {
	const out = `Nodes: 16 Connections: 3
Flow Uec_3_0 flowId 1 uec_1 starting at 100
Flow Uec_4_0 flowId 2 uec_2 finished at 350.5 total messages 1 total packets 3 RTS 0 total bytes 12288
Flow ndp_3_0 flow_id 1 finished at 420 total bytes 10000
Done
`
	seen, err := format(t, "htsim").Read(strings.NewReader(out))
	if err != nil || len(seen) != 2 {
		t.Fatalf("%+v, %v", seen, err)
	}
	trace := []results.Flow{
		{ID: 0, Start: 100 * time.Microsecond, Bytes: 10000, Server: 3},
		{ID: 1, Start: 50 * time.Microsecond, Bytes: 12000, Server: 4},
		{ID: 2, Start: 900 * time.Microsecond, Bytes: 5, Server: 4},
	}
	flows, _, err := Match(trace, seen)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []time.Duration{320 * time.Microsecond, 300500, 0} {
		if flows[i].FCT != want || flows[i].Completed() != (want > 0) {
			t.Errorf("flow %d took %v, want %v", i, flows[i].FCT, want)
		}
	}
	for line, want := range map[string]string{
		"Flow Roce_0_1 17 finished at 12 total bytes 9": "does not say which flow ended",
		"Flow a flowId 0 b finished at 1 total bytes 9": "want a number from 1",
		"Flow a flowId 9 b finished at 1 total bytes 9": "no flow 8",
		"Flow a flowId 1 b finished at 1 total bytes 9": "ended with 9 bytes, and has 10000",
		"Flow a flowId 3 b finished at 1 total bytes 9": "flow 2 ends at 1µs",
		"none": "it has no flows",
		strings.Repeat("Flow a flowId 3 b finished at 1000 total bytes 9\n", 2): "flow 2 ends twice",
	} {
		seen, err := format(t, "htsim").Read(strings.NewReader(line))
		if err == nil {
			_, _, err = Match(trace, seen)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", line, err, want)
		}
	}
}

// TestFlowMonitorRefuses what is no such file.
func TestFlowMonitorRefuses(t *testing.T) {
	const (
		stats = `<FlowMonitor><FlowStats><Flow flowId="1" timeFirstTxPacket="+1e+06ns" timeLastRxPacket="+2e+06ns" txBytes="100" rxBytes="100" rxPackets="1"/></FlowStats>`
		ends  = `<Ipv4FlowClassifier><Flow flowId="1" sourceAddress="10.0.0.1" destinationAddress="10.0.0.2" protocol="6" sourcePort="1" destinationPort="2"/></Ipv4FlowClassifier>`
	)
	for text, want := range map[string]string{
		"":                       "no element Flow",
		"<FlowMonitor>":          "unexpected EOF",
		stats + "</FlowMonitor>": "flow 1 is in no classifier",
		strings.Replace(stats, "+1e+06ns", "1s", 1):       `timeFirstTxPacket is "1s"`,
		strings.Replace(stats, "+1e+06ns", "1e+300ns", 1): `timeFirstTxPacket is "1e+300ns"`,
		strings.Replace(stats, `txBytes="100"`, "", 1):    `txBytes is ""`,
		strings.Replace(stats, `flowId="1"`, "", 1):       `flowId is ""`,
	} {
		if _, err := format(t, "flowmonitor").Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if seen, err := format(t, "flowmonitor").Read(strings.NewReader(stats + ends + "</FlowMonitor>")); err != nil || len(seen) != 1 || seen[0].Bytes != 60 {
		t.Errorf("%+v, %v", seen, err)
	}
	if _, err := format(t, "flowmonitor").ReadFile("testdata/nothing.xml"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestStore: what another simulator saw is a run, with the flows of the trace.
func TestStore(t *testing.T) {
	root := t.TempDir()
	w, err := store.Create(root, resultstest.StarManifest(), []byte(resultstest.LabText), nil)
	if err != nil {
		t.Fatal(err)
	}
	p := resultstest.Measured()[0]
	p.Flows = replayed(t)
	if err := w.Add(p); err != nil {
		t.Fatal(err)
	}
	dir, err := w.Finish(resultstest.Began())
	if err != nil {
		t.Fatal(err)
	}
	like, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	seed := p.Seed + 1
	if _, err := TraceOf(like, nil, &seed); err == nil || !strings.Contains(err.Error(), "0 traces") {
		t.Errorf("a seed that is not there: %v", err)
	}
	stored, err := TraceOf(like, &p.Load, nil)
	if err != nil {
		t.Fatal(err)
	}
	trace, err := stored.ReadFlows()
	if err != nil {
		t.Fatal(err)
	}
	fm := format(t, "flowmonitor")
	seen, err := fm.ReadFile("testdata/flowmonitor.xml")
	if err != nil {
		t.Fatal(err)
	}
	dir, _, err = Origin{fm, "ns-3", "TcpDctcp"}.Store(root, like, trace, seen, nil)
	if err != nil {
		t.Fatal(err)
	}
	run, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	m := run.Manifest
	if m.Runtime != "ns-3" || m.Transport.Name != "TcpDctcp" || m.OnOwnKernel() || m.Virtual() || m.State != results.Complete {
		t.Errorf("manifest %+v", m)
	}
	got := run.Points()[0]
	if got.Coord != (results.Coord{Scheme: "ns-3", Load: p.Load, Seed: p.Seed}) || got.Completed != 19 || got.Fidelity.Label != results.FidelityOther {
		t.Errorf("point %+v", got.PointInfo)
	}
	back, err := got.Read()
	if err != nil {
		t.Fatal(err)
	}
	if c := results.CountsOf(back, p); c.Drops != results.Unknown || c.Marks != results.Unknown {
		t.Errorf("counts %+v", c)
	}
}

// FuzzForeign: whatever a file is, it has flows of times that make sense, or it is an error.
func FuzzForeign(f *testing.F) {
	text, err := os.ReadFile("testdata/flowmonitor.xml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text[:4000]))
	f.Add(`<FlowStats><Flow flowId="1" timeFirstTxPacket="+1e+06ns" timeLastRxPacket="+2e+06ns" txBytes="100" rxBytes="100" rxPackets="1"/></FlowStats><Ipv4FlowClassifier><Flow flowId="1"/></Ipv4FlowClassifier>`)
	f.Add("Flow Uec_4_0 flowId 2 uec_2 finished at 350.5 total packets 3 RTS 0 total bytes 12288\n")
	trace := []results.Flow{{Bytes: 10}, {ID: 1, Start: 5, Bytes: 10}}
	f.Fuzz(func(t *testing.T, text string) {
		for _, format := range Formats() {
			seen, err := format.Read(strings.NewReader(text))
			if err != nil {
				continue
			}
			flows, exact, err := Match(trace, seen)
			for _, f := range flows {
				if err == nil && f.Completed() && (f.FCT <= 0 || f.Received != f.Bytes || exact < 0) {
					t.Errorf("%s: %+v, exact to %v", format.Name, f, exact)
				}
			}
		}
	})
}
