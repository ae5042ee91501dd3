package labtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"aqmlab/cli"
	"aqmlab/e2e/vm/vmtest"
	"aqmlab/orchestrator/doctor"
	"aqmlab/results"
	"aqmlab/results/report"
	"aqmlab/results/store"
)

// TestMain makes this test binary aqmlab, for the helper processes of its labs
// and for a run to kill.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		os.Exit(cli.App{}.Main(os.Args[1:], cli.Streams{Out: os.Stdout, Err: os.Stderr}))
	}
	os.Exit(m.Run())
}

// TestLab runs the whole program on a kernel that has everything.
func TestLab(t *testing.T) {
	vmtest.Run(t, vmtest.Spec{
		Package: "aqmlab/e2e/vm/labtest",
		Tests:   "^TestGuest",
		Modules: []string{"veth", "macvlan", "sch_tbf", "sch_htb", "sch_netem", "cls_bpf", "tcp_dctcp"},
		Limit:   5 * time.Minute,
	})
}

// threshold is where the lab's scheme marks, in bytes.
const threshold = 30_000

// lab is three senders of different base RTTs and one receiver, whose link is
// the bottleneck.
const lab = `
name: vm
topology: {kind: star, hosts: 4, rate: 100Mbps}
rtt: {min: 2ms, max: 4ms, distribution: uniform, per: host}
host: {transport: dctcp, rto_min: 50ms}
switch: {buffer: {per_port: 200KB}}
schemes: [{name: dctcp-red, aqm: dctcp-red, threshold: 30KB}]
workload:
  arrival: {kind: static, count: [3]}
  sizes: {kind: fixed, size: 800KB}
dilation: 8
`

// aqmlab is the command line.
func aqmlab(t *testing.T, args ...string) []byte {
	t.Helper()
	var out, messages bytes.Buffer
	code := cli.App{}.Main(args, cli.Streams{Out: &out, Err: &messages})
	t.Logf("aqmlab %s\n%s", strings.Join(args, " "), messages.Bytes())
	if code != 0 {
		t.Fatalf("it ended with %d", code)
	}
	return out.Bytes()
}

// command is what runs the lab.
func command(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "vm.yaml")
	if err := os.WriteFile(file, []byte(lab), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"run", file, "--runtime", "netns", "--out", dir, "--json"}
}

// run runs the lab, with changes, and returns what is stored.
func run(t *testing.T, changes ...string) (results.Manifest, []results.Point) {
	t.Helper()
	args := command(t)
	for _, c := range changes {
		args = append(args, "--set", c)
	}
	var printed report.RunJSON
	if err := json.Unmarshal(aqmlab(t, args...), &printed); err != nil {
		t.Fatal(err)
	}
	stored, err := store.Open(printed.Dir)
	if err != nil {
		t.Fatal(err)
	}
	var points []results.Point
	for _, s := range stored.Points() {
		p, err := s.Read()
		if err != nil {
			t.Fatal(err)
		}
		points = append(points, p)
	}
	checkBaseRTTs(t, stored.Manifest)
	return stored.Manifest, points
}

// checkBaseRTTs wants them made by netem and as drawn.
func checkBaseRTTs(t *testing.T, m results.Manifest) {
	t.Helper()
	if m.State != results.Complete || m.RTTBy != results.RTTByNetem || len(m.BaseRTTs) != 4 {
		t.Errorf("run %s, base RTTs by %s: %+v", m.State, m.RTTBy, m.BaseRTTs)
	}
	if missed := results.MissedRTTs(m.BaseRTTs); missed != "" {
		t.Error(missed)
	}
	for _, b := range m.BaseRTTs {
		t.Logf("base RTT of %s: %s measured, %s drawn", b.Host, b.Measured, b.Lab)
		if time.Duration(b.Lab.Min) < 2*time.Millisecond || time.Duration(b.Lab.Max) > 4*time.Millisecond {
			t.Errorf("%s was to have base RTTs of %s", b.Host, b.Lab)
		}
	}
}

// TestGuestDoctor: all that there is to find is found.
func TestGuestDoctor(t *testing.T) {
	vmtest.NeedsGuest(t)
	var d doctor.Diagnosis
	if err := json.Unmarshal(aqmlab(t, "doctor", "--json"), &d); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"base RTT": "netem holds back", "transport dctcp": "from the kernel"}
	for _, f := range d.Findings {
		if part, ok := want[f.Part]; ok && f.OK && strings.HasPrefix(f.Text, part) {
			delete(want, f.Part)
		}
	}
	if len(want) > 0 || !d.Ready {
		t.Errorf("doctor finds %+v, and not %v", d.Findings, want)
	}
}

// TestGuestFlows: a lab whose flows differ in their base RTTs comes through
// whole.
func TestGuestFlows(t *testing.T) {
	vmtest.NeedsGuest(t)
	m, points := run(t, "rtt.per=flow", "workload.arrival=poisson", "workload.flows=12", "workload.sizes.size=30KB", "workload.load=0.3")
	for _, b := range m.BaseRTTs {
		drawn := b.Lab.Max-b.Lab.Min >= results.Micros(time.Millisecond)
		if serves := b.Host != "h1"; b.Connections != 16 || drawn != serves {
			t.Errorf("%d connections of %s measured, from %s; only what serves has drawn RTTs", b.Connections, b.Host, b.Lab)
		}
	}
	if info := m.Points[0]; len(points) != 1 || info.Flows != 12 || info.Completed != 12 {
		t.Errorf("%d points, the first %+v", len(points), info)
	}
}

// TestGuestDCTCP: the kernel's DCTCP keeps the bottleneck's queue at the
// threshold, and ours does the same.
func TestGuestDCTCP(t *testing.T) {
	vmtest.NeedsGuest(t)
	m, points := run(t)
	if m.Transport.Provider != "kernel" {
		t.Fatalf("DCTCP is provided by %s", m.Transport.Provider)
	}
	kernel := checkDCTCP(t, points[0])
	removeModule(t, "tcp_dctcp")
	m, points = run(t)
	if m.Transport.Provider != "ebpf" {
		t.Fatalf("DCTCP is provided by %s", m.Transport.Provider)
	}
	own := checkDCTCP(t, points[0])
	for what, of := range map[string][2]float64{
		"goodput": {kernel.goodput, own.goodput}, "queue": {kernel.queue, own.queue}, "marks": {kernel.marks, own.marks},
	} {
		if tolerance := map[bool]float64{true: 0.05, false: 0.3}[what == "goodput"]; math.Abs(of[1]/of[0]-1) > tolerance {
			t.Errorf("%s: %v with the kernel's DCTCP, %v with ours", what, of[0], of[1])
		}
	}
}

// outcome is what a transport made of the bottleneck.
type outcome struct {
	goodput float64 // share of the link, until the first flow was through
	queue   float64 // bytes, on average after the start
	marks   float64
}

// checkDCTCP wants marks to be seen and told, and the queue to stay about the
// threshold. The start, in which the windows double, has an overshoot.
func checkDCTCP(t *testing.T, p results.Point) (o outcome) {
	t.Helper()
	first := time.Hour
	for _, f := range p.Flows {
		if !f.Completed() {
			t.Errorf("flow %+v", f)
		}
		first = min(first, f.FCT)
	}
	var bytes, samples, sent float64
	for _, q := range p.Queues {
		if q.Port == "h1" && q.At > first/3 && q.At < first {
			bytes, samples, sent = bytes+float64(q.Bytes), samples+1, sent+float64(q.Sent)
		}
	}
	o.queue, o.goodput = bytes/samples, sent*8/100e6/(first*2/3).Seconds()
	counts := results.CountsOf(p)
	o.marks = float64(counts.Marks)
	var seen, told int64
	for _, h := range p.Hosts {
		seen, told = seen+h.CEReceived, told+h.ECEReceived
	}
	t.Logf("first flow through at %v, queue %.0f bytes, goodput %.3f, %v marks, %d seen, %d told", first, o.queue, o.goodput, o.marks, seen, told)
	if counts.Marks == 0 || seen != counts.Marks || told < seen || counts.Timeouts > 0 || counts.Drops > 0 {
		t.Errorf("%+v, %d marks seen and %d told", counts, seen, told)
	}
	if o.queue < threshold/3 || o.queue > threshold*4/3 || o.goodput < 0.9 {
		t.Errorf("%+v; want a busy link and a queue of about %d bytes", o, threshold)
	}
	if p.Fidelity.Low() {
		t.Errorf("fidelity %+v", p.Fidelity)
	}
	return o
}

// removeModule waits until the last sockets of a lab let go of the module: they
// say goodbye for minutes, in virtual time, to hosts that have gone.
func removeModule(t *testing.T, name string) {
	t.Helper()
	again := time.NewTicker(time.Second)
	defer again.Stop()
	for range 600 {
		err := unix.DeleteModule(name, unix.O_NONBLOCK)
		if err == nil || errors.Is(err, unix.ENOENT) {
			return
		}
		if !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EBUSY) {
			t.Fatal(err)
		}
		<-again.C
	}
	t.Fatalf("module %s is in use", name)
}

// ours tells whether a DCTCP of ours is registered.
func ours(t *testing.T) bool {
	t.Helper()
	text, err := os.ReadFile("/proc/sys/net/ipv4/tcp_available_congestion_control")
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Contains(text, []byte("dctcp_"))
}

// TestGuestKilled: what a killed run leaves in a kernel before Linux 6.4, its
// congestion control included, is removed by the next command.
func TestGuestKilled(t *testing.T) {
	vmtest.NeedsGuest(t)
	removeModule(t, "tcp_dctcp")
	if ours(t) {
		t.Error("a run that ended has left its congestion control")
	}
	doomed := exec.Command(os.Args[0], command(t)...)
	if err := doomed.Start(); err != nil {
		t.Fatal(err)
	}
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for range 1000 {
		if ours(t) {
			break
		}
		<-look.C
	}
	if err := doomed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := doomed.Wait(); err == nil || !ours(t) {
		t.Fatalf("the run ended with %v; want it killed, and its congestion control there", err)
	}
	aqmlab(t, "lab", "status")
	if ours(t) {
		t.Error("the congestion control of a killed run stays")
	}
}
