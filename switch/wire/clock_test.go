//go:build linux

package wire

import (
	"testing"
	"time"

	"aqmlab/switch/port"
	"aqmlab/units"
)

// TestClock: both ways to read it tell the lab time, and when a kernel's stamp
// was taken.
func TestClock(t *testing.T) {
	c := clock{start: time.Now(), dilation: 2}
	for name, read := range map[string]func() reading{"wall": c.read, "virtual": c.readVirtual} {
		r := read()
		if r.lab < 0 || r.lab > time.Minute {
			t.Errorf("%s: lab time %v right after its start", name, r.lab)
		}
		later := c.start.Add(20 * time.Millisecond).UnixNano()
		if at := c.stamped(r, later); (at - 10*time.Millisecond).Abs() > time.Millisecond {
			t.Errorf("%s: a stamp 20 ms after the start is at lab time %v of dilation 2", name, at)
		}
		if next := read(); next.lab <= r.lab {
			t.Errorf("%s: reading %v after %v", name, next.lab, r.lab)
		}
	}
}

// TestVirtualNeverSpins: to spin in virtual time is to wait for ever.
func TestVirtualNeverSpins(t *testing.T) {
	if s, err := Open(Config{MTU: 1500, CPU: -1, Virtual: true, Spin: DefaultSpin}, port.Kinds{}); err == nil {
		t.Errorf("a switch that does: %+v, %v", s, s.Close())
	}
}

// TestVirtualHasNoTrunks: what comes from switches that others run has no
// lookahead.
func TestVirtualHasNoTrunks(t *testing.T) {
	if s, err := Open(Config{MTU: 1500, CPU: -1, Virtual: true, Trunks: []PortConfig{{Interface: "t1"}}}, port.Kinds{}); err == nil {
		t.Errorf("a switch that does: %+v, %v", s, s.Close())
	}
}

// TestVirtualSwitch: the loop that runs ahead carries traffic. Here, where the
// interfaces keep no times, hosts have their frames too early.
func TestVirtualSwitch(t *testing.T) {
	b := newBench(t, 2)
	b.virtual = true
	stop := b.start(t, b.spec(100*units.Mbps, queues(1, "fifo", "droptail")), 1)
	l := b.listen(t, 0)
	transfer(t, l, b.dial(t, 1, 0, 0), 1<<20)
	if r := stop(); r.Delivered == 0 || r.EdgeDrops > 0 {
		t.Errorf("%d frames delivered, %d lost", r.Delivered, r.EdgeDrops)
	}
}
