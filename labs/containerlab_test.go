package labs_test

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/labs"
	"aqmlab/labs/clab"
	"aqmlab/switch/fabric"
	"aqmlab/units"
)

// spec is the fabric of a lab's baseline.
func spec(t *testing.T, l *labs.Lab) fabric.Spec {
	t.Helper()
	s, err := l.Fabric(l.Baseline, 1)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// exported is the containerlab file of a lab's network.
func exported(l *labs.Lab) ([]byte, error) {
	network, err := l.Network()
	if err != nil {
		return nil, err
	}
	return network.YAML(clab.Container{Image: "img"})
}

// Every lab of the book, and more, can be exported, and what was exported is a
// lab with the same network.
func TestExport(t *testing.T) {
	book, err := labs.Book()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*labs.Lab{
		"fat-tree":     load(t, "smoke", "topology=fat-tree"),
		"hosts' delay": load(t, "smoke", "topology=leaf-spine", "rtt=80us", "rtt.base=hosts"),
		"no delay":     load(t, "smoke", "rtt=0us"),
		"oversized":    load(t, "smoke", "topology=tree", "topology.core_rate=25Gbps"),
	}
	for _, e := range book {
		all[e.Name] = load(t, e.Name)
	}
	for _, name := range []string{"star8", "leafspine", "dumbbell", "rfc7928", "slow-sender"} {
		all[name] = load(t, "topologies/"+name+".clab.yml")
	}
	for name, l := range all {
		t.Run(name, func(t *testing.T) {
			data, err := exported(l)
			if err != nil {
				t.Fatal(err)
			}
			again := load(t, write(t, "exported.clab.yml", string(data)))
			want, got := spec(t, l), spec(t, again)
			if again.Name != l.Name || !slices.Equal(got.Switches, want.Switches) || !slices.Equal(got.Links, want.Links) {
				t.Errorf("%s: switches %v, links %+v\nwant %s: %v, %+v", again.Name, got.Switches, got.Links, l.Name, want.Switches, want.Links)
			}
			for i, h := range want.Hosts {
				if got.Hosts[i].Name != h.Name || got.Hosts[i].Addr != h.Addr {
					t.Errorf("host %+v, want %+v", got.Hosts[i], h)
				}
			}
			if !slices.Equal(again.Topology.Racks(), l.Topology.Racks()) || !near(again.RTT.Min, l.RTT.Min) {
				t.Errorf("racks %v and base RTT %v, want %v and %v", again.Topology.Racks(), again.RTT.Min, l.Topology.Racks(), l.RTT.Min)
			}
			if twice, err := exported(again); err != nil || string(twice) != string(data) {
				t.Errorf("exported again, %v:\n%s\nwas\n%s", err, twice, data)
			}
		})
	}
}

// A containerlab file is a lab by itself.
func TestDirect(t *testing.T) {
	const plain = `name: My lab
topology:
  nodes: {client: , a: , b: , tor: {kind: nokia_srlinux}}
  links:
    - {endpoints: ["b:eth1", "tor:e1"]}
    - {endpoints: ["tor:e2", "client:eth1"]}
    - {endpoints: ["a:eth1", "tor:e3"]}
`
	l := load(t, write(t, "x.clab.yml", plain), "rtt=100us")
	if l.Name != "my-lab" || l.Topology.Rate != units.Gbps || l.Baseline != "droptail" || len(l.Schemes) != 1 {
		t.Errorf("%+v", l)
	}
	s := spec(t, l)
	want := []fabric.Link{
		{A: "client", B: "tor", Rate: units.Gbps, Delay: 25 * us},
		{A: "a", B: "tor", Rate: units.Gbps, Delay: 25 * us},
		{A: "b", B: "tor", Rate: units.Gbps, Delay: 25 * us},
	}
	if !slices.Equal(s.Links, want) || s.Hosts[0].Name != "client" || s.Hosts[0].Addr != netip.MustParseAddr("10.77.0.1") {
		t.Errorf("%+v", s)
	}

	l = load(t, "topologies/dumbbell.clab.yml")
	if l.Name != "dumbbell" || l.Topology.Rate != units.Gbps || l.RTT.Min != 200*us || l.Schemes[1].AQM.Kind != "dctcp-red" {
		t.Errorf("%+v", l)
	}
	if again := reload(t, l); !reflect.DeepEqual(l, again) || l.Hash() != again.Hash() {
		t.Errorf("wrote\n%+v\nand read\n%+v", l, again)
	}
	bottleneck := fabric.Link{A: "left", B: "right", Rate: units.Gbps, Delay: 90 * us, Jitter: 10 * us, LossRate: 0.00001}
	if got := spec(t, l).Links[8]; got != bottleneck {
		t.Errorf("bottleneck %+v, want %+v", got, bottleneck)
	}
}

// uneven is a topology whose paths of fewest links differ in delay.
const uneven = `topology:
  nodes: {a: , b: , c: , s1: , s2: , s3: , s4: {kind: bridge}}
  links:
    - {endpoints: ["a:e", "s1:1"], labels: {aqmlab.rate: 10Gbps, aqmlab.delay: 1us}}
    - {endpoints: ["b:e", "s1:2"], labels: {aqmlab.rate: 10Gbps, aqmlab.delay: 50us}}
    - {endpoints: ["c:e", "s3:1"], labels: {aqmlab.rate: 10Gbps, aqmlab.delay: 3us}}
    - {endpoints: ["s1:3", "s2:1"], labels: {aqmlab.rate: 5Gbps, aqmlab.delay: 10us}}
    - {endpoints: ["s2:2", "s3:2"], labels: {aqmlab.rate: 5Gbps, aqmlab.delay: 20us}}
    - {endpoints: ["s1:4", "s4:1"], labels: {aqmlab.rate: 40Gbps, aqmlab.delay: 5us}}
    - {endpoints: ["s4:2", "s3:3"], labels: {aqmlab.rate: 40Gbps, aqmlab.delay: 7us}}
`

// The base RTT is that of the slowest of the paths that a packet may take
// between any two hosts; loads are relative to the slowest link.
func TestPathsOfFiles(t *testing.T) {
	l := load(t, write(t, "x.clab.yml", uneven))
	if want := 2 * (50 + 10 + 20 + 3) * us; l.RTT.Min != want || l.Topology.Rate != 5*units.Gbps {
		t.Errorf("base RTT %v and rate %v, want %v and 5Gbps", l.RTT.Min, l.Topology.Rate, want)
	}
	if got := l.Topology.Racks(); !slices.Equal(got, []int{0, 0, 2}) {
		t.Errorf("racks %v", got)
	}
	p := newPinger(t, load(t, write(t, "x.clab.yml", strings.NewReplacer("10Gbps", "100Tbps", "40Gbps", "100Tbps", "5Gbps", "100Tbps").Replace(uneven))), 1)
	seen := map[time.Duration]bool{}
	for hash := range uint32(64) {
		seen[p.ping(t, 1, 2, hash*2654435761).Round(us)] = true
	}
	for _, want := range []time.Duration{166 * us, 130 * us} {
		if !seen[want] {
			t.Errorf("no ping took %v: %v", want, seen)
		}
	}
	if got := p.ping(t, 0, 1, 1); !near(got, 102*us) {
		t.Errorf("neighbours are %v apart, want 102us", got)
	}
}

// A file of the book is a lab wherever the user is.
func TestTopologyOfTheBook(t *testing.T) {
	t.Chdir(t.TempDir())
	l := load(t, "topologies/dumbbell.clab.yml")
	if l.Name != "dumbbell" || l.Topology.Params["file"] != "topologies/dumbbell.clab.yml" || len(spec(t, l).Links) != 9 {
		t.Errorf("%+v", l)
	}
	if again := reload(t, l); !reflect.DeepEqual(l, again) {
		t.Errorf("wrote\n%+v\nand read\n%+v", l, again)
	}
	if _, err := labs.Load("topologies/nonesuch.clab.yml", labs.Options{}); err == nil || !strings.Contains(err.Error(), "topologies/nonesuch.clab.yml") {
		t.Errorf("one that is not there: %v", err)
	}
}

// A lab finds the file beside itself first, then in the book; an override finds
// it where the user is. What the file said when the lab was loaded stays.
func TestTopologyFile(t *testing.T) {
	const lab = "topology: {file: topologies/star8.clab.yml, rate: 2Gbps}\nschemes: [{name: droptail, aqm: droptail}]\n"
	path := write(t, "x.yaml", lab)
	inBook := load(t, path)
	if inBook.Topology.Hosts != 8 || inBook.RTT.Min != 40*us || inBook.Topology.Kind != "containerlab" || inBook.Topology.Params["file"] != "topologies/star8.clab.yml" {
		t.Errorf("from the book: %+v", inBook.Topology)
	}
	if again := reload(t, inBook); !reflect.DeepEqual(again, inBook) {
		t.Errorf("wrote\n%+v\nand read\n%+v", inBook, again)
	}

	beside := filepath.Join(filepath.Dir(path), "topologies", "star8.clab.yml")
	if err := os.Mkdir(filepath.Dir(beside), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(beside, []byte(uneven), 0o600); err != nil {
		t.Fatal(err)
	}
	l := load(t, path)
	if l.Topology.Hosts != 3 || l.Topology.Params["file"] != beside || l.Hash() == inBook.Hash() {
		t.Errorf("from its folder: %+v", l.Topology)
	}
	hash, was := l.Hash(), spec(t, l)
	if err := os.Remove(beside); err != nil {
		t.Fatal(err)
	}
	if l.Hash() != hash || !reflect.DeepEqual(spec(t, l), was) {
		t.Error("the lab changed with the file")
	}

	// A stored lab is not one of a file that has changed since, unless it is told.
	stored, err := l.YAML()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(beside, []byte(strings.Replace(uneven, "1us", "2us", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = labs.Parse("stored.yaml", stored)
	if err == nil || !strings.Contains(err.Error(), "topology.sha256: "+beside+" has changed: want it as it was, or ") {
		t.Errorf("a changed file: %v", err)
	}
	if l := load(t, write(t, "stored.yaml", string(stored)), "topology.file="+beside); l.Hash() == hash || l.RTT.Min != was.Links[0].Delay*2*83 {
		t.Errorf("overridden with the changed file: %+v", l.Topology)
	}

	// An override of the file is one of the kind.
	t.Chdir(filepath.Dir(write(t, "mine.clab.yml", uneven)))
	if l := load(t, "smoke", "topology.file=mine.clab.yml", "topology.rate=1Gbps"); l.Topology.Hosts != 3 {
		t.Errorf("overridden: %+v", l.Topology)
	}
	if l := load(t, path, "topology.kind=star", "topology.hosts=4"); l.Topology.Hosts != 4 || l.Topology.Params != nil {
		t.Errorf("back to a star: %+v", l.Topology)
	}
}

func TestBadTopologyFiles(t *testing.T) {
	const none = `{endpoints: ["a:e", "s:1"]}`
	const delayed = `{endpoints: ["b:e", "s:2"], labels: {aqmlab.delay: 1us, aqmlab.rate: 1Gbps}}`
	file := func(links ...string) string {
		return "topology:\n  nodes: {a: , b: , s: }\n  links:\n    - " + strings.Join(links, "\n    - ") + "\n"
	}
	missing := "missing: want a rate such as 10Gbps, for the links of topology.file that do not say theirs"
	tests := map[string]struct{ file, topology, more, want string }{
		"no file":       {"", "{kind: containerlab}", "", "x.yaml:1: topology.file: missing: want the name of a containerlab file, such as topologies/dumbbell.clab.yml"},
		"absent":        {"", "{file: /nowhere/a.clab.yml}", "", "x.yaml:1: topology.file: reading a topology: open /nowhere/a.clab.yml: no such file or directory"},
		"hosts":         {file(none, delayed), "{file: t.yml, hosts: 3, rate: 1Gbps, link_delay: 1us}", "", "x.yaml:1: topology.hosts: not used when topology.kind is containerlab: want star"},
		"leaves":        {file(none, delayed), "{file: t.yml, leaves: 3, rate: 1Gbps, link_delay: 1us}", "", "x.yaml:1: topology.leaves: not used when topology.kind is containerlab: want leaf-spine"},
		"other kind":    {file(none, delayed), "{kind: star, file: t.yml, rate: 1Gbps}", "", "x.yaml:1: topology.file: not used when topology.kind is star: want containerlab"},
		"no rate":       {file(none, delayed), "{file: t.yml, link_delay: 1us}", "", "x.yaml:1: topology.rate: " + missing},
		"some delays":   {file(none, delayed), "{file: t.yml, rate: 1Gbps}", "", "x.yaml:1: topology.link_delay: missing: 1 of the 2 links of topology.file say their delay: want a time such as 10us for the others"},
		"both delays":   {file(delayed, strings.Replace(delayed, "b:e\", \"s:2", "a:e\", \"s:1", 1)), "{file: t.yml, link_delay: 1us}", "", "x.yaml:1: topology.link_delay: not used when all links of topology.file say their delay"},
		"delay and RTT": {file(none, delayed), "{file: t.yml, rate: 1Gbps, link_delay: 1us}", "rtt: 8us\n", "x.yaml:3: rtt.min: topology.file is set, too, and says what the base RTT is: want one of the two"},
		"errors inside": {file(none, strings.Replace(delayed, "1us", "1", 1)), "{file: t.yml, rate: 1Gbps}", "", `t.yml:5: topology.links[1].labels.aqmlab.delay: "1" is not a time: want one such as 250us, 10ms or 1.5s`},
		"in two parts":  {"topology:\n  nodes: {a: , b: , s: {kind: bridge}, r: {kind: bridge}}\n  links:\n    - {endpoints: [\"a:e\", \"s:e\"]}\n    - {endpoints: [\"b:e\", \"r:e\"]}\n", "{file: t.yml, rate: 1Gbps}", "", "x.yaml:1: topology.file: t.yml: no path from the hosts at s to those at r"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(dir)
			if err := os.WriteFile("t.yml", []byte(tt.file), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := labs.Parse("x.yaml", []byte(on(tt.topology)+tt.more))
			if err == nil || !errors.As(err, new(labs.Errors)) {
				t.Fatalf("got %v", err)
			}
			if got := strings.ReplaceAll(err.Error(), dir+"/", ""); got != tt.want {
				t.Errorf("got\n%v\nwant\n%s", got, tt.want)
			}
		})
	}
}
