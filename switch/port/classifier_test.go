package port

import (
	"strings"
	"testing"

	"aqmlab/kind"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// TestMap: packets are in the queue that the list has for their DSCP, and those of DSCPs
// behind its end in that of the last one, under every scheduler. Counts are of that queue.
func TestMap(t *testing.T) {
	for _, scheduler := range []kind.Choice{
		{Kind: "dwrr"}, {Kind: "fq"}, {Kind: "dualq"},
		{Kind: "pifo", Params: map[string]any{"rank": "stfq", "by": "flow"}},
		{Kind: "pifo", Params: map[string]any{"rank": "stfq", "by": "packet"}},
	} {
		spec := Spec{
			Rate: units.Gbps, Queues: 3, Buffer: units.MB, Scheduler: scheduler, Scheme: kind.Choice{Kind: "droptail"},
			Classifier: kind.Choice{Kind: "map", Params: map[string]any{"queues": []any{1, 1, 0, 2}}},
		}
		p, err := New(spec, Kinds{}, func(*packet.Packet) {})
		if err != nil {
			t.Fatal(err)
		}
		for dscp := range uint8(8) {
			p.Enqueue(0, &packet.Packet{Size: 1000, DSCP: dscp, Hash: uint32(dscp)})
		}
		for q, want := range []int{1, 2, 5} { // DSCP 2; 0 and 1; 3 and beyond
			if got := p.QueuePackets(q); got != want {
				t.Errorf("%v: queue %d has %d packets, want %d", scheduler, q, got, want)
			}
		}
		for k, _ := p.Dequeue(0); k != nil; k, _ = p.Dequeue(0) {
		}
		for q, want := range []int64{1, 2, 5} {
			if got := p.Count(q); got.Sent != want || got.Enqueued != want || p.QueueBytes(q) != 0 {
				t.Errorf("%v: queue %d counted %+v, want %d packets", scheduler, q, got, want)
			}
		}
	}
}

// TestBadMaps: a list has queues of the port, and no more entries than there are DSCPs.
func TestBadMaps(t *testing.T) {
	for want, queues := range map[string][]any{
		"queues: missing": nil,
		"queues: queue 2 of DSCP 1 is outside 0 to 1": {0, 2},
		"queues: 65 DSCPs are too many: there are 64": make65(),
	} {
		params := map[string]any{}
		if queues != nil {
			params["queues"] = queues
		}
		if _, err := Classifiers().New("map", params, ClassifierEnv{2}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", queues, err, want)
		}
	}
}

func make65() []any {
	all := make([]any, 65)
	for i := range all {
		all[i] = 0
	}
	return all
}
