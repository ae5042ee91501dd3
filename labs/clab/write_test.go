//go:build linux

package clab

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/srl-labs/containerlab/types"
	"gopkg.in/yaml.v2"

	"aqmlab/units"
)

// strict decodes a file into nothing but containerlab's own types, as its binary
// does.
func strict(t *testing.T, data []byte) types.Topology {
	t.Helper()
	var f struct {
		Name     string
		Topology types.Topology
	}
	if err := yaml.UnmarshalStrict(data, &f); err != nil {
		t.Fatalf("containerlab does not take\n%s\n%v", data, err)
	}
	return f.Topology
}

// What is written is read again as it was, and is what containerlab takes.
func TestWrite(t *testing.T) {
	want := &Topology{
		Name:  "written",
		Nodes: []Node{{Name: "z"}, {Name: "h10"}, {Name: "h9"}, {Name: "s1", Switch: true}, {Name: "s2", Switch: true}},
		Links: []Link{
			{End{0, "eth1"}, End{3, "eth1"}, Traits{Rate: 10 * units.Gbps, Delay: ptr(62500 * time.Nanosecond)}},
			{End{1, "eth1"}, End{3, "eth2"}, Traits{Delay: ptr(0), Loss: 0.001}},
			{End{4, "eth1"}, End{2, "eth7"}, Traits{Jitter: 333 * time.Nanosecond, Loss: 1.0 / 3}},
			{End{3, "eth3"}, End{4, "eth2"}, Traits{Rate: 2_500_000}},
		},
	}
	want.Nodes[3].Exec = []string{"ip link add br0 type bridge", "ip link set br0 up"}
	data, err := want.YAML(Container{Image: "img:1", Command: "sleep 9"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse("x", data)
	want.Nodes[3].Exec = nil // only written
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("wrote\n%s\nand read %v\n%+v\nwant\n%+v", data, err, got, want)
	}
	topology := strict(t, data)
	if image, command := topology.GetNodeImage("z"), topology.GetNodeCmd("s1"); image != "img:1" || command != "sleep 9" || topology.GetNodeKind("z") != "linux" {
		t.Errorf("image %s, command %s, kind %s", image, command, topology.GetNodeKind("z"))
	}
	if exec := topology.GetNodeExec("s1"); len(exec) != 2 || exec[1] != "ip link set br0 up" {
		t.Errorf("runs %q", exec)
	}
}

// The files that ship are those of containerlab, and of ours.
func TestShippedFiles(t *testing.T) {
	files, err := filepath.Glob("../topologies/*.clab.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse("x", data)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if want := strings.TrimSuffix(filepath.Base(file), ".clab.yml"); got.Name != want {
			t.Errorf("%s has the name %s", file, got.Name)
		}
		if theirs := strict(t, data); len(theirs.Nodes) != len(got.Nodes) || len(theirs.Links) != len(got.Links) {
			t.Errorf("%s: %d nodes and %d links, containerlab sees %d and %d", file, len(got.Nodes), len(got.Links), len(theirs.Nodes), len(theirs.Links))
		}
	}
}

// FuzzParse: no file makes the parser fail otherwise than with an error, and
// what it takes can be written and read again.
func FuzzParse(f *testing.F) {
	f.Add(full)
	f.Add(plain("h1: , h2: , s1: ", `{endpoints: ["h1:eth1", "s1:eth1"]}, {endpoints: ["h2:eth1", "s1:eth2"]}`))
	f.Add("topology: &t {nodes: *t}")
	f.Add("topology: {nodes: {<<: {h1: }}, links: [&l {endpoints: [a:b, c:d]}, *l]}")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Parse("x", []byte(text))
		if err != nil {
			return
		}
		data, err := got.YAML(Container{Image: "x"})
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Parse("x", data); err != nil || !reflect.DeepEqual(again, got) {
			t.Errorf("wrote\n%s\nand read %v\n%+v\nwas\n%+v", data, err, again, got)
		}
	})
}

func TestShares(t *testing.T) {
	for text, want := range map[string]Share{"0.1%": 0.001, "10%": 0.1, "5%": 0.05, "0.001%": 0.00001, "99.9%": 0.999, "50%": 0.5, "12.5%": 0.125} {
		var got Share
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want || got.String() != text {
			t.Errorf("%s is %v, %v; want %v", text, got, err, want)
		}
	}
}
