package collectors

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/results"
	"aqmlab/switch/event"
	"aqmlab/switch/fabric"
	"aqmlab/switch/packet"
	"aqmlab/switch/port"
	"aqmlab/units"
)

// sink is an edge that only takes packets back.
type sink struct{ pool *packet.Pool }

func (s sink) Deliver(_ time.Duration, _ int, k *packet.Packet) { s.pool.Put(k) }

// star is n hosts around a switch of two queues a port.
func star(n int, buffer units.Size, scheme kind.Choice) fabric.Spec {
	spec := fabric.Spec{Switches: []string{"s1"}, Port: port.Spec{
		Queues: 2, Buffer: buffer, Scheduler: kind.Choice{Kind: "dwrr"}, Scheme: scheme,
	}}
	for i := range n {
		name := fmt.Sprintf("h%d", i+1)
		spec.Hosts = append(spec.Hosts, fabric.Host{Name: name, Addr: netip.AddrFrom4([4]byte{10, 0, 0, byte(i)})})
		spec.Links = append(spec.Links, fabric.Link{A: name, B: "s1", Rate: units.Gbps})
	}
	return spec
}

// build makes a network that drops what it delivers.
func build(t testing.TB, spec fabric.Spec) (*event.Loop, *fabric.Network, *packet.Pool) {
	t.Helper()
	loop, pool := &event.Loop{}, &packet.Pool{}
	network, err := fabric.New(loop, spec, fabric.Attachment{Edge: sink{pool}, Release: pool.Put})
	if err != nil {
		t.Fatal(err)
	}
	return loop, network, pool
}

// TestQueues sends a burst of 20 full packets from each of two hosts into a
// port with room for ten, and checks that the samples add up to it.
func TestQueues(t *testing.T) {
	spec := star(3, 15*units.KB, kind.Choice{Kind: "dctcp-red", Params: map[string]any{"threshold": "3KB"}})
	loop, network, pool := build(t, spec)
	c := NewQueues(50 * time.Microsecond)
	c.Attach(loop, network)
	for range 20 {
		for src := range 2 {
			k := pool.Get()
			k.Dst, k.Size, k.DSCP, k.ECN = 2, 1500, 1, packet.ECT0
			network.Send(0, src, k)
		}
	}
	// Another goroutine may look on; the race detector watches.
	stop, looked := make(chan struct{}), make(chan int)
	go func() {
		most := 0
		for {
			for _, s := range c.Samples() {
				most = max(most, int(s.At/(50*time.Microsecond)))
			}
			select {
			case <-stop:
				looked <- most
				return
			default:
			}
		}
	}()
	loop.RunUntil(10 * time.Millisecond)
	close(stop)
	if n := <-looked; n > len(c.Samples()) {
		t.Errorf("%d samples were seen of %d", n, len(c.Samples()))
	}

	var sum results.QueueSample
	for i, s := range c.Samples() {
		if s.Port != "h3" || s.Queue != 1 || s.Switch != "s1" {
			t.Errorf("a sample of an unused queue: %+v", s)
		}
		if want := time.Duration(i+1) * 50 * time.Microsecond; s.At != want {
			t.Errorf("sample %d at %v, want %v", i, s.At, want)
		}
		if s.PeakBytes < s.Bytes {
			t.Errorf("peak below the present length: %+v", s)
		}
		if s.Waited > s.PeakWaited || s.Packets > 0 && s.PeakWaited == 0 {
			t.Errorf("packets waited %v on average and %v at most", s.Waited, s.PeakWaited)
		}
		sum.Waited += s.Waited * time.Duration(s.Packets)
		sum.Packets += s.Packets
		sum.Sent += s.Sent
		sum.Marks += s.Marks
		sum.Drops += s.Drops
		sum.PeakBytes = max(sum.PeakBytes, s.PeakBytes)
	}
	for _, p := range network.Ports() {
		if p.Far != "h3" {
			continue
		}
		n := p.Count(1)
		if sum.Sent != n.SentBytes || sum.Marks != n.Marked || sum.Drops != n.DropsFull || sum.PeakBytes != int64(n.PeakBytes) {
			t.Errorf("samples add up to %+v, the port counted %+v", sum, n)
		}
		if off := n.Waited - sum.Waited; sum.Packets != n.Sent || off < 0 || off >= time.Duration(n.Sent) {
			t.Errorf("%d packets waited %v in the samples, %d waited %v", sum.Packets, sum.Waited, n.Sent, n.Waited)
		}
		if n.DropsFull == 0 || n.Marked == 0 || n.Sent+n.DropsFull != 40 {
			t.Errorf("the burst did not fill the port: %+v", n)
		}
	}
}
