package aqm_test

import (
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/packet"
	"aqmlab/switch/port"
	"aqmlab/units"
)

// TestMQECNOnDWRR: on a port with deficit round robin and backlogged queues of
// equal quanta, n active queues have a threshold of K/n each, and a lone one
// has K. The comparison is strict: no mark at the threshold, a mark above it.
func TestMQECNOnDWRR(t *testing.T) {
	for _, active := range []int{1, 2, 4} {
		// Each arrival finds ten full packets in its queue, which is K/n.
		at := units.Size(15000 * active)
		if marks := mqecnMarks(t, active, at); marks != 0 {
			t.Errorf("%d queues at K/%d: %d marks of 200", active, active, marks)
		}
		if marks := mqecnMarks(t, active, at-units.Size(active)); marks != 200 {
			t.Errorf("%d queues a byte above K/%d: %d marks of 200", active, active, marks)
		}
	}
}

// mqecnMarks keeps ten packets in each active queue, and counts the marks among
// 200 packets once the round time has settled.
func mqecnMarks(t *testing.T, active int, k units.Size) (marks int) {
	p, err := port.New(port.Spec{
		Rate:      units.Gbps,
		Queues:    4,
		Buffer:    units.MB,
		Scheduler: kind.Choice{Kind: "dwrr"},
		Scheme:    kind.Choice{Kind: "mq-ecn", Params: map[string]any{"threshold": k.String()}},
	}, port.Kinds{}, func(*packet.Packet) { t.Error("dropped") })
	if err != nil {
		t.Fatal(err)
	}
	now := time.Duration(0)
	arrive := func(queue uint8) *packet.Packet {
		k := &packet.Packet{Size: 1500, DSCP: queue, ECN: packet.ECT0}
		p.Enqueue(now, k)
		return k
	}
	for range 11 {
		for q := range active {
			arrive(uint8(q))
		}
	}
	for i := range 1000 {
		sent, _ := p.Dequeue(now)
		if sent == nil {
			t.Fatal("nothing to send")
		}
		if arrived := arrive(sent.DSCP); i >= 800 && arrived.ECN == packet.CE {
			marks++
		}
		now += units.Gbps.Time(1500 + port.FrameOverhead)
	}
	return marks
}
