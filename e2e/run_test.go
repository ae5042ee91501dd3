//go:build linux

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aqmlab/results"
	"aqmlab/results/compare"
	"aqmlab/results/report"
	"aqmlab/results/store"
)

// small is a lab of four services whose bottleneck marks.
const small = `
name: e2e
topology: {kind: star, hosts: 4, rate: 200Mbps}
rtt: 1ms
host: {transport: dctcp, init_cwnd: 10, rto_min: 10ms}
switch:
  buffer: {per_port: 96KB}
  scheduler: {kind: dwrr, queues: 4}
  limiter: {rate_fraction: 0.995, bucket: 2500B}
schemes:
  - {name: droptail, aqm: droptail}
  - {name: dctcp-red, aqm: dctcp-red, threshold: 20KB}
  - {name: tcn, aqm: tcn, threshold: 800us}
workload: {sizes: {kind: uniform, min: 20KB, max: 800KB}, load: 0.7, flows: 120, services: 4, connections: 2}
dilation: 2
`

func labFile(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lab.yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRun checks a whole run: every flow of the trace is there and whole, all
// schemes replayed the same ones, each service waited in its own queue, and
// the marks of the switch are those that the receivers saw and the senders
// learned of.
func TestRun(t *testing.T) {
	needRoot(t)
	run, printed := runLab(t, raceVar, labFile(t, small))
	nothingLeft(t)
	if printed.Runtime != "netns" || printed.Dilation != 2 {
		t.Errorf("printed %+v", printed)
	}
	checkRun(t, run, printed, 120)
}

// checkRun checks a run of the small lab with that many flows a point.
func checkRun(t *testing.T, run *store.Run, printed report.RunJSON, flows int) {
	t.Helper()
	all := points(t, run)
	if len(all) != 3 || len(printed.Runs) != 3 {
		t.Fatalf("%d points stored, printed %+v", len(all), printed)
	}
	trace := all["droptail"].Flows
	if len(trace) != flows {
		t.Errorf("%d flows of %d", len(trace), flows)
	}
	for scheme, p := range all {
		checkFlows(t, scheme, p.Flows, trace)
		checkQueues(t, scheme, p)
		checkMarks(t, scheme, p)
	}
	if results.CountsOf(all["droptail"]).Marks != 0 {
		t.Error("droptail marked")
	}
	for _, scheme := range []string{"dctcp-red", "tcn"} {
		if results.CountsOf(all[scheme]).Marks == 0 {
			t.Errorf("%s marked nothing at load 0.7", scheme)
		}
	}
	for _, file := range []string{"lab.yaml", "manifest.json", "summary.json", "report.html"} {
		if st, err := os.Stat(filepath.Join(run.Dir, file)); err != nil || st.Size() == 0 {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func checkFlows(t *testing.T, scheme string, flows, trace []results.Flow) {
	t.Helper()
	if len(flows) != len(trace) {
		t.Fatalf("%s: %d flows of %d", scheme, len(flows), len(trace))
	}
	for i, f := range flows {
		o := trace[i]
		if f.ID != o.ID || f.Start != o.Start || f.Bytes != o.Bytes || f.Service != o.Service || f.Client != o.Client || f.Server != o.Server {
			t.Fatalf("%s: flow %d is not the trace's: %+v, %+v", scheme, i, f, o)
		}
		if !f.Completed() || f.Received != f.Bytes || f.FCT <= 0 {
			t.Errorf("%s: flow %d: %+v", scheme, i, f)
		}
	}
}

// checkQueues: a service's payload leaves through the queue of its number.
func checkQueues(t *testing.T, scheme string, p results.Point) {
	t.Helper()
	payload := map[int]int64{}
	for _, f := range p.Flows {
		payload[int(f.Service)] += f.Bytes
	}
	for _, c := range p.Ports {
		if c.Port != "h1" {
			continue
		}
		// Headers and retransmissions add to the payload: 52 of 1500 bytes and
		// a few percent.
		if low, high := payload[c.Queue], payload[c.Queue]*12/10; c.SentBytes < low || c.SentBytes > high {
			t.Errorf("%s: queue %d sent %d bytes for a payload of %d", scheme, c.Queue, c.SentBytes, low)
		}
		if c.Enqueued != c.Sent {
			t.Errorf("%s: queue %d took %d packets and sent %d", scheme, c.Queue, c.Enqueued, c.Sent)
		}
	}
}

// checkMarks: CE set by the switch = CE received by hosts; and every CE that
// arrived is reported back to its sender (RFC 8257, section 3.2). The report is
// by bytes acknowledged, so segments that were sent twice can count apart.
func checkMarks(t *testing.T, scheme string, p results.Point) {
	t.Helper()
	marks := results.CountsOf(p).Marks
	var received, echoed, again int64
	for _, h := range p.Hosts {
		received += h.CEReceived
		echoed += h.ECEReceived
		again += h.Retransmits
	}
	if lost := p.Fidelity.EdgeDrops; marks-received < 0 || marks-received > lost {
		t.Errorf("%s: the switch marked %d packets, hosts received %d (%d lost on the way)", scheme, marks, received, lost)
	}
	if slack := received/50 + again + 5; echoed < received-slack || echoed > received+slack {
		t.Errorf("%s: hosts received %d marks, senders learned of %d (%d retransmissions)", scheme, received, echoed, again)
	}
}

// TestABQ: ACKs of the client are held at the port of its congested queue, all
// of them go on in the end, and every flow completes.
func TestABQ(t *testing.T) {
	needRoot(t)
	run, _ := runLab(t, raceVar, labFile(t, smallABQ()), "--schemes", "abq", "--flows", "60")
	checkABQ(t, points(t, run)["abq"])
}

// smallABQ is the small lab with one scheme more.
func smallABQ() string {
	return strings.Replace(small, "  - {name: tcn", "  - {name: abq, aqm: abq}\n  - {name: tcn", 1)
}

func checkABQ(t *testing.T, p results.Point) {
	t.Helper()
	for _, f := range p.Flows {
		if !f.Completed() {
			t.Errorf("flow %d: %s", f.ID, f.Error)
		}
	}
	i := slices.IndexFunc(p.Ingress, func(c results.IngressCount) bool { return c.Port == "h1" })
	if i < 0 || p.Ingress[i].Held == 0 || p.Ingress[i].Released != p.Ingress[i].Held || p.Ingress[i].MarkedECE == 0 {
		t.Errorf("at the ingress: %+v", p.Ingress)
	}
}

// TestTransports: every transport carries a lab; those without ECN are not
// marked, those with it are.
func TestTransports(t *testing.T) {
	needRoot(t)
	lab := labFile(t, small)
	for transport, marked := range map[string]bool{"dctcp": true, "ecn-star": true, "reno": false, "cubic": false} {
		t.Run(transport, func(t *testing.T) {
			run, _ := runLab(t, raceVar, lab, "--set", "host.transport="+transport, "--schemes", "dctcp-red", "--flows", "60")
			p := points(t, run)["dctcp-red"]
			for _, f := range p.Flows {
				if !f.Completed() {
					t.Errorf("flow %d: %s", f.ID, f.Error)
				}
			}
			if marks := results.CountsOf(p).Marks; (marks > 0) != marked {
				t.Errorf("%d marks", marks)
			}
			if run.Manifest.Transport.Name != transport || run.Manifest.Transport.Provider == "" {
				t.Errorf("manifest names %+v", run.Manifest.Transport)
			}
		})
	}
}

// TestCompare compares two runs of the same lab, as text and as JSON, and
// refuses runs of other traces.
func TestCompare(t *testing.T) {
	needRoot(t)
	lab := labFile(t, small)
	a, _ := runLab(t, plainVar, lab, "--schemes", "droptail", "--flows", "60")
	b, _ := runLab(t, plainVar, lab, "--schemes", "tcn", "--flows", "60")
	other, _ := runLab(t, plainVar, lab, "--schemes", "tcn", "--flows", "60", "--seeds", "9")

	var j compare.Comparison
	o := aqmlab(t, plainVar, 0, "compare", a.Dir, b.Dir, "--baseline", "droptail", "--json")
	if err := json.Unmarshal([]byte(o.out), &j); err != nil {
		t.Fatal(err)
	}
	has := func(scheme string, class results.Class, m compare.Metric) bool {
		return slices.ContainsFunc(j.Rows, func(r compare.Row) bool {
			return r.Scheme == scheme && r.Class == class && r.Metric == m && r.CI95[0] <= r.Difference && r.Difference <= r.CI95[1]
		})
	}
	if j.Baseline != "droptail" || !has("tcn", results.All, compare.Mean) || !has("tcn", results.Small, compare.Mean) {
		t.Errorf("comparison lacks rows: %+v", j)
	}
	if o := aqmlab(t, plainVar, 0, "compare", a.Dir, b.Dir); !containsAll(o.out, "droptail", "tcn", "avg") {
		t.Errorf("table:\n%s", o.out)
	}
	aqmlab(t, plainVar, 2, "compare", a.Dir, other.Dir)
	aqmlab(t, plainVar, 2, "compare", t.TempDir())
}
