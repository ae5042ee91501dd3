//go:build linux

package e2e

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// pairLab is two hosts on two machines, whose links are faster than any machine here.
const pairLab = `
name: pair
topology: {kind: star, hosts: 2, rate: 100Gbps}
host: {transport: cubic}
switch: {buffer: {per_port: 4MB}}
schemes: [{name: droptail, aqm: droptail}]
placement: {h1: m1, s1: m1, h2: m2}
dilation: 1
`

// BenchmarkRack measures what one TCP flow gets between two machines: through our switch,
// one of whose links is VXLAN, and through VXLAN of the same MTU alone, with what kernels
// do to carry packets in batches (offloads) and without, as our links are. Each is measured
// in turn by iperf3. Three namespaces of one machine stand for the machines, so the figures
// are the CPUs', not those of a network.
func BenchmarkRack(b *testing.B) {
	if _, err := exec.LookPath("iperf3"); err != nil {
		b.Skip("no iperf3 (Debian: apt-get install iperf3)")
	}
	r := newRack(b, 2)
	aqmlab(b, plainVar, 0, "lab", "up", labFile(b, pairLab), "--machines", r.inventory)
	m1, m2 := r.machines[0], r.machines[1]
	h1, h2 := m1.inContainer(b, "-h1"), m2.inContainer(b, "-h2")
	alone1, alone2 := r.tunnel(m1, m2), r.tunnel(m2, m1)
	var ours, batched, single []float64
	for b.Loop() {
		ours = append(ours, goodput(b, h1, h2))
		for _, way := range []struct {
			offloads string
			got      *[]float64
		}{{"on", &batched}, {"off", &single}} {
			for _, at := range []onMachine{alone1, alone2} {
				r.run("nsenter", at("ethtool", "-K", "inner", "tso", way.offloads, "gso", way.offloads, "gro", way.offloads).Args[1:]...)
			}
			*way.got = append(*way.got, goodput(b, alone1, alone2))
		}
	}
	aqmlab(b, plainVar, 0, "lab", "down")
	r.nothingLeft(r.machines...)
	for _, f := range []struct {
		what   string
		rounds []float64
	}{{"switch", ours}, {"VXLAN-offloads", batched}, {"VXLAN", single}} {
		slices.Sort(f.rounds)
		b.Logf("%s: median %.2f Gbps (%.2f to %.2f) of %d rounds", f.what, f.rounds[len(f.rounds)/2], f.rounds[0], f.rounds[len(f.rounds)-1], len(f.rounds))
		b.ReportMetric(f.rounds[len(f.rounds)/2], f.what+"-Gbps")
	}
}

// onMachine makes a command that runs in a network of a machine.
type onMachine func(args ...string) *exec.Cmd

// inContainer is the network of the machine's container whose name ends so.
func (m *rackMachine) inContainer(t testing.TB, suffix string) onMachine {
	t.Helper()
	name := m.output(t, "ps", "--format", "{{.Names}}", "--filter", "name="+suffix+"$")
	pid := m.output(t, "inspect", "--format", "{{.State.Pid}}", name)
	return func(args ...string) *exec.Cmd {
		return m.on(append([]string{"nsenter", "--target", pid, "--net", "--"}, args...)...)
	}
}

// tunnel makes VXLAN to another machine, in a network of its own, and returns that.
func (r *rack) tunnel(m, to *rackMachine) onMachine {
	r.t.Helper()
	namespace := m.namespace + "-alone"
	r.ip("netns", "add", namespace)
	r.t.Cleanup(func() { r.ip("netns", "del", namespace) })
	r.ip("-n", m.namespace, "link", "add", "inner", "mtu", "1500", "netns", namespace, "type", "vxlan", "id", "16000000",
		"local", m.Address.String(), "remote", to.Address.String(), "dev", "eth0", "dstport", "4789")
	last := m.Address.As4()[3]
	address := netip.AddrFrom4([4]byte{192, 0, 2, last})
	r.ip("-n", namespace, "address", "add", netip.PrefixFrom(address, 24).String(), "dev", "inner")
	r.ip("-n", namespace, "link", "set", "inner", "up")
	return func(args ...string) *exec.Cmd {
		return exec.Command("nsenter", append([]string{"--net=/run/netns/" + namespace, "--"}, args...)...)
	}
}

// goodput is what one flow gets between two networks in Gbps, over three seconds of which
// the first does not count.
func goodput(t testing.TB, from, to onMachine) float64 {
	t.Helper()
	address, err := to("ip", "-4", "-brief", "address", "show", "scope", "global").Output()
	if err != nil {
		t.Fatal(err)
	}
	at, _, _ := strings.Cut(strings.Fields(string(address))[2], "/")
	server := to("iperf3", "--server", "--one-off", "--bind", at)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	waitUpTo(t, 10*time.Second, func() bool {
		out, err := to("ss", "-Hltn", "sport", "=", ":5201").Output()
		return err == nil && len(out) > 0
	})
	out, err := from("iperf3", "--client", at, "--time", "3", "--omit", "1", "--json").Output()
	if err != nil {
		t.Fatalf("iperf3: %v\n%s", err, out)
	}
	if err := server.Wait(); err != nil {
		t.Fatal(fmt.Errorf("iperf3's server: %w", err))
	}
	var told struct {
		End struct {
			Received struct {
				Bits float64 `json:"bits_per_second"`
			} `json:"sum_received"`
		} `json:"end"`
	}
	if err := json.Unmarshal(out, &told); err != nil {
		t.Fatal(err)
	}
	return told.End.Received.Bits / 1e9
}
