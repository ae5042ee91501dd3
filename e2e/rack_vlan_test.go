//go:build linux

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"aqmlab/labs/inventory"
)

// noVLANs is why the kernel of the rack's machines makes no VLANs; empty where it does.
func (r *rack) noVLANs() string {
	m := r.machines[0]
	add := []string{"ip", "-n", m.namespace, "link", "add", "link", "eth0", "name", "probe", "type", "vlan", "id", "5"}
	if out, err := exec.Command(add[0], add[1:]...).CombinedOutput(); err != nil {
		return string(out)
	}
	r.ip("-n", m.namespace, "link", "del", "probe")
	return ""
}

// byVLANs is an inventory of the machines whose links are VLANs of those ids.
func (r *rack) byVLANs(name, ids, device string) string {
	path := r.path(name)
	r.write(path, func(m inventory.Machine) inventory.Machine {
		m.Interface = device
		return m
	})
	list, err := os.ReadFile(path)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, append(list, "vlans: "+ids+"\n"...), 0o600); err != nil {
		r.t.Fatal(err)
	}
	return path
}

// vlanOf is the id of the VLAN that a host's link is, or empty.
func (m *rackMachine) vlanOf(t *testing.T, host string) string {
	t.Helper()
	out, err := m.inContainer(t, "-"+host)("ip", "-d", "link", "show", "eth0").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	_, after, _ := strings.Cut(string(out), "vlan protocol 802.1Q id ")
	id, _, _ := strings.Cut(after, " ")
	return id
}

// TestRackVLAN: links between machines may be VLANs. Packets may then be as large as those
// of the machines' interfaces. What keeps a lab from having them is told, and they are gone
// with the lab, however it ends.
func TestRackVLAN(t *testing.T) {
	t.Parallel()
	r := newRack(t, 3)
	list := r.byVLANs("vlans.yaml", "100-119", "eth0")
	t.Run("refused", func(t *testing.T) { refuseVLANs(t, r) })
	if why := r.noVLANs(); why != "" {
		t.Run("missing", func(t *testing.T) { missVLANs(t, r, list) })
		t.Skipf("this kernel has no VLANs (8021q): %s", why)
	}
	t.Run("check", func(t *testing.T) { checkVLANs(t, r, list) })
	t.Run("up", func(t *testing.T) { upByVLANs(t, r, list) })
	t.Run("run", func(t *testing.T) { runByVLANs(t, r, list) })
}

func checkVLANs(t *testing.T, r *rack, list string) {
	o := aqmlab(t, plainVar, 0, "machines", "check", "--machines", list, "--for", "100ms", "--json")
	var got checked
	if err := json.Unmarshal([]byte(o.out), &got); err != nil {
		t.Fatalf("%v\n%s", err, o.out)
	}
	if len(got.Pairs) != 3 || !got.Ready {
		t.Fatalf("ready %t\n%s", got.Ready, o.out)
	}
	for _, p := range got.Pairs {
		if p.MTU != rackMTU || p.HostMTU != rackMTU {
			t.Errorf("pair %+v, want an MTU of %d", p, rackMTU)
		}
	}
	r.nothingLeft(r.machines...)
}

// missVLANs has a lab and a check fail for what the kernel lacks.
func missVLANs(t *testing.T, r *rack, list string) {
	o := finish(t, command(t, plainVar, "lab", "up", "quickstart", "--machines", list), 1)
	if !containsAll(o.err, "machine m", "add a VLAN of eth0, id 10", "CONFIG_VLAN_8021Q") {
		t.Errorf("lab up said %q", o.err)
	}
	o = aqmlab(t, plainVar, 1, "machines", "check", "--machines", list, "--for", "50ms", "--json")
	var got checked
	if err := json.Unmarshal([]byte(o.out), &got); err != nil {
		t.Fatalf("%v\n%s", err, o.out)
	}
	for _, m := range got.Machines {
		if m.Diagnosis.Ready || !strings.Contains(o.out, "modprobe 8021q") {
			t.Errorf("%s is ready: %t\n%s", m.Name, m.Diagnosis.Ready, o.out)
		}
	}
	r.nothingLeft(r.machines...)
}

// refuseVLANs has labs fail for what they lack.
func refuseVLANs(t *testing.T, r *rack) {
	for _, tt := range []struct {
		ids, device string
		set         []string
		want        []string
	}{
		{"100-101", "eth0", nil, []string{"vlans: ", "links of the lab are between machines", "there are 2 ids"}},
		{"100-119", "eth7", nil, []string{"machine m", "no interface eth7", "want one of eth0", "key interface"}},
		{"100-119", "eth0", []string{"--set", fmt.Sprint("host.mtu=", rackMTU+1)}, []string{"machine m", fmt.Sprint("host.mtu of at most ", rackMTU)}},
	} {
		args := append([]string{"lab", "up", "quickstart", "--machines", r.byVLANs("bad.yaml", tt.ids, tt.device)}, tt.set...)
		if o := finish(t, command(t, plainVar, args...), 1); !containsAll(o.err, tt.want...) {
			t.Errorf("%v: %q, want %q", args, o.err, tt.want)
		}
	}
	r.nothingLeft(r.machines...)
}

// upByVLANs leaves a lab up, beside which another one wants ids of its own.
func upByVLANs(t *testing.T, r *rack, list string) {
	up := []string{"lab", "up", "quickstart", "--machines", list, "--set", fmt.Sprint("host.mtu=", rackMTU), "--set", "placement=s1=m1,h1=m1,h8=m2,h9=m3"}
	aqmlab(t, plainVar, 0, up...)
	if id := r.machines[0].vlanOf(t, "h1"); id != "" {
		t.Errorf("h1, which is beside its switch, has VLAN %s", id)
	}
	last := r.machines[2].vlanOf(t, "h9")
	if !strings.HasPrefix(last, "10") {
		t.Errorf("h9 has VLAN %q, want one from 100 on", last)
	}
	if o := finish(t, command(t, plainVar, up...), 1); !containsAll(o.err, "machine m", "eth0 has one of id 10", "want other ids in vlans") {
		t.Errorf("a second lab with the same ids: %q", o.err)
	}
	other := aqmlab(t, plainVar, 0, append(up, "--set", "vlans=200-219")...)
	if !strings.Contains(other.out, "9 hosts") {
		t.Errorf("lab up printed %q", other.out)
	}
	for _, id := range labsIn(stateOf(t)) {
		aqmlab(t, plainVar, 0, "lab", "down", id)
	}
	r.nothingLeft(r.machines...)
}

// runByVLANs kills a run, whose links the next command removes, so that another may have
// their ids.
func runByVLANs(t *testing.T, r *rack, list string) {
	away := r.machines[2]
	c := command(t, plainVar, "run", labFile(t, small), "--machines", list, "--out", t.TempDir())
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	waitUpTo(t, time.Minute, func() bool { return strings.Contains(away.output(t, "ps", "--format", "{{.Names}}"), "-h") })
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	args := []string{"--schemes", "droptail", "--seeds", "1", "--flows", "40", "--dilation", "6", "--set", fmt.Sprint("host.mtu=", rackMTU)}
	run, _ := runLab(t, plainVar, "quickstart", append(args, "--machines", list)...)
	for _, f := range points(t, run)["droptail"].Flows {
		if !f.Completed() {
			t.Errorf("flow %+v did not complete", f)
		}
	}
	r.nothingLeft(r.machines...)
}
