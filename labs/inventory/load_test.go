package inventory

import (
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"aqmlab/bounded"
	"aqmlab/labs/schema"
)

// load loads a file of that text.
func load(t *testing.T, text string) (Inventory, string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rack.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	v, err := Load(path)
	return v, path, err
}

// TestLoad: every key is read, and those that are left out have their defaults.
func TestLoad(t *testing.T) {
	v, path, err := load(t, `vxlan: {port: 8472}
machines:
  - {name: m1, docker: "ssh://root@192.0.2.1", address: 192.0.2.1}
  - {name: m2, docker: "ssh://lab@m2.example.com:2222/run/user/1000/docker.sock", address: 192.0.2.2, cpus: "8,0-3"}
  - {name: m3, docker: "tcp://192.0.2.3:2376", tls: certs/m3, address: 192.0.2.3, cpus: 4}
  - {name: m4, docker: "unix:///srv/docker.sock", address: 192.0.2.4, cpus: [3, 1]}
  - {name: m5, docker: bench-5, socket: /srv/docker.sock, address: 192.0.2.5}
`)
	if err != nil {
		t.Fatal(err)
	}
	address := netip.MustParseAddr
	const usual = "/var/run/docker.sock"
	want := Inventory{Port: 8472, Machines: []Machine{
		{Name: "m1", Docker: "ssh://root@192.0.2.1", Socket: usual, Address: address("192.0.2.1")},
		{Name: "m2", Docker: "ssh://lab@m2.example.com:2222/run/user/1000/docker.sock", Socket: "/run/user/1000/docker.sock", Address: address("192.0.2.2"), CPUs: []int{0, 1, 2, 3, 8}},
		{Name: "m3", Docker: "tcp://192.0.2.3:2376", TLS: filepath.Join(filepath.Dir(path), "certs/m3"), Socket: usual, Address: address("192.0.2.3"), CPUs: []int{4}},
		{Name: "m4", Docker: "unix:///srv/docker.sock", Socket: "/srv/docker.sock", Address: address("192.0.2.4"), CPUs: []int{1, 3}},
		{Name: "m5", Docker: "bench-5", Socket: "/srv/docker.sock", Address: address("192.0.2.5")},
	}}
	if !reflect.DeepEqual(v, want) {
		t.Errorf("loaded\n%+v, want\n%+v", v, want)
	}
	for i, scheme := range []string{SSH, SSH, TCP, Unix, Context} {
		if got := v.Machines[i].Scheme(); got != scheme {
			t.Errorf("%s: scheme %q, want %q", v.Machines[i].Docker, got, scheme)
		}
	}
	one, _, err := load(t, one())
	if err != nil || one.Port != 4789 {
		t.Errorf("the port of VXLAN is %d, %v; want that of RFC 7348, section 5", one.Port, err)
	}
}

// TestLoadVLANs: links may be VLANs of interfaces. A list of them may be all that there are.
func TestLoadVLANs(t *testing.T) {
	for text, want := range map[string][]int{"100-102": {100, 101, 102}, "7": {7}, "300,1-2,4094": {1, 2, 300, 4094}, "[9, 8]": {8, 9}} {
		v, _, err := load(t, one(", interface: ib0.5")+"vlans: "+text+"\n")
		if err != nil || !slices.Equal(v.VLANs, want) || v.Machines[0].Interface != "ib0.5" {
			t.Errorf("vlans: %s: %+v, %v; want %v", text, v, err, want)
		}
	}
	v, _, err := load(t, one(", interface: eth0")+"vlans: 1-4094\n")
	if err != nil || len(v.VLANs) != 4094 {
		t.Errorf("%d VLANs, %v; want all 4094", len(v.VLANs), err)
	}
}

func one(more ...string) string {
	return "machines:\n  - {name: m1, docker: unix:///d.sock, address: 192.0.2.1" + strings.Join(more, "") + "}\n"
}

func two(docker, address string) string {
	return one() + "  - {name: m2, docker: " + docker + ", address: " + address + "}\n"
}

// TestBadFiles: what is wrong is told with file, line, key, and what is allowed.
func TestBadFiles(t *testing.T) {
	const keys = "vlans, vxlan, machines"
	const endpoints = "want ssh://user@host, ssh://user@host:port, tcp://host:port, unix:///path of a socket, or the name of a Docker context"
	docker := func(endpoint string) string {
		return "machines:\n  - {name: m1, docker: " + endpoint + ", address: 192.0.2.1}\n"
	}
	address := func(a string) string { return "machines:\n  - {name: m1, docker: c1, address: " + a + "}\n" }
	addressWant := " is not an IPv4 address that other machines reach, such as 192.0.2.1"
	cpusWant := " is not a list of CPUs from 0 to 8191: want one such as 0-3,8"
	const vlansWant = " is not a list of VLANs from 1 to 4094: want one such as 100-199"
	for name, tt := range map[string]struct{ file, want string }{
		"empty":              {"", ": empty: want keys such as machines"},
		"a list":             {"- m1\n", ":1: not a list of machines: want keys such as machines"},
		"no machines":        {"vxlan: {port: 1}\n", ": machines: missing: want at least one {name: m1, docker: ssh://root@192.0.2.1, address: 192.0.2.1}"},
		"empty list":         {"machines: []\n", ":1: machines: not a list of machines: want at least one {name: m1, docker: ssh://root@192.0.2.1, address: 192.0.2.1}"},
		"unknown key":        {one() + "machine: x\n", `:3: machine: unknown key "machine": want one of ` + keys + " (did you mean machines?)"},
		"a lab's key":        {one() + "extends: x.yaml\n", `:3: extends: unknown key "extends": want one of ` + keys},
		"key of a machine":   {one(", adress: 1"), `:2: machines.m1.adress: unknown key "adress": want one of docker, tls, socket, address, cpus, interface (did you mean address?)`},
		"port":               {one() + "vxlan: {port: 65536}\n", ":3: vxlan.port: 65536 is outside 1 to 65535"},
		"no name":            {"machines:\n  - {docker: c1, address: 192.0.2.1}\n", ":2: machines[0].name: missing: want a name such as m1"},
		"name":               {"machines:\n  - {name: M1, docker: c1, address: 192.0.2.1}\n", `:2: machines[0].name: "M1" is not a name: want lower-case letters, digits and hyphens, at most 64`},
		"same name":          {one() + "  - {name: m1, docker: c1, address: 192.0.2.2}\n", `:3: machines[1].name: "m1" is the name of the one on line 2, too`},
		"missing keys":       {"machines:\n  - {name: m1, cpus: 1}\n", ":2: machines.m1.docker: missing: " + endpoints + "\nFILE:2: machines.m1.address: missing: want an IPv4 address such as 192.0.2.1"},
		"same daemon":        {two("unix:///d.sock", "192.0.2.2"), ":3: machines.m2.docker: unix:///d.sock is the Docker daemon of m1, too"},
		"same address":       {two("unix:///e.sock", "192.0.2.1"), ":3: machines.m2.address: 192.0.2.1 is the address of m1, too"},
		"scheme":             {docker("http://h:1"), `:2: machines.m1.docker: unknown scheme "http": want one of ssh, tcp, unix`},
		"option for ssh":     {docker("ssh://-oProxyCommand=x/"), `:2: machines.m1.docker: "ssh://-oProxyCommand=x/" does not fit: ` + endpoints},
		"option as user":     {docker("ssh://-l@h"), `:2: machines.m1.docker: "ssh://-l@h" does not fit: ` + endpoints},
		"words for a shell":  {docker(`"ssh://h/run/$(x)"`), `:2: machines.m1.docker: "ssh://h/run/$(x)" does not fit: ` + endpoints},
		"password":           {docker("ssh://me:secret@h"), `:2: machines.m1.docker: ssh://me:xxxxx@h has a password: ssh wants a key`},
		"no host":            {docker("ssh://root@"), `:2: machines.m1.docker: "ssh://root@" does not fit: ` + endpoints},
		"tcp without port":   {docker("tcp://h"), `:2: machines.m1.docker: "tcp://h" does not fit: ` + endpoints},
		"port of tcp":        {docker("tcp://h:70000"), `:2: machines.m1.docker: "tcp://h:70000" has no port from 1 to 65535`},
		"port zero":          {docker("ssh://h:0"), `:2: machines.m1.docker: "ssh://h:0" has no port from 1 to 65535`},
		"relative socket":    {docker("unix://d.sock"), `:2: machines.m1.docker: "unix://d.sock" does not fit: ` + endpoints},
		"query":              {docker(`"tcp://h:1?x=y"`), `:2: machines.m1.docker: "tcp://h:1?x=y" does not fit: ` + endpoints},
		"context":            {docker("my context"), `:2: machines.m1.docker: "my context" does not fit: ` + endpoints},
		"docker a number":    {docker("1"), ":2: machines.m1.docker: 1 is not text"},
		"TLS elsewhere":      {one(", tls: certs"), ":2: machines.m1.tls: not used when docker is unix:///d.sock: want tcp://host:port"},
		"socket":             {one(", socket: docker.sock"), `:2: machines.m1.socket: "docker.sock" does not fit: want an absolute path such as /var/run/docker.sock`},
		"socket as a volume": {one(`, socket: "/a:/b"`), `:2: machines.m1.socket: "/a:/b" does not fit: want an absolute path such as /var/run/docker.sock`},
		"IPv6":               {address(`"2001:db8::1"`), `:2: machines.m1.address: "2001:db8::1"` + addressWant},
		"a name":             {address("m1.example.com"), `:2: machines.m1.address: "m1.example.com"` + addressWant},
		"loopback":           {address("127.0.0.1"), `:2: machines.m1.address: "127.0.0.1"` + addressWant},
		"multicast":          {address("224.0.0.1"), `:2: machines.m1.address: "224.0.0.1"` + addressWant},
		"broadcast":          {address("255.255.255.255"), `:2: machines.m1.address: "255.255.255.255"` + addressWant},
		"any address":        {address("0.0.0.0"), `:2: machines.m1.address: "0.0.0.0"` + addressWant},
		"half an address":    {address("10.1"), `:2: machines.m1.address: 10.1` + addressWant},
		"CPUs":               {one(", cpus: 3-1"), `:2: machines.m1.cpus: "3-1"` + cpusWant},
		"CPUs of words":      {one(", cpus: all"), `:2: machines.m1.cpus: "all"` + cpusWant},
		"no such CPU":        {one(", cpus: 0-8192"), `:2: machines.m1.cpus: "0-8192"` + cpusWant},
		"CPU below zero":     {one(", cpus: [-1]"), ":2: machines.m1.cpus[0]: -1 is outside 0 to 8191"},
		"a CPU twice":        {one(`, cpus: "0-3,2"`), `:2: machines.m1.cpus: "0-3,2" has CPUs twice`},
		"a listed CPU twice": {one(", cpus: [1, 1]"), ":2: machines.m1.cpus[1]: 1 is there twice"},
		"interface":          {one(", interface: eth0/1"), `:2: machines.m1.interface: "eth0/1" does not fit: want the name of an interface, such as eth0`},
		"interface alone":    {one(", interface: eth0"), ":2: machines.m1.interface: not used without vlans: want its ids beside machines, such as vlans: 100-199, or no interface, and links are VXLAN to the machine's address"},
		"no interface":       {one() + "vlans: 100-199\n", ":2: machines.m1.interface: missing: vlans wants an interface of each machine, such as eth0, whose VLANs carry the links"},
		"VLANs and VXLAN":    {one(", interface: eth0") + "vlans: 7\nvxlan: {port: 8472}\n", ":4: vxlan.port: not used with vlans: want one of the two"},
		"no VLANs":           {one(", interface: eth0") + "vlans: []\n", ":3: vlans: empty: want at least one value"},
		"empty VLANs":        {one(", interface: eth0") + "vlans: \"\"\n", `:3: vlans: ""` + vlansWant},
		"VLAN zero":          {one(", interface: eth0") + "vlans: 0-5\n", `:3: vlans: "0-5"` + vlansWant},
		"reserved VLAN":      {one(", interface: eth0") + "vlans: 4000-4095\n", `:3: vlans: "4000-4095"` + vlansWant},
		"VLANs backwards":    {one(", interface: eth0") + "vlans: 199-100\n", `:3: vlans: "199-100"` + vlansWant},
		"VLANs with dots":    {one(", interface: eth0") + "vlans: 100..199\n", `:3: vlans: "100..199"` + vlansWant},
		"a VLAN twice":       {one(", interface: eth0") + "vlans: 100-102,101\n", `:3: vlans: "100-102,101" has VLANs twice`},
		"a listed VLAN":      {one(", interface: eth0") + "vlans: [4095]\n", ":3: vlans[0]: 4095 is outside 1 to 4094"},
	} {
		t.Run(name, func(t *testing.T) {
			v, path, err := load(t, tt.file)
			if err == nil || !errors.As(err, new(schema.Errors)) && !errors.As(err, new(*schema.Error)) {
				t.Fatalf("loaded %+v, %v", v, err)
			}
			if want := path + strings.ReplaceAll(tt.want, "FILE", path); err.Error() != want {
				t.Errorf("got\n%v\nwant\n%s", err, want)
			}
		})
	}
}

// TestFiles: a file that is not there, or is no inventory by its size, is told.
func TestFiles(t *testing.T) {
	if _, err := Load(filepath.Join(t.TempDir(), "none.yaml")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, _, err := load(t, one()+"# "+strings.Repeat("x", maxFile)); !errors.Is(err, bounded.ErrTooLarge) {
		t.Errorf("a large file: %v", err)
	}
}

// FuzzParse: whatever a file holds, it is either refused with words, or an inventory of
// machines that can be told apart and reached.
func FuzzParse(f *testing.F) {
	f.Add([]byte(one()))
	f.Add([]byte(two("ssh://root@h:22/run/d.sock", "192.0.2.2") + "vxlan: {port: 1}\n"))
	f.Add([]byte("machines:\n  - {name: a, docker: tcp://h:1, tls: x, address: 1.2.3.4, cpus: \"0-3,8\"}\n  - {name: b, docker: ctx, cpus: [1], address: 1.2.3.5, socket: /s}\n"))
	f.Add([]byte("machines: &a [*a]\nvxlan: *a\n? [b]\n: 1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > maxFile {
			return // Load refuses it
		}
		v, err := read(schema.Source{File: "x.yaml", Data: data})
		if err != nil {
			if strings.TrimSpace(err.Error()) == "" {
				t.Fatal("refused without a word")
			}
			return
		}
		names, addresses := make(map[string]bool), make(map[netip.Addr]bool)
		for _, m := range v.Machines {
			if names[m.Name] || addresses[m.Address] || !m.Address.Is4() || m.Docker == "" || !filepath.IsAbs(m.Socket) || m.TLS != "" && !filepath.IsAbs(m.TLS) {
				t.Fatalf("read %+v", v)
			}
			names[m.Name], addresses[m.Address] = true, true
		}
		if len(v.Machines) == 0 || v.Port < 1 || v.Port > 65535 {
			t.Fatalf("read %+v", v)
		}
	})
}
