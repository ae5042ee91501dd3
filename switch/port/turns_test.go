package port

import (
	"testing"
	"time"

	"aqmlab/switch/aqm"
	"aqmlab/switch/packet"
)

// TestTurnEndsWithItsLastPacket: the round of a queue that empties lasts until its last packet
// has left (MQ-ECN, section 3.3): 1538 bytes on the wire at 1 Gbps take 12.304 us.
func TestTurnEndsWithItsLastPacket(t *testing.T) {
	p, pool := build(t, testbed("mq-ecn", map[string]any{"threshold": "32KB"}))
	var told []time.Duration
	p.Estimates(func(now time.Duration, _ aqm.Estimate) { told = append(told, now) })
	p.Enqueue(time.Microsecond, get(pool, 1, 1500, packet.ECT0))
	if k, _ := p.Dequeue(2 * time.Microsecond); k == nil {
		t.Fatal("nothing leaves")
	}
	if len(told) != 1 || told[0] != 14304 {
		t.Errorf("a round ended at %v, want 14.304us", told)
	}
}

// TestMarksAreThisPorts: a packet that another port has marked is not marked by this one,
// which lets it go as it came.
func TestMarksAreThisPorts(t *testing.T) {
	p, pool := build(t, testbed("tcn", map[string]any{"threshold": "1ms"}))
	var fates []Fate
	p.Watch(func(_ time.Duration, _ int, _ *packet.Packet, f Fate) { fates = append(fates, f) })
	k := get(pool, 0, 1500, packet.CE)
	k.Marked = true
	p.Enqueue(0, k)
	p.Dequeue(0)
	if len(fates) != 1 || fates[0] != Sent {
		t.Errorf("%v, want sent", fates)
	}
}
