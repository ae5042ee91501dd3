package port

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

func abm(params map[string]any) kind.Choice { return kind.Choice{Kind: "abm", Params: params} }

// place is a queue of a port.
type place struct{ port, queue int }

// hold keeps queues of n ports as full as they get while the ports send, and answers how
// long they are in the end.
func hold(t *testing.T, n int, spec Spec, busy []place) []int {
	t.Helper()
	p, _, pool := ports(t, n, spec)
	now := time.Duration(0)
	for range 20_000 {
		now += 8 * time.Microsecond
		for _, one := range p {
			if k, _ := one.Dequeue(now); k != nil {
				pool.Put(k)
			}
		}
		for _, b := range busy {
			for p[b.port].Enqueue(now, late(pool, b.queue)) {
			}
		}
	}
	lengths := make([]int, len(busy))
	for i, b := range busy {
		lengths[i] = p[b.port].QueueBytes(b.queue)
	}
	return lengths
}

// late makes a packet from far behind the beginning of its message.
func late(pool *packet.Pool, queue int) *packet.Packet {
	k := get(pool, uint8(queue), 1000, packet.NotECT)
	k.Segment.Before = 10_000_000
	return k
}

// TestABMLimit: a queue comes to alpha/n x mu/b x (B - Q), where n is how many queues of
// its number are congested, mu/b its share of its link, B the pool and Q what all queues
// hold (Addanki et al., SIGCOMM 2022). With a = alpha/n x mu/b that is a B / (1 + sum of a).
func TestABMLimit(t *testing.T) {
	const pool = 1_000_000
	for _, c := range []struct {
		name      string
		params    map[string]any
		scheduler kind.Choice
		busy      []place
		shares    []float64 // a of each
	}{
		{"alone", map[string]any{"alpha": 0.5}, kind.Choice{Kind: "dwrr"}, []place{{0, 0}}, []float64{0.5}},
		{"two ports", nil, kind.Choice{Kind: "dwrr"}, []place{{0, 0}, {1, 0}}, []float64{0.25, 0.25}},
		{"four ports", map[string]any{"alpha": 2}, kind.Choice{Kind: "dwrr"}, []place{{0, 1}, {1, 1}, {2, 1}, {3, 1}}, []float64{0.5, 0.5, 0.5, 0.5}},
		{"numbers do not count for others", nil, kind.Choice{Kind: "dwrr"}, []place{{0, 0}, {1, 1}, {2, 2}}, []float64{0.5, 0.5, 0.5}},
		{"a link shared by two", nil, kind.Choice{Kind: "dwrr"}, []place{{0, 0}, {0, 1}}, []float64{0.25, 0.25}},
		{"a link shared by weight", nil, kind.Choice{Kind: "dwrr", Params: map[string]any{"weights": []any{3, 1, 1, 1}}}, []place{{0, 0}, {0, 1}}, []float64{0.375, 0.125}},
		{"both", map[string]any{"alpha": 1}, kind.Choice{Kind: "wfq"}, []place{{0, 0}, {0, 1}, {1, 0}}, []float64{0.25, 0.5, 0.5}},
		{"alphas", map[string]any{"alphas": []any{2, 1, 0.25, 1}}, kind.Choice{Kind: "dwrr"}, []place{{0, 0}, {1, 2}}, []float64{2, 0.25}},
		{"a strict queue has all of its link", nil, kind.Choice{Kind: "sp", Params: map[string]any{"inner": map[string]any{"kind": "dwrr"}}}, []place{{0, 0}, {0, 1}}, []float64{0.5, 0.5}},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := shared(abm(c.params), pool)
			spec.Scheduler = c.scheduler
			sum := 1.0
			for _, a := range c.shares {
				sum += a
			}
			for i, got := range hold(t, 4, spec, c.busy) {
				if want := c.shares[i] / sum * pool; math.Abs(float64(got)-want) > 4000 {
					t.Errorf("%v holds %d bytes, want %.0f", c.busy[i], got, want)
				}
			}
		})
	}
}

// TestABMCongested: a queue counts as congested from the given share of its limit on, not
// before. Queue 0 of port 0 is held at half of its limit,
// and another one gets what there is.
func TestABMCongested(t *testing.T) {
	for congested, want := range map[float64]int{0.4: 160_000, 0.6: 267_000} {
		p, _, pool := ports(t, 2, shared(abm(map[string]any{"congested": congested}), units.MB))
		for p[0].QueueBytes(0) < 200_000 { // limit: half of 800 KB
			p[0].Enqueue(0, late(pool, 0))
		}
		for p[1].Enqueue(0, late(pool, 0)) {
		}
		// From 0.4 on both count: a quarter of what is free. Else it is alone: half of it.
		if got := p[1].QueueBytes(0); got != want {
			t.Errorf("congested from %v on: another queue gets %d bytes, want %d", congested, got, want)
		}
	}
}

// TestABMUnscheduled: the first bytes of messages find room where others do not.
func TestABMUnscheduled(t *testing.T) {
	p, memory, pool := ports(t, 1, shared(abm(map[string]any{"unscheduled": "15KB", "unscheduled_alpha": 64}), units.MB))
	for p[0].Enqueue(0, late(pool, 0)) {
	}
	if got := memory.Bytes(); got < 333_000 || got > 335_000 {
		t.Fatalf("%d bytes, want a third of the pool", got)
	}
	first := func(before uint32) bool {
		k := late(pool, 0)
		k.Segment.Before = before
		return p[0].Enqueue(0, k)
	}
	if first(15_000) {
		t.Error("byte 15,000 of a message is not one of its first 15,000")
	}
	for first(14_999) {
	}
	if got, want := memory.Bytes(), 1_000_000*64/65; math.Abs(float64(got-want)) > 1000 {
		t.Errorf("%d bytes, want %d", got, want)
	}
}

func TestBadABM(t *testing.T) {
	for want, params := range map[string]map[string]any{
		"alphas: 2 alphas for 4 queues":       {"alphas": []any{1, 2}},
		"congested: 0 is outside (0, 1]":      {"congested": 0},
		"alpha: 0 is outside (0, 1000]":       {"alpha": 0},
		"alphas: [1]: 0 is outside (0, 1000]": {"alphas": []any{1, 0, 1, 1}},
		"unscheduled: \"x\" is not a size":    {"unscheduled": "x"},
	} {
		if _, err := New(shared(abm(params), units.MB), Kinds{}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want one that says %s", params, err, want)
		}
	}
}

// TestChangeLeavesPool: a port that is changed draws from its pool once, as before, so that
// limits of a port that is gone do not bound others.
func TestChangeLeavesPool(t *testing.T) {
	for _, sharing := range []kind.Choice{abm(nil), {Kind: "dynamic"}} {
		t.Run(fmt.Sprint(sharing.Kind), func(t *testing.T) {
			spec := shared(sharing, units.MB)
			p, memory, pool := ports(t, 2, spec)
			p[0].Enqueue(0, late(pool, 0))
			to := spec
			to.Scheduler = kind.Choice{Kind: "wfq"}
			for range 3 {
				change, err := p[0].Change(spec, to, Kinds{}, memory)
				if err != nil {
					t.Fatal(err)
				}
				change(0)
				spec, to = to, spec
			}
			if len(memory.limits) != 2 || memory.Bytes() != 1000 {
				t.Errorf("%d limits of 2 ports, %d bytes of 1 packet", len(memory.limits), memory.Bytes())
			}
		})
	}
}
