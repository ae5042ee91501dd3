package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"aqmlab/results"
	"aqmlab/results/compare"
)

// twoLeaves has a bottleneck at every host and two paths between the leaves.
const twoLeaves = `
name: e2e-leaves
topology: {kind: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 2, rate: 200Mbps}
rtt: 4ms
host: {transport: dctcp, init_cwnd: 10, rto_min: 10ms}
switch: {buffer: {per_port: 96KB}}
schemes: [{name: tcn, aqm: tcn, threshold: 800us}]
workload: {sizes: {kind: uniform, min: 20KB, max: 400KB}, pattern: all-to-all, load: 0.4, flows: 100, connections: 2}
dilation: 4
`

// TestDockerSwitches: each switch of a leaf-spine is a container, they forward
// to each other over veth links, and together they count what one process
// does that carries them all.
func TestDockerSwitches(t *testing.T) {
	needDocker(t)
	lab := labFile(t, twoLeaves)
	s := startCommand(t, command(t, plainVar, "run", lab, "--runtime", "docker", "--out", t.TempDir()), "[1/1]")
	var switches int
	for name := range strings.FieldsSeq(docker(t, "ps", "--format", "{{.Names}}", "--filter", "label=aqmlab.lab")) {
		if !strings.Contains(name, "-h") {
			switches++
		}
	}
	if switches != 4 {
		t.Errorf("%d switches are containers, want 4", switches)
	}
	if err := s.Wait(); err != nil {
		t.Error(err)
	}

	r, _ := runLab(t, plainVar, lab, "--runtime", "docker")
	one, _ := runLab(t, plainVar, lab, "--runtime", "netns")
	apart, whole := points(t, r)["tcn"], points(t, one)["tcn"]
	var ports []string
	for i, p := range apart.Ports {
		w := whole.Ports[i]
		ports = append(ports, p.Switch+" "+p.Port)
		if p.Switch != w.Switch || p.Port != w.Port || p.Queue != w.Queue {
			t.Errorf("port %d is %+v, of one process %+v", i, p, w)
		}
	}
	if len(slices.Compact(ports)) != 12 {
		t.Errorf("ports %v, want those of 8 links", ports)
	}
	for i, f := range apart.Flows {
		if !f.Completed() || f.Bytes != whole.Flows[i].Bytes {
			t.Errorf("flow %+v", f)
		}
	}
	if !slices.IsSortedFunc(apart.Queues, func(a, b results.QueueSample) int { return int(a.At - b.At) }) {
		t.Error("samples of the queues are not in order")
	}
	noContainers(t)
}

// TestDockerAgrees: what containers show of two schemes is what namespaces do,
// unless the machine was too busy to show it.
func TestDockerAgrees(t *testing.T) {
	needDocker(t)
	lab := labFile(t, small)
	var ci [2][2]float64
	for i, runtime := range []string{"docker", "netns"} {
		r, j := runLab(t, plainVar, lab, "--runtime", runtime, "--schemes", "droptail,tcn")
		for _, p := range j.Runs {
			if p.Fidelity.Label != results.FidelityOK {
				t.Logf("%s, %s: fidelity %+v, which says nothing", runtime, p.Scheme, p.Fidelity)
				return
			}
		}
		ci[i] = interval(t, r.Dir)
	}
	if ci[0][0] > ci[1][1] || ci[1][0] > ci[0][1] {
		t.Errorf("tcn against droptail: %v %% in containers, %v %% in namespaces", ci[0], ci[1])
	}
}

// interval is that of the mean completion time of all flows, tcn's against
// droptail's, in percent.
func interval(t *testing.T, run string) [2]float64 {
	t.Helper()
	var c compare.Comparison
	o := aqmlab(t, plainVar, 0, "compare", run, "--json")
	if err := json.Unmarshal([]byte(o.out), &c); err != nil {
		t.Fatal(err)
	}
	for _, row := range c.Rows {
		if row.Scheme == "tcn" && row.Class == "all" && row.Metric == "mean" {
			return row.CI95
		}
	}
	t.Fatalf("no row of tcn in %s", o.out)
	return [2]float64{}
}
