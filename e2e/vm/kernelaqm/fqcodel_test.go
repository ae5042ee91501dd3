package kernelaqm_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"aqmlab/e2e/vm/kernelaqm"
	"aqmlab/e2e/vm/vmtest"
	"aqmlab/kind"
	"aqmlab/switch/packet"
	"aqmlab/switch/port"
	"aqmlab/units"
)

// fairFlows is the traffic of five flows. The first is busy from the start to the end, so that
// there is always an old flow: what Linux does without one is not what RFC 8290 says.
func fairFlows(seed uint64) []kernelaqm.Packet {
	s, ms := time.Second, time.Millisecond
	var flows [][]kernelaqm.Packet
	for i, phases := range [][]kernelaqm.Phase{
		{{Load: 3, For: 50 * ms}, {Load: 1, For: 6 * s}},
		{{Load: 0.15, For: 3 * s}, {Load: 0.6, For: 1500 * ms}, {Load: 0.05, For: 1500 * ms}},
		{{Load: 0.12, For: 6 * s}},
		{{Load: 0.02, For: 6 * s}},
		{{Load: 0.01, For: 2 * s}, {Load: 0.9, For: 300 * ms}, {Load: 0.01, For: 3700 * ms}},
	} {
		packets := kernelaqm.Poisson(rand.New(rand.NewPCG(seed, uint64(i))), rate, i > 0, phases...)
		for k := range packets {
			if i > 0 {
				packets[k].At += 50 * ms // the first is busy by then
			}
		}
		flows = append(flows, packets)
	}
	return kernelaqm.Merge(flows...)
}

// TestKernelFQCoDel: packets leave in the order in which they leave the kernel's queues, and
// each has the fate that it has there. The sender names the queue of each flow, which the
// kernel's hash would choose by a number that it draws. Ours has hashes of different queues.
func TestKernelFQCoDel(t *testing.T) {
	vmtest.NeedsGuest(t)
	ms := time.Millisecond
	for i, tt := range []struct {
		name             string
		target, interval time.Duration
		quantum          int
		mark             bool
		least            int // packets to be marked or dropped
	}{
		{"mark", 5 * ms, 100 * ms, 1514, true, 100},
		{"mark, short interval and quantum", ms, 20 * ms, 300, true, 1000},
		{"drop", 5 * ms, 100 * ms, 1514, false, 100},
	} {
		t.Run(tt.name, func(t *testing.T) {
			packets := fairFlows(uint64(i))
			events := record(t, kernelaqm.FQCoDel(tt.target, tt.interval, 1024, tt.quantum, tt.mark), packets)
			params := map[string]any{
				"target": tt.target.String(), "interval": tt.interval.String(), "mtu": "1514B", "spares": "port",
				"action": map[bool]string{true: "mark", false: "drop"}[tt.mark], "arithmetic": "linux",
			}
			kernel := kernelFates(events)
			agree(t, kernel, replayFair(t, params, tt.quantum, packets, events), tt.least)
			acted := map[int]int{}
			for number, f := range kernel {
				if f != passed {
					acted[packets[number].Flow]++
				}
			}
			t.Logf("marked or dropped of each flow: %v", acted)
			if acted[1] == 0 || acted[2] == 0 || acted[5] == 0 {
				t.Error("too few flows are marked or dropped to compare")
			}
		})
	}
}

// replayFair is replay under fair queueing of flows. It also wants that packets leave in the
// same order.
func replayFair(t *testing.T, codel map[string]any, quantum int, packets []kernelaqm.Packet, events []kernelaqm.Event) []fate {
	t.Helper()
	fates := make([]fate, sent(events))
	var pool packet.Pool
	p, err := port.New(port.Spec{
		Rate: rate, Queues: 1, Buffer: units.GB,
		Scheduler: kind.Choice{Kind: "fq", Params: map[string]any{"flows": 1024, "quantum": units.Size(quantum)}},
		Scheme:    kind.Choice{Kind: "codel", Params: codel},
	}, port.Kinds{}, func(k *packet.Packet) {
		fates[k.Src] = dropped
		pool.Put(k)
	})
	if err != nil {
		t.Fatal(err)
	}
	other := 0 // packets that leave in place of others
	for _, e := range events {
		switch e.Kind {
		case kernelaqm.Empty:
			if k, _ := p.Dequeue(e.Now); k != nil {
				t.Fatalf("at %v packet %d of flow %d leaves, the kernel has none", e.Now, k.Src, k.Hash)
			}
		case kernelaqm.Arrival:
			k := pool.Get()
			k.Size, k.ECN, k.Src, k.Hash = int32(e.Bytes), packet.ECT0, int32(e.Number), uint32(packets[e.Number].Flow)
			p.Enqueue(e.Now, k)
		case kernelaqm.Departure:
			k, _ := p.Dequeue(e.Now)
			if k == nil {
				continue // ours dropped more: the fates tell
			}
			if int(k.Src) != e.Number {
				if other++; other <= 5 {
					t.Errorf("at %v packet %d of flow %d leaves, in the kernel %d of flow %d", e.Now, k.Src, k.Hash, e.Number, packets[e.Number].Flow)
				}
			}
			if k.ECN == packet.CE {
				fates[k.Src] = marked
			}
			pool.Put(k)
		}
	}
	if other > 0 {
		t.Errorf("%d packets leave in place of others", other)
	}
	return fates
}
