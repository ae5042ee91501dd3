package e2e

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/results"
	"aqmlab/results/store"
)

// needPrograms skips where the programs of testdata/programs.yaml are not installed.
func needPrograms(t *testing.T) {
	t.Helper()
	var lacks []string
	for program, pack := range map[string]string{
		"iperf3": "iperf3", "nginx": "nginx-light", "python3": "python3", "redis-server": "redis-server", "redis-benchmark": "redis-tools", "ping": "iputils-ping", "curl": "curl",
	} {
		if _, err := exec.LookPath(program); err != nil {
			lacks = append(lacks, pack)
		}
	}
	if slices.Sort(lacks); lacks != nil {
		t.Skip("not installed: " + strings.Join(lacks, ", "))
	}
}

// TestGuestPrograms: programs of all sorts run unchanged in virtual time. What they
// measure is what the lab makes it, to the resolution of the program, and all that they
// write is the same a second time, whatever runs beside.
func TestGuestPrograms(t *testing.T) { testGuestPrograms(t, "6.1") }

// TestGuestProgramsOfOtherKernel is the same on another kernel, whose scheduler is another.
func TestGuestProgramsOfOtherKernel(t *testing.T) { testGuestPrograms(t, "6.12") }

func testGuestPrograms(t *testing.T, kernel string) {
	t.Helper()
	needPrograms(t)
	g := needGuestOf(t, kernel)
	one, _ := g.run(t, "testdata/programs.yaml", "--kernel", kernel, "--seeds", "1")
	two, _ := g.run(t, "testdata/programs.yaml", "--kernel", kernel, "--seeds", "2,1", "--jobs", "2")
	sameFiles(t, one.Dir, two.Dir)
	for _, s := range two.Points() {
		p, err := s.Read()
		if err != nil {
			t.Fatal(err)
		}
		checkPrograms(t, s, p)
		exactly(t, p)
	}
}

// sameFiles compares the files of points, of which all must be the same bytes.
func sameFiles(t *testing.T, a, b string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(a, "*", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimPrefix(file, a)
		one, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		two, err := os.ReadFile(filepath.Join(b, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(one, two) {
			t.Errorf("%s differs between two runs", name)
		}
	}
}

// checkPrograms looks at what each program of the lab must have done, on any hosts.
func checkPrograms(t *testing.T, s store.Point, p results.Point) {
	t.Helper()
	by := make(map[string]results.Program)
	for _, program := range p.Programs {
		by[program.Name] = program
		switch server := slices.Contains([]string{"iperf3-server", "nginx", "http", "redis"}, program.Name); {
		case program.Name == "crash":
			if program.Signal != "SIGSEGV" || !strings.Contains(program.Error, "SIGSEGV") {
				t.Errorf("%+v", program)
			}
		case program.Error != "" || program.Stopped != server:
			t.Errorf("%+v", program)
		case server && program.Start >= 0:
			t.Errorf("%s began at %v, after time zero", program.Name, program.Start)
		}
	}
	if len(by) != 15 || by["status"].Exit != 3 {
		t.Errorf("%d programs: %+v", len(by), by)
	}
	// iperf3 ends when it has written 5 MB: what the socket still has then may get lost.
	if sent, received := by["iperf3"].Sent, by["iperf3-server"].Received; received < 1<<20 || received > sent+8 { // the end of a connection counts as a byte
		t.Errorf("iperf3 sent %d bytes, its server received %d", sent, received)
	}
	text, err := os.ReadFile(filepath.Join(s.Path(), results.OutputFile("forks", "out")))
	if said := slices.Sorted(strings.Lines(string(text))); err != nil || !slices.Equal(said, []string{"1\n", "2\n", "3\n"}) {
		t.Errorf("forks wrote %q, %v", text, err)
	}
	if got := figures(p, "figures", "seed"); len(got) != 1 || got[0] != float64(p.Seed) {
		t.Errorf("the seed is %v in seed %d", got, p.Seed)
	}
	if got := figures(p, "curl", "status"); len(got) != 1 || got[0] != 200 {
		t.Errorf("nginx answered %v", got)
	}
	if got := figures(p, "requests", "get.p99"); len(got) != 1 {
		t.Errorf("redis-benchmark measured %v", got)
	}
}

// figures are what a program measured.
func figures(p results.Point, program, metric string) (all []float64) {
	for _, f := range p.Figures {
		if f.Program == program && f.Metric == metric {
			all = append(all, f.Value)
		}
	}
	return all
}

// exactly looks at times in virtual time: a base RTT of 200 us, links of 1 Gbps.
func exactly(t *testing.T, p results.Point) {
	t.Helper()
	// ping tells microseconds. The base RTT is that of a small segment; four transmissions
	// of a packet of 98 bytes in frames of 122 take 3.9 us. A reply may meet others' packets.
	if rtts := figures(p, "ping", "rtt"); len(rtts) != 3 || slices.Min(rtts) < 200 || slices.Min(rtts) > 204 {
		t.Errorf("seed %d: ping measured %v us, want 200 to 204", p.Seed, rtts)
	}
	// All of the link but headers and the start of a connection.
	if got := figures(p, "iperf3", "goodput"); len(got) != 1 || got[0] < 0.8e9 || got[0] > 1e9*1448/1538 {
		t.Errorf("seed %d: iperf3 measured %v bit/s", p.Seed, got)
	}
	for _, program := range p.Programs {
		switch program.Name {
		case "clock":
			if d := program.Took() - 20*time.Millisecond; d < 0 || d > 5*time.Millisecond {
				t.Errorf("20 ms by the clock took %v", program.Took())
			}
		case "threads", "forks": // the longest of their sleeps is 7 and 30 ms
			if program.Took() > 31*time.Millisecond {
				t.Errorf("%s took %v", program.Name, program.Took())
			}
		}
	}
	if p.Fidelity.Label != results.FidelityExact {
		t.Errorf("fidelity %+v", p.Fidelity)
	}
}

// TestGuestEcho: what a program measures in virtual time is what links of 1 Gbps make of its
// packets, to the nanosecond: each byte more takes 8 ns on each of four. A segment of 52
// bytes, in a frame of 90, takes the lab's base RTT, to the microsecond in which kernels
// tell RTTs. A second run beside another guest gives the same bytes.
func TestGuestEcho(t *testing.T) {
	needPrograms(t)
	g := needGuest(t)
	run, _ := g.run(t, "testdata/echo.yaml", "--seeds", "1")
	again, _ := g.run(t, "testdata/echo.yaml", "--seeds", "2,1", "--jobs", "2")
	sameFiles(t, run.Dir, again.Dir)
	for _, p := range points(t, run) {
		short, long := figures(p, "client", "rtt.64"), figures(p, "client", "rtt.1000")
		if len(short) != 100 || len(long) != 100 {
			t.Fatalf("%d and %d echoes; %+v", len(short), len(long), p.Programs)
		}
		// Within a run an echo may end in the nanosecond in which another process wakes. Its
		// readings of the clock, of a nanosecond each, may then come first.
		const exact = 10 // ns
		if slices.Max(short)-slices.Min(short) > exact || slices.Max(long)-slices.Min(long) > exact {
			t.Errorf("echoes took %v to %v ns, and %v to %v", slices.Min(short), slices.Max(short), slices.Min(long), slices.Max(long))
		}
		const nsPerByte = 4 * 8
		if more := slices.Min(long) - slices.Min(short); more != (1000-64)*nsPerByte {
			t.Errorf("936 bytes more take %v ns, want %d", more, 936*nsPerByte)
		}
		const headers = 8 + 20 + 38 // of UDP, IPv4 and Ethernet
		if rtt := short[0] - (64+headers-90)*nsPerByte; math.Abs(rtt-200_000) > 1000 {
			t.Errorf("90 bytes take %v ns, want 200,000", rtt)
		}
	}
}

// TestPrograms: the same programs run in namespaces.
func TestPrograms(t *testing.T) {
	needRoot(t)
	needPrograms(t)
	run, _ := runLab(t, plainVar, "testdata/programs.yaml", "--runtime", "netns", "--seeds", "1", "--set", "topology.rate=200Mbps")
	for _, s := range run.Points() {
		p, err := s.Read()
		if err != nil {
			t.Fatal(err)
		}
		checkPrograms(t, s, p)
	}
	nothingLeft(t)
}

// TestProgramsNeedKernels: modelled hosts run no programs, and what is not installed is
// missed before the run.
func TestProgramsNeedKernels(t *testing.T) {
	o := aqmlab(t, plainVar, 1, "run", "testdata/programs.yaml", "--runtime", "sim", "--out", t.TempDir())
	if !strings.Contains(o.err, "modelled hosts have none") {
		t.Errorf("%s", o.err)
	}
	needRoot(t)
	lab := labFile(t, "topology: {hosts: 2, rate: 1Gbps}\nworkload: {arrival: none}\nschemes: [{name: a, aqm: droptail}]\nprograms: [{name: x, on: h1, run: [no-such-program]}]\n")
	o = aqmlab(t, plainVar, 1, "run", lab, "--runtime", "netns", "--out", t.TempDir())
	if !strings.Contains(o.err, "program x: there is no no-such-program in ") {
		t.Errorf("%s", o.err)
	}
	nothingLeft(t)
}

// ownPrograms has somebody's own application on both hosts, which ask each other.
const ownPrograms = `
topology: {hosts: 2, rate: 50Mbps}
rtt: 2ms
workload: {arrival: none}
schemes: [{name: tcn, aqm: tcn}]
dilation: 4
programs:
  - {name: server, on: h1, run: [/bin/app], serves: true, listens: [7000]}
  - {name: client, on: h2, run: [app, "{h1}"]}
`

// checkOwn looks at what the application said, and at its only connection.
func checkOwn(t *testing.T, run *store.Run, said string) {
	t.Helper()
	p := points(t, run)["tcn"]
	if len(p.Programs) != 2 || p.Programs[0].Error != "" || !p.Programs[0].Stopped || p.Programs[1].Error != "" {
		t.Fatalf("%+v", p.Programs)
	}
	if sent := p.Programs[0].Sent; sent != int64(len(said)) || p.Programs[1].Retransmits != 0 {
		t.Errorf("the server sent %d bytes, want %d", sent, len(said))
	}
	text, err := os.ReadFile(filepath.Join(run.Points()[0].Path(), results.OutputFile("client", "out")))
	if err != nil || string(text) != said {
		t.Errorf("the client wrote %q, %v, want %q", text, err, said)
	}
}

// TestDockerPrograms: programs of an image run in its hosts' containers.
func TestDockerPrograms(t *testing.T) {
	needDocker(t)
	const image = "aqmlab-e2e-programs"
	application(t, image)
	run, _ := runLab(t, plainVar, labFile(t, ownPrograms), "--runtime", "docker", "--set", "host.image="+image)
	checkOwn(t, run, "this is h1\n")
	nothingLeft(t)
}

// TestGuestRootFS: programs of a guest may have a file system of their own, such as an
// unpacked image, which stays as it is.
func TestGuestRootFS(t *testing.T) {
	g := needGuest(t)
	root := rootWith(t, buildApp(t))
	run, _ := g.run(t, labFile(t, ownPrograms), "--set", "host.rootfs="+root)
	checkOwn(t, run, "this is (none)\n") // guests' hosts have no names of their own
	if left, err := filepath.Glob(filepath.Join(root, "*", "*")); err != nil || len(left) != 1 {
		t.Errorf("%v, %v are below the root", left, err)
	}
}

// rootWith is a file system that has one program, /bin/app.
func rootWith(t *testing.T, program string) (root string) {
	t.Helper()
	root = t.TempDir()
	for _, dir := range []string{"bin", "etc", "proc", "sys", "dev", "tmp", "run"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	app, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "bin/app"), app, 0o755); err != nil {
		t.Fatal(err)
	}
	return root
}

// quicLab has a transport of the programs' own, beside DCTCP.
const quicLab = `
topology: {hosts: 3, rate: 100Mbps}
rtt: 2ms
host: {transport: dctcp}
workload: {arrival: poisson, sizes: {kind: fixed, size: 200KB}, pattern: many-to-one, load: 0.5, flows: 10}
schemes: [{name: tcn, aqm: tcn}]
programs:
  - {name: server, on: h2, run: [PROGRAM, serve, ":4433"], serves: true, listens: [4433]}
  - {name: client, on: h1, run: [PROGRAM, ask, "{h2}:4433", 50000, 20], metrics: lines}
`

// TestQUIC: a transport in user space runs on all hosts, in virtual time to the byte. No
// answer of 50,000 bytes takes less than they do on the link, and the base RTT.
func TestQUIC(t *testing.T) {
	program := filepath.Join(t.TempDir(), "quic")
	build := exec.Command("go", "build", "-C", "quic", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Skip("the module of a QUIC library cannot be had: " + string(out))
	}
	const least = 2000 + 50000*8/100
	check := func(run *store.Run) {
		t.Helper()
		for _, p := range points(t, run) {
			answers := figures(p, "client", "answer")
			if len(answers) != 20 || slices.Min(answers) < least || p.Programs[1].Error != "" {
				t.Errorf("%d answers, the fastest within %v us; %+v", len(answers), slices.Min(answers), p.Programs)
			}
		}
	}
	t.Run("netns", func(t *testing.T) {
		needRoot(t)
		run, _ := runLab(t, plainVar, labFile(t, strings.ReplaceAll(quicLab, "PROGRAM", program)), "--runtime", "netns")
		check(run)
		nothingLeft(t)
	})
	t.Run("uml", func(t *testing.T) {
		g := needGuest(t)
		lab := labFile(t, strings.ReplaceAll(quicLab, "PROGRAM", "app"))
		root := rootWith(t, program)
		one, _ := g.run(t, lab, "--set", "host.rootfs="+root)
		two, _ := g.run(t, lab, "--set", "host.rootfs="+root)
		sameFiles(t, one.Dir, two.Dir)
		check(one)
	})
}
