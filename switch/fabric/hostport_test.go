package fabric

import (
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// TestHostPort: twenty packets that a host sends at once meet its own port. The
// first goes on the wire, ten fit the buffer of 15 KB, and of these the ones that
// find more than 3 KB before them are marked, which are all but three. The port
// of the switch, which they reach one at a time, has no queue.
func TestHostPort(t *testing.T) {
	spec := star(3, units.Gbps, 10*us)
	spec.HostPorts = true
	spec.Port.Buffer = 15 * units.KB
	spec.Port.Scheme = kind.Choice{Kind: "dctcp-red", Params: map[string]any{"threshold": "3KB"}}
	r := newRig(t, spec)
	for range 20 {
		k := r.pool.Get()
		k.Src, k.Dst, k.Size, k.DSCP, k.ECN = 0, 2, 1500, 0, packet.ECT0
		r.Send(0, 0, k)
	}
	if got, want := r.Backlog(0, 0), 12304*time.Nanosecond+10*12*us; got != want {
		t.Errorf("a backlog of %v, want %v: a frame on the wire and ten packets", got, want)
	}
	r.RunUntil(time.Second)
	ports := r.Ports()
	if len(ports) != 6 || ports[3].Switch != "h1" || ports[3].Far != "s1" {
		t.Fatalf("%d ports, that of the first host is %+v", len(ports), ports[3])
	}
	host, sw := ports[3].Count(0), ports[2].Count(0)
	if host.Sent != 11 || host.DropsFull != 9 || host.Marked != 7 {
		t.Errorf("the host's port: %+v, want 11 sent, 9 dropped, 7 marked", host)
	}
	if sw.Sent != 11 || sw.Marked != 0 || sw.PeakBytes != 1500 {
		t.Errorf("the switch's port: %+v, want 11 sent one by one", sw)
	}
	if len(r.log) != 11 || r.pool.Taken() != 0 {
		t.Errorf("%d delivered, %d packets held", len(r.log), r.pool.Taken())
	}
}

// TestHostPortSendsAsAnUplinkDoes: with room for all, a port changes nothing
// about when packets arrive: host delays, waits for the wire and flow control
// included.
func TestHostPortSendsAsAnUplinkDoes(t *testing.T) {
	var logs [2][]delivery
	for i := range logs {
		spec := star(3, units.Gbps, 10*us)
		spec.Port.Buffer = 100 * units.KB
		spec.Hosts[0].Delays = []time.Duration{7 * us}
		spec.Pause = Pause{XOff: 10 * units.KB, XOn: 5 * units.KB}
		spec.HostPorts = i == 1
		r := newRig(t, spec)
		for range 20 { // both to the third
			r.send(0, 0, 2, 1500)
			r.send(0, 1, 2, 700)
		}
		r.RunUntil(time.Second)
		if c := r.Ports()[2].Count(0); len(r.log) != 40 || c.DropsFull != 0 || r.Ports()[0].Pauses().Stops == 0 {
			t.Fatalf("%d delivered, %+v, %+v", len(r.log), c, r.Ports()[0].Pauses())
		}
		logs[i] = r.log
	}
	for i := range logs[0] {
		if logs[0][i] != logs[1][i] {
			t.Fatalf("delivery %d: %+v by a port, %+v without", i, logs[1][i], logs[0][i])
		}
	}
}
