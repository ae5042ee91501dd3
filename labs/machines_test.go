package labs_test

import (
	"maps"
	"net/netip"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"aqmlab/labs"
)

const rackLab = base + `machines:
  - {name: m1, docker: "ssh://root@192.0.2.1", address: 192.0.2.1, cpus: "0-3,8"}
  - {name: m2, docker: "tcp://192.0.2.2:2376", tls: certs, address: 192.0.2.2}
vxlan: {port: 8472}
placement: {h2: m2, s1: m1}
`

// TestMachines: a lab may list its machines, and say what is on them. It is stored with
// both.
func TestMachines(t *testing.T) {
	path := write(t, "x.yaml", rackLab)
	l := load(t, path)
	if len(l.Rack.Machines) != 2 || l.Rack.Port != 8472 || l.Rack.Machines[0].Address != netip.MustParseAddr("192.0.2.1") {
		t.Errorf("machines %+v", l.Rack)
	}
	if got, want := l.Rack.Machines[1].TLS, filepath.Join(filepath.Dir(path), "certs"); got != want {
		t.Errorf("certificates in %s, want %s", got, want)
	}
	if !maps.Equal(l.Placement, map[string]string{"h2": "m2", "s1": "m1"}) {
		t.Errorf("placement %v", l.Placement)
	}
	if again := reload(t, l); !reflect.DeepEqual(l, again) {
		t.Errorf("wrote\n%+v\nand read\n%+v", l, again)
	}
	if err := newEditor(t, l.Kinds).check([]byte(rackLab)); err != nil {
		t.Errorf("the JSON Schema refuses it: %v", err)
	}
	l = load(t, path, "placement=h1=m2, s1=m2", "machines.m1.docker=rack-1", "machines.m2.cpus=1,3")
	if !maps.Equal(l.Placement, map[string]string{"h1": "m2", "s1": "m2"}) || l.Rack.Machines[0].Docker != "rack-1" || !reflect.DeepEqual(l.Rack.Machines[1].CPUs, []int{1, 3}) {
		t.Errorf("overridden: %+v, %v", l.Rack, l.Placement)
	}
	// A lab that lists none may get them later.
	if l := load(t, write(t, "y.yaml", base+"placement: {h1: m7}\n")); l.Placement["h1"] != "m7" {
		t.Errorf("placement %v", l.Placement)
	}
}

// TestWithoutMachines: a lab without machines is stored without a word of them, as it
// always was, and keeps its hash.
func TestWithoutMachines(t *testing.T) {
	l := load(t, "smoke")
	text, err := l.YAML()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"machines", "vxlan", "placement"} {
		if strings.Contains(string(text), key) {
			t.Errorf("%s is in\n%s", key, text)
		}
	}
}

func TestBadMachines(t *testing.T) {
	machines := func(more string) string {
		return base + "machines: [{name: m1, docker: c1, address: 192.0.2.1}, {name: m2, docker: c2, address: 192.0.2.2}]\n" + more
	}
	nodes := "s1, h1, h2, h3, h4, h5, h6, h7, h8, h9"
	for file, want := range map[string]string{
		machines("placement: {h10: m1}\n"):                   `x.yaml:4: placement.h10: unknown node "h10": want one of ` + nodes,
		machines("placement:\n  h1: m1\n  s1: m3\n"):         `x.yaml:6: placement.s1: unknown machine "m3": want one of m1, m2`,
		machines("placement: {h1: m1, h1: m2}\n"):            `x.yaml:4: placement.h1: already set on line 4`,
		machines("placement: {h1: [m1]}\n"):                  `x.yaml:4: placement: not a mapping of names to names, such as {a: b}`,
		machines("placement: {h1: }\n"):                      `x.yaml:4: placement: not a mapping of names to names, such as {a: b}`,
		machines("placement: {}\n"):                          `x.yaml:4: placement: has no value`,
		machines("placement: h1\n"):                          `x.yaml:4: placement: "h1" is no pair of names: want a mapping such as {a: b, c: d}, or a=b,c=d`,
		machines("placement: [h1=m1, h1=m2]\n"):              `x.yaml:4: placement: h1 is there twice`,
		base + "machines: [{name: m1, address: 10.0.0.1}]\n": "x.yaml:3: machines.m1.docker: missing: want ssh://user@host, ssh://user@host:port, tcp://host:port, unix:///path of a socket, or the name of a Docker context",
		base + "machines: m1\n":                              `x.yaml:3: machines: not a list of machines: want at least one {name: m1, docker: ssh://root@192.0.2.1, address: 192.0.2.1}`,
	} {
		_, err := labs.Parse("x.yaml", []byte(file))
		if err == nil || err.Error() != want {
			t.Errorf("%s: got\n%v\nwant\n%s", file, err, want)
		}
	}
}
