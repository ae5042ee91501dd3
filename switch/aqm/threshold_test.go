package aqm

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"aqmlab/switch/packet"
)

// bounds are schemes and the views in which each must not act, whatever came
// before. The port is that of env: K = 31,250 bytes, T = 250 us.
func bounds() []bound {
	us := time.Microsecond
	shorter := func(bytes int) func(View) bool { return func(v View) bool { return v.Bytes <= bytes } }
	return []bound{
		{"dctcp-red", nil, shorter(31250)},
		{"dctcp-red", map[string]any{"at": "dequeue"}, shorter(31250)},
		{"dctcp-red", map[string]any{"threshold": "minimum"}, shorter(7812)},
		{"dctcp-red", map[string]any{"scope": "port"}, func(v View) bool { return v.PortBytes <= 31250 }},
		{"dctcp-red", map[string]any{"scope": "pool"}, func(v View) bool { return v.PoolBytes <= 31250 }},
		{"tcn", nil, func(v View) bool { return v.Waited <= 250*us }},
		{"tcn", map[string]any{"tmin": "100us", "tmax": "200us"}, func(v View) bool { return v.Waited <= 100*us }},
		{"red", map[string]any{"weight": 1}, shorter(10416)},
		{"ideal-red", map[string]any{"estimator": "oracle", "capacities": []any{"500Mbps", "500Mbps", "500Mbps", "500Mbps"}}, shorter(15625)},
		{"codel", map[string]any{"mtu": "3KB"}, func(v View) bool { return v.Waited < 12500 || v.Bytes <= 3000 }},
		{"codel", map[string]any{"action": "drop"}, func(v View) bool { return v.Waited < 12500 || v.Bytes <= 1500 }},
		{"pie", map[string]any{"target": "100us", "tupdate": "100us", "max_burst": "0s", "alpha": 1000, "beta": 1000}, shorter(3000)},
		{"mq-ecn", nil, shorter(7812)}, // of four queues of equal weight
		{"mq-ecn", map[string]any{"kmin": "10KB", "kmax": "20KB"}, shorter(2500)},
		{"ecn-sharp", nil, func(v View) bool { return v.Waited < 106250 }},
		{"ecn-sharp", map[string]any{"gaps": "root", "pst_target": "1ms"}, func(v View) bool { return v.Waited <= 250*us }},
		{"ecn-sharp", map[string]any{"arithmetic": "tofino"}, func(v View) bool { return v.Waited <= 106250 }},
		{"ecn-sharp", map[string]any{"signal": "length"}, shorter(13281)}, // 106.25 us at 1 Gbps are 13,281.25 bytes
		{"ecn-sharp", map[string]any{"ins_min": "50us", "ins_max": "90us"}, func(v View) bool { return v.Waited <= 50*us }},
		{"pmsb", nil, func(v View) bool { return v.PortBytes <= 31250 || v.Bytes <= 7812 }},
	}
}

type bound struct {
	scheme string
	params map[string]any
	spared func(View) bool
}

// TestNothingIsMarkedBelowTheThreshold: at random moments, lengths and waits, and
// under rounds as well as without, no scheme acts on a packet below its threshold
// or just at it, and each acts on some above.
func TestNothingIsMarkedBelowTheThreshold(t *testing.T) {
	for _, b := range bounds() {
		t.Run(fmt.Sprint(b.scheme, b.params), func(t *testing.T) {
			s := build(t, b.scheme, b.params)
			rng := rand.New(rand.NewPCG(17, 4))
			now, acted := time.Duration(0), 0
			level := 1.0
			for i := range 40_000 {
				now += time.Duration(rng.IntN(24_000))
				if i%500 == 0 {
					level = rng.Float64() // so that signals stay low and high for a while
				}
				draw := func(most int) int { return int(level * rng.Float64() * float64(most)) }
				v := View{Queue: rng.IntN(4), Packets: 5, Bytes: draw(70_000), Waited: time.Duration(draw(600_000))}
				v.PortBytes = v.Bytes + draw(30_000)
				v.PoolBytes = v.PortBytes + draw(30_000)
				k := &packet.Packet{Size: 1500}
				for _, got := range []Verdict{s.Arrive(now, k, v), s.Depart(now, k, v)} {
					if got != Pass {
						acted++
					}
					if got != Pass && b.spared(v) {
						t.Fatalf("step %d: %v at %+v", i, got, v)
					}
				}
			}
			if acted == 0 {
				t.Error("acted on nothing: the test shows nothing")
			}
		})
	}
}

// TestMQECNMarksNothingBelowItsShare: while no round takes longer than eight
// turns, no threshold is below an eighth of K.
func TestMQECNMarksNothingBelowItsShare(t *testing.T) {
	s := mqecn(t, rounds(), nil)
	rng := rand.New(rand.NewPCG(2, 8))
	k := &packet.Packet{Size: 1500}
	var now time.Duration
	last := make([]time.Duration, 4)
	marks := 0
	for range 100_000 {
		now += time.Duration(rng.Int64N(int64(2 * turn)))
		for q := range last {
			if now-last[q] > 6*turn || rng.IntN(8) == 0 {
				ended(s, now, q, rng.IntN(2) == 0)
				last[q] = now
			}
		}
		v := View{Queue: rng.IntN(4), Packets: 5, Bytes: rng.IntN(40_000)}
		v.PortBytes = v.Bytes + 1
		if s.Arrive(now, k, v) == Mark {
			if marks++; v.Bytes <= 4000 {
				t.Fatalf("at %v: marked with %d bytes", now, v.Bytes)
			}
		} else if v.Bytes > 32000 {
			t.Fatalf("at %v: not marked with %d bytes, above K", now, v.Bytes)
		}
	}
	if marks == 0 {
		t.Error("marked nothing: the test shows nothing")
	}
}
