package aqm_test

import (
	"fmt"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/packet"
	"aqmlab/switch/port"
	"aqmlab/units"
)

// mqecnPort is a port with MQ-ECN whose active queues never empty: each holds a
// full packet more than its share of the threshold.
type mqecnPort struct {
	scheduler kind.Choice
	weights   []int // of all queues
	active    []int // queues
}

// mqecnPorts are one, some and all queues of the schedulers for which MQ-ECN is
// defined: those with rounds, its approximation without, and its hybrid with a
// strict queue in front.
func mqecnPorts() (all []mqecnPort) {
	equal, unequal, odd := []int{1, 1, 1, 1}, []int{3, 2, 1, 1}, []int{1, 17, 30, 1}
	for _, weights := range [][]int{equal, unequal, odd} {
		for _, active := range [][]int{{0}, {2}, {1, 2}, {0, 1, 2, 3}} {
			for _, name := range []string{"dwrr", "wrr", "wfq", "pifo"} {
				all = append(all, mqecnPort{kind.Choice{Kind: name, Params: map[string]any{"weights": weights}}, weights, active})
			}
			for _, name := range []string{"dwrr", "wrr", "wfq"} {
				inner := map[string]any{"kind": name, "weights": weights[1:]}
				if active[0] > 0 {
					all = append(all, mqecnPort{kind.Choice{Kind: "sp", Params: map[string]any{"inner": inner}}, weights, active})
				}
			}
		}
	}
	return all
}

// TestMQECNShares: on a port with backlogged queues the threshold of a lone queue
// is K, and with several that of each is its weight's share of K, K when only
// they count (MQ-ECN, section 3.2). The comparison is strict: no mark at the
// threshold, a mark a byte above it.
func TestMQECNShares(t *testing.T) {
	for _, m := range mqecnPorts() {
		t.Run(fmt.Sprint(m), func(t *testing.T) {
			sum := 0
			for _, q := range m.active {
				sum += m.weights[q]
			}
			at := units.Size(15000 * sum)
			if marks := m.marks(t, at); marks != 0 {
				t.Errorf("at the share of K: %d marks of 200", marks)
			}
			if marks := m.marks(t, at-units.Size(sum)); marks != 200 {
				t.Errorf("a byte above it: %d marks of 200", marks)
			}
		})
	}
}

// marks keeps ten packets for each unit of weight in each active queue, and
// counts the marks among 200 packets once the round time has settled.
func (m mqecnPort) marks(t *testing.T, k units.Size) (marks int) {
	p, err := port.New(port.Spec{
		Rate:      units.Gbps,
		Queues:    len(m.weights),
		Buffer:    10 * units.MB,
		Scheduler: m.scheduler,
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
	for _, q := range m.active {
		for range 10*m.weights[q] + 1 {
			arrive(uint8(q))
		}
	}
	const settled = 8000
	for i := range settled + 200 {
		sent, _ := p.Dequeue(now)
		if sent == nil {
			t.Fatal("nothing to send")
		}
		if arrived := arrive(sent.DSCP); i >= settled && arrived.ECN == packet.CE {
			marks++
		}
		now += units.Gbps.Time(1500 + packet.FrameOverhead)
	}
	return marks
}

// TestMQECNStrictQueue: a strict queue has K whatever the others hold (MQ-ECN,
// section 3.4).
func TestMQECNStrictQueue(t *testing.T) {
	for _, inner := range []string{"dwrr", "wrr", "wfq"} {
		p, err := port.New(port.Spec{
			Rate: units.Gbps, Queues: 3, Buffer: 10 * units.MB,
			Scheduler: kind.Choice{Kind: "sp", Params: map[string]any{"inner": map[string]any{"kind": inner}}},
			Scheme:    kind.Choice{Kind: "mq-ecn", Params: map[string]any{"threshold": "15KB"}},
		}, port.Kinds{}, func(*packet.Packet) {})
		if err != nil {
			t.Fatal(err)
		}
		now := time.Duration(0)
		for range 100 { // both low queues are busy and take turns
			for q := range uint8(2) {
				p.Enqueue(now, &packet.Packet{Size: 1500, DSCP: q + 1, ECN: packet.ECT0})
			}
			p.Dequeue(now)
			now += units.Gbps.Time(1500 + packet.FrameOverhead)
		}
		for i := range 13 {
			k := &packet.Packet{Size: 1500, ECN: packet.ECT0}
			if p.Enqueue(now, k); (k.ECN == packet.CE) != (i > 10) {
				t.Errorf("over %s: behind %d packets marked %v, K is 10", inner, i, k.ECN == packet.CE)
			}
		}
	}
}
