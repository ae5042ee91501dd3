//go:build linux

package e2e

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"aqmlab/results/store"
	"aqmlab/switch/packet"
)

// coexist is six servers that speak six transports to one client, through one queue.
const coexist = `
name: coexist
topology: {hosts: 7, rate: 100Mbps}
rtt: 2ms
host: {transport: dctcp, rto_min: 20ms}
switch: {buffer: {per_port: 300KB}}
schemes: [{name: dctcp-red, aqm: dctcp-red, threshold: 60KB}]
workload: {arrival: {kind: static, count: [6]}, sizes: {kind: fixed, size: 600KB}, connections: 1}
transports:
  - {name: bulk, transport: cubic, hosts: [h3]}
  - {name: star, transport: ecn-star, hosts: [h4], dscp: 5}
  - {name: scalable, transport: dctcp, hosts: [h5], ecn: ect1}
  - {name: blind, transport: dctcp, hosts: [h6], ecn: none}
  - {name: deaf, transport: cubic, hosts: [h7], ecn: ect0}
capture: {format: pcapng, ports: [s1:h1]}
dilation: 4
`

// TestCoexist: in every runtime each connection has negotiated what its transport wants,
// and its packets have the codepoint and the DSCP that the lab says. A run on real hosts
// would fail if one had another congestion control, or had not agreed on ECN.
func TestCoexist(t *testing.T) {
	lab := labFile(t, coexist)
	t.Run("sim", func(t *testing.T) {
		run, _ := runLab(t, plainVar, lab, "--runtime", "sim")
		coexists(t, run)
	})
	t.Run("netns", func(t *testing.T) {
		needRoot(t)
		run, _ := runLab(t, plainVar, lab, "--runtime", "netns")
		nothingLeft(t)
		coexists(t, run)
	})
	t.Run("docker", func(t *testing.T) {
		needDocker(t)
		run, _ := runLab(t, plainVar, lab, "--runtime", "docker")
		noContainers(t)
		coexists(t, run)
	})
	t.Run("uml", func(t *testing.T) {
		run, _ := needGuest(t).run(t, lab)
		coexists(t, run)
	})
}

// coexists looks at the flows and the capture of a run of that lab.
func coexists(t *testing.T, run *store.Run) {
	t.Helper()
	p := points(t, run)["dctcp-red"]
	if m := run.Manifest; len(p.Flows) != 6 || len(m.Transports) != 5 || m.Transports[0].Transport.Name != "cubic" || m.Transports[4].Transport.Provider == "" {
		t.Fatalf("manifest %+v, %d flows", m.Transports, len(p.Flows))
	}
	for _, f := range p.Flows {
		if !f.Completed() || f.Transport != f.Server-1 {
			t.Errorf("flow of transport %d: %+v", f.Server-1, f)
		}
	}
	sent := captured(t, filepath.Join(run.Dir, "dctcp-red-load0.6-seed1", "capture.pcapng"))
	for host, may := range map[byte][]packet.ECN{
		2: {packet.ECT0, packet.CE}, 3: {packet.NotECT}, 4: {packet.ECT0, packet.CE, packet.NotECT},
		5: {packet.ECT1, packet.CE}, 6: {packet.NotECT}, 7: {packet.ECT0, packet.CE},
	} {
		all, left := sent[host], 0
		for _, n := range all.codepoints {
			left += n
		}
		for _, e := range may {
			left -= all.codepoints[e]
		}
		if left != 0 || all.codepoints[may[0]] == 0 {
			t.Errorf("h%d sent payload with codepoints %v, want all of %v", host, all.codepoints, may)
		}
		dscp := uint8(0)
		if host == 4 {
			dscp = 5
		}
		if len(all.dscps) != 1 || all.dscps[dscp] == 0 {
			t.Errorf("h%d sent payload with DSCPs %v, want %d", host, all.dscps, dscp)
		}
	}
}

// payloads counts packets with payload by codepoint and DSCP.
type payloads struct {
	codepoints map[packet.ECN]int
	dscps      map[uint8]int
}

// captured counts the packets with payload in a capture, by the last byte of the address
// that they come from. What is captured is cut behind its headers, and is a whole packet to
// package packet once its end is made up.
func captured(t *testing.T, file string) map[byte]payloads {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const enhancedPacket, header = 6, 28
	all := make(map[byte]payloads)
	for len(data) >= 12 {
		kind, length := binary.LittleEndian.Uint32(data), binary.LittleEndian.Uint32(data[4:])
		block := data[:length]
		data = data[length:]
		if kind != enhancedPacket {
			continue
		}
		held, whole := binary.LittleEndian.Uint32(block[20:]), binary.LittleEndian.Uint32(block[24:])
		k := packet.Packet{Frame: make([]byte, whole)}
		copy(k.Frame, block[header:header+held])
		addrs, err := k.Parse()
		if err != nil {
			t.Fatal(err)
		}
		if !k.HasPayload() {
			continue
		}
		from := addrs.Src.As4()[3]
		if _, ok := all[from]; !ok {
			all[from] = payloads{map[packet.ECN]int{}, map[uint8]int{}}
		}
		all[from].codepoints[k.ECN]++
		all[from].dscps[k.DSCP]++
	}
	return all
}

// overload is a sender of datagrams that does not respond, beside a flow of DCTCP. Both have
// half of a link, and the datagrams need four fifths. They are ECT(1), and so are marked.
const overload = `
name: overload
topology: {hosts: 3, rate: 50Mbps}
rtt: 4ms
host: {transport: dctcp, rto_min: 20ms}
switch: {buffer: {sharing: static, per_queue: 60KB}, scheduler: {kind: dwrr, queues: 2}, classifier: {kind: map, queues: [0, 0, 0, 0, 0, 1]}}
schemes: [{name: dctcp-red, aqm: dctcp-red, threshold: 20KB}]
workload: {arrival: {kind: static, count: [1, 1], servers: [2, 3], stop: [600ms, 500ms], rate: [0bps, 40Mbps]}, connections: 0}
transports: [{name: cbr, transport: udp, hosts: [h3], ecn: ect1, dscp: 5}]
dilation: 2
`

// TestDatagrams: in every runtime a server of datagrams sends at its rate, whatever is lost or
// marked, which is 2.5 MB of payload in half a second. In virtual time DWRR leaves it about half
// of the link, that is 1.5 MB.
func TestDatagrams(t *testing.T) {
	lab := labFile(t, overload)
	t.Run("sim", func(t *testing.T) {
		run, _ := runLab(t, plainVar, lab, "--runtime", "sim")
		overloads(t, run, 1_300_000, 1_900_000)
	})
	t.Run("netns", func(t *testing.T) {
		needRoot(t)
		run, _ := runLab(t, plainVar, lab, "--runtime", "netns")
		nothingLeft(t)
		overloads(t, run, 100_000, 2_510_000)
	})
	t.Run("docker", func(t *testing.T) {
		needDocker(t)
		run, _ := runLab(t, plainVar, lab, "--runtime", "docker")
		noContainers(t)
		overloads(t, run, 100_000, 2_510_000)
	})
	t.Run("uml", func(t *testing.T) {
		run, _ := needGuest(t).run(t, lab)
		overloads(t, run, 1_300_000, 1_900_000)
	})
}

// overloads wants that many bytes of the datagrams to arrive.
func overloads(t *testing.T, run *store.Run, least, most int64) {
	t.Helper()
	p := points(t, run)["dctcp-red"]
	if len(p.Flows) != 2 || !p.Flows[0].Completed() || !p.Flows[1].Completed() || p.Flows[1].Transport != 1 {
		t.Fatalf("%+v", p.Flows)
	}
	if f := p.Flows[1]; f.Received < least || f.Received > most || f.Retransmits > 0 {
		t.Errorf("datagrams: %+v", f)
	}
	var marked int64
	for _, c := range p.Ports {
		if c.Port == "h1" && c.Queue == 1 {
			marked += c.Marked
		}
	}
	if marked == 0 {
		t.Error("no datagram was marked")
	}
}
