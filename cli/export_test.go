package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aqmlab/labs"
)

// TestLabExport: what is exported is a lab of the same network, which the other
// commands take, and that names the image that is asked for.
func TestLabExport(t *testing.T) {
	file := filepath.Join(t.TempDir(), "again.clab.yml")
	exported, _ := run(t, 0, "lab", "export", "smoke", "--set", "topology.hosts=5")
	if err := os.WriteFile(file, []byte(exported), 0o644); err != nil {
		t.Fatal(err)
	}
	lab, err := labs.Load(file, labs.Options{})
	if err != nil || lab.Topology.Hosts != 5 || lab.Name != "smoke" {
		t.Fatalf("exported\n%s\nand loaded %+v, %v", exported, lab, err)
	}
	if again, _ := run(t, 0, "lab", "export", file); again != exported {
		t.Errorf("exported again as\n%s\nwas\n%s", again, exported)
	}
	if out, _ := run(t, 0, "lab", "check", file); !strings.Contains(out, "lab smoke is fine") {
		t.Errorf("check says %q", out)
	}
	shown, _ := run(t, 0, "lab", "show", file)
	if !strings.Contains(shown, "kind: containerlab") || !strings.Contains(shown, "file: "+file) {
		t.Errorf("shown as\n%s", shown)
	}
	for want, flags := range map[string][]string{
		"image: aqmlab\n": nil,
		"image: a:1\n":    {"--image", "a:1"},
		"image: b:2\n":    {"--set", "host.image=b:2"},
	} {
		if out, _ := run(t, 0, append([]string{"lab", "export", "smoke"}, flags...)...); !strings.Contains(out, want) {
			t.Errorf("%q: no %q in\n%s", flags, want, out)
		}
	}
}

// TestBadTopologyFile: what is wrong with a containerlab file is told with its
// own line, and is the user's to mend.
func TestBadTopologyFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bad.clab.yml")
	text := "topology:\n  nodes: {a: , b: , s: }\n  links:\n    - {endpoints: [\"a:1\", \"s:1\"], rate: 1Gbps}\n    - {endpoints: [\"b:1\", \"s:2\"]}\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"lab", "check"}, {"lab", "export"}, {"run"}} {
		out, errs := run(t, exitUsage, append(command, file)...)
		if out != "" || !strings.Contains(errs, "bad.clab.yml:4: topology.links[0].rate: unknown field") {
			t.Errorf("%q: stdout %q, stderr %q", command, out, errs)
		}
	}
}

// TestNodeCommands: containerlab's nodes learn what is wrong with what they run.
func TestNodeCommands(t *testing.T) {
	for _, tt := range []struct {
		code int
		args []string
		want string
	}{
		{exitUsage, []string{agentAddress, "eth1", "10.0.0.1"}, `"10.0.0.1" is not an address such as 10.77.0.1/16`},
		{exitUsage, []string{agentAddress, "eth1"}, "usage:"},
		{exitUsage, []string{agentBridge}, "usage:"},
		{exitFailed, []string{agentAddress, "no-such-device", "10.0.0.1/24"}, "find no-such-device"},
	} {
		if _, errs := run(t, tt.code, append([]string{agentCommand}, tt.args...)...); !strings.Contains(errs, tt.want) {
			t.Errorf("%q: stderr %q, want %q", tt.args, errs, tt.want)
		}
	}
}

// TestExportedCommands: what containerlab's nodes run makes the network that it knows: addresses, and
// bridges without a circle. Our own image has no program but ours.
func TestExportedCommands(t *testing.T) {
	for _, tt := range []struct {
		lab, image string
		want       []string
	}{
		{"smoke", "", []string{"image: aqmlab\n    cmd: agent idle\n", "aqmlab agent address eth1 10.77.0.3/16\n", "aqmlab agent bridge eth1 eth2 eth3\n"}},
		{"smoke", "i:1", []string{"image: i:1\n  nodes:", "ip address add 10.77.0.3/16 dev eth1\n", "ip link add br0 type bridge\n", "ip link set br0 up\n", "ip link set eth3 master br0\n"}},
		// Leaves reach the first spine only, and the second one the first leaf.
		{"topologies/leafspine.clab.yml", "", []string{"bridge eth1 eth2 eth3 eth4 eth5 eth6\n", "bridge eth1 eth2 eth3 eth4 eth5\n", "bridge eth1 eth2\n", "bridge eth1\n"}},
	} {
		lab, err := labs.Load(tt.lab, labs.Options{})
		if err != nil {
			t.Fatal(err)
		}
		data, err := containerlab(lab, tt.image)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range tt.want {
			if strings.Count(string(data), line) != 1 {
				t.Errorf("%s: want %q once in\n%s", tt.lab, line, data)
			}
		}
	}
}
