//go:build linux

package wire

import (
	"testing"
	"time"

	"aqmlab/switch/port"
	"aqmlab/units"
)

// TestClock: a wall clock is read each time it is asked, a virtual one stands
// still between two readings. Both tell when a kernel's stamp was taken.
func TestClock(t *testing.T) {
	for _, virtual := range []bool{false, true} {
		c := clock{start: time.Now(), dilation: 2, virtual: virtual}
		r := c.read()
		if r.lab < 0 || r.lab > time.Minute {
			t.Errorf("virtual %t: lab time %v right after its start", virtual, r.lab)
		}
		for c.now() == r.lab && !virtual { // the wall clock goes on
		}
		if virtual && c.now() != r.lab {
			t.Errorf("virtual time passed from %v to %v without a reading", r.lab, c.now())
		}
		later := c.start.Add(20 * time.Millisecond).UnixNano()
		if at := c.stamped(r, later); (at - 10*time.Millisecond).Abs() > time.Millisecond {
			t.Errorf("virtual %t: a stamp 20 ms after the start is at lab time %v of dilation 2", virtual, at)
		}
		if next := c.read(); next.lab <= r.lab {
			t.Errorf("virtual %t: reading %v after %v", virtual, next.lab, r.lab)
		}
	}
}

// TestVirtualNeverSpins: to spin in virtual time is to wait for ever.
func TestVirtualNeverSpins(t *testing.T) {
	if s, err := Open(Config{MTU: 1500, CPU: -1, Virtual: true, Spin: DefaultSpin}, port.Kinds{}); err == nil {
		t.Errorf("a switch that does: %+v, %v", s, s.Close())
	}
}

// TestVirtualSwitch: the same loop carries traffic with one reading a turn. On
// this machine's clock that only makes it late.
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
