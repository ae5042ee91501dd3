package port

import (
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// TestDualPI2SeparatesDelays: while packets of a transport that is not ECN-capable fill
// their queue, those of an ECN-capable one wait for a few packets only, and are marked
// because of the other queue (RFC 9332, sections 1.2 and 2.4). Both are of one class.
func TestDualPI2SeparatesDelays(t *testing.T) {
	spec := testbed("dualpi2", nil)
	spec.Queues, spec.Scheduler, spec.Buffer = 1, kind.Choice{Kind: "dualq"}, 10*units.MB
	p, pool := build(t, spec)
	var low, classic time.Duration // longest waits
	marks := 0
	for i := range 4000 {
		now := time.Duration(i) * 12304 // of a full packet
		p.Enqueue(now, get(pool, 0, 1500, packet.NotECT))
		if i%4 == 0 {
			p.Enqueue(now, get(pool, 0, 1500, packet.ECT0))
		}
		k, _ := p.Dequeue(now)
		waited := now - k.Enqueued
		if k.Marked {
			marks++
		}
		if k.ECN.Capable() {
			low = max(low, waited)
		} else {
			classic = max(classic, waited)
		}
		pool.Put(k)
	}
	if low > 30*time.Microsecond || classic < 10*low {
		t.Errorf("waits of up to %v and %v", low, classic)
	}
	if marks == 0 || p.Count(0).DropsScheme == 0 {
		t.Errorf("%d marks, %d drops", marks, p.Count(0).DropsScheme)
	}
}
