package results

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the files under testdata")

// golden compares got with testdata/name and, when they differ, leaves what
// it got beside it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, got) {
		if err := os.WriteFile(path+".got", got, 0o644); err != nil {
			t.Error(err)
		}
		t.Errorf("%s differs from what is in %s.got; run with -update if that is right", path, path)
	}
}

var began = time.Date(2026, 3, 29, 2, 30, 0, 0, time.FixedZone("CEST", 2*3600))

const labText = "name: star\nschemes: [droptail, tcn, codel]\n"

func manifest() Manifest {
	return Manifest{
		Version: "v1.2.3", GitRevision: "0123abc", Start: began,
		Host:    Machine{Kernel: "6.18.0", CPU: "Model <X>", Cores: 2, Memory: 4 << 30, GoVersion: "go1.26"},
		Runtime: "netns", Dilation: 20, Transport: Transport{"dctcp", "kernel"},
		RTTBy: RTTByDelayLine, BaseRTT: Micros(85500 * time.Nanosecond),
		Lab: "star", Schemes: []string{"droptail", "tcn", "codel"},
		Loads: []float64{0.5, 0.9}, Seeds: []uint64{1, 2}, Baseline: "droptail",
	}
}

// measured are points with all that a point may hold: tcn is better for small
// flows, codel is no different.
func measured() []Point {
	s := synth{flows: 600, reach: 5, sigma: 0.3}
	var points []Point
	for i, scheme := range []string{"droptail", "tcn", "codel"} {
		for _, load := range []float64{0.5, 0.9} {
			for seed := range uint64(2) {
				slow := 1.0
				if scheme == "tcn" {
					slow = 0.6
				}
				p := s.point(scheme, seed+1, uint64(100+i), slow)
				p.Load = load
				decorate(&p, int64(i+1))
				points = append(points, p)
			}
		}
	}
	return points
}

// decorate adds queue samples, counts and fidelity.
func decorate(p *Point, n int64) {
	for i := range 50 {
		at := time.Duration(i) * 10 * time.Millisecond
		p.Queues = append(p.Queues,
			QueueSample{At: at, Switch: "s1", Port: "h1", Queue: 0, Bytes: n * 1000 * int64(i%7), PeakBytes: n * 9000, Sent: 5000, Marks: 2},
			QueueSample{At: at, Switch: "s1", Port: "h1", Queue: 1, Bytes: n * 500, PeakBytes: n * 800, Sent: 100},
			QueueSample{At: at, Switch: "s1", Port: "h2", Bytes: 100, PeakBytes: 100, Sent: 10, Drops: 1})
	}
	p.Ingress = []IngressCount{{Switch: "s1", Port: "h1", Held: 50, Released: 50, MarkedECE: 40, PeakPackets: 9}}
	p.Ports = []PortCount{{Switch: "s1", Port: "h1", Enqueued: 900, Sent: 890, Marked: 100 * n, DropsFull: 3, DropsScheme: 4, SentBytes: 1e6, PeakBytes: n * 9000}}
	p.Hosts = []HostCount{{Host: "h1", Timeouts: n, Retransmits: 5}, {Host: "h2", Timeouts: 1}}
	p.Fidelity = Fidelity{Label: FidelityOK, LatenessP50: 300, LatenessP99: 1234 * time.Nanosecond, LatenessMax: 5 * time.Microsecond, ShareOfRTT: 0.0145, CPUHeadroom: 0.4}
	if p.Scheme == "codel" && p.Load == 0.9 {
		p.Fidelity.Label, p.Fidelity.Reasons = FidelityLow, []string{"p99 lateness is 14 % of the base RTT"}
	}
	if p.Scheme == "tcn" && p.Seed == 2 && p.Load == 0.9 {
		p.Flows[7].Received, p.Flows[7].FCT, p.Flows[7].Error = 10, 0, "connection reset"
	}
}

// stored writes points as a complete run in a new root.
func stored(t *testing.T, m Manifest, points []Point) *Run {
	t.Helper()
	w := create(t, t.TempDir(), m)
	addAll(t, w, points)
	dir, err := w.Finish(began.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	return open(t, dir)
}

func create(t *testing.T, root string, m Manifest) *Writer {
	t.Helper()
	w, err := Create(root, m, []byte(labText))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func addAll(t *testing.T, w *Writer, points []Point) {
	t.Helper()
	for _, p := range points {
		if err := w.Add(p); err != nil {
			t.Fatal(err)
		}
	}
}

func open(t *testing.T, dir string) *Run {
	t.Helper()
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
