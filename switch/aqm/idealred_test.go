package aqm

import (
	"math"
	"testing"
	"time"

	"aqmlab/switch/packet"
	"aqmlab/units"
)

// TestIdealREDOracle: 500, 250 and 250 Mbps of a port whose standard threshold
// is 32 KB give 16, 8 and 8 KB (TCN, section 6.1.1).
func TestIdealREDOracle(t *testing.T) {
	e := env()
	e.Queues, e.RTTs = 3, OneRTT(256*time.Microsecond)
	s, err := Table().New("ideal-red", map[string]any{
		"estimator": "oracle", "capacities": []any{"500Mbps", "250Mbps", "250Mbps"},
	}, e)
	if err != nil {
		t.Fatal(err)
	}
	p := &packet.Packet{Size: 1500}
	for i := range 100 { // departures at another rate change nothing
		s.Depart(time.Duration(i), p, View{Queue: 1, Bytes: 40000})
	}
	for q, k := range []int{16000, 8000, 8000} {
		if s.Arrive(0, nil, View{Queue: q, Bytes: k}) != Pass || s.Arrive(0, nil, View{Queue: q, Bytes: k + 1}) != Mark {
			t.Errorf("queue %d does not mark above %d bytes only", q, k)
		}
	}
}

// TestIdealREDShares: at a port of another rate the same shares give the same parts of
// its standard threshold, 320 KB at 10 Gbps.
func TestIdealREDShares(t *testing.T) {
	for rate, want := range map[units.Rate][]int{units.Gbps: {16000, 8000, 8000}, 10 * units.Gbps: {160_000, 80_000, 80_000}} {
		e := env()
		e.Rate, e.Queues, e.RTTs = rate, 3, OneRTT(256*time.Microsecond)
		s, err := Table().New("ideal-red", map[string]any{"estimator": "oracle", "shares": []any{0.5, 0.25, 0.25}}, e)
		if err != nil {
			t.Fatal(err)
		}
		for q, k := range want {
			if s.Arrive(0, nil, View{Queue: q, Bytes: k}) != Pass || s.Arrive(0, nil, View{Queue: q, Bytes: k + 1}) != Mark {
				t.Errorf("%v: queue %d does not mark above %d bytes only", rate, q, k)
			}
		}
	}
}

func TestIdealREDStartsFromLineRate(t *testing.T) {
	s := build(t, "ideal-red", nil)
	if s.Arrive(0, nil, View{Bytes: 31250}) != Pass || s.Arrive(0, nil, View{Bytes: 31251}) != Mark {
		t.Error("without a departure the threshold is not that of the line rate")
	}
}

// figures are what an estimator makes of two milliseconds of departures, in
// Gbps: the samples, and the smoothed rate over the second millisecond.
type figures struct {
	samples           int
	low, high, mean   float64
	tailLow, tailHigh float64
}

// figure2 lets queue 0 of two backlogged queues of a 10 Gbps port leave in turns
// of twelve packets of 1.5 KB (quantum 18 KB), as in TCN, figure 2. Samples come
// from a meter beside the scheme's own.
func figure2(t *testing.T, timing string, thresh units.Size) figures {
	t.Helper()
	e := env()
	e.Rate, e.RTTs, e.Queues = 10*units.Gbps, OneRTT(100*time.Microsecond), 2
	s, err := Table().New("ideal-red", map[string]any{"timing": timing, "dq_thresh": thresh.String()}, e)
	if err != nil {
		t.Fatal(err)
	}
	meter := departures{threshold: int(thresh), covered: timing == "covered"}
	f := figures{low: math.Inf(1), tailLow: math.Inf(1)}
	slot, p := e.Rate.Time(1500), &packet.Packet{Size: 1500}
	for i := range int(2 * time.Millisecond / slot) {
		now, queue := time.Duration(i)*slot, i/12%2
		s.Depart(now, p, View{Queue: queue, Bytes: 300000})
		if now >= time.Millisecond {
			smoothed := s.(*idealRED).queues[0].rate * 1e-9
			f.tailLow, f.tailHigh = min(f.tailLow, smoothed), max(f.tailHigh, smoothed)
		}
		if queue != 0 {
			continue
		}
		if bytes, took, ended := meter.leave(now, 1500, 300000); ended {
			sample := float64(bytes) * 8 / float64(took)
			f.samples++
			f.low, f.high = min(f.low, sample), max(f.high, sample)
			f.mean += (sample - f.mean) / float64(f.samples)
		}
	}
	return f
}

// TestDepartureRate: the figures of the departure-rate estimator under the model
// of TCN, figure 2, worked out from cycles of 7 (10 KB) and 27 (40 KB) packets
// in turns of 12. The paper plots samples from 3.7 to 10 Gbps and a tail above 6
// for 10 KB, and a slow way to 5 for 40 KB.
func TestDepartureRate(t *testing.T) {
	tests := []struct {
		timing string
		thresh units.Size
		want   figures
	}{
		{"covered", 10 * units.KB, figures{low: 70. / 19, high: 10, mean: 6.34, tailLow: 5.9, tailHigh: 6.7}},
		{"covered", 40 * units.KB, figures{low: 270. / 63, high: 270. / 51, mean: 5.06, tailLow: 5.1, tailHigh: 5.8}},
		{"paper-literal", 10 * units.KB, figures{low: 70. / 18, high: 70. / 6, mean: 7.75, tailLow: 7.2, tailHigh: 8.4}},
		{"paper-literal", 40 * units.KB, figures{low: 5.4, high: 5.4, mean: 5.4, tailLow: 5.5, tailHigh: 6}},
	}
	near := func(got, want, within float64) bool { return math.Abs(got-want) <= within }
	for _, tt := range tests {
		f, want := figure2(t, tt.timing, tt.thresh), tt.want
		if !near(f.low, want.low, 1e-9) || !near(f.high, want.high, 1e-9) || !near(f.mean, want.mean, 0.05) {
			t.Errorf("%s, %v: samples %+v, want %+v", tt.timing, tt.thresh, f, want)
		}
		if !near(f.tailLow, want.tailLow, 0.05) || !near(f.tailHigh, want.tailHigh, 0.05) {
			t.Errorf("%s, %v: tail %+v, want %+v", tt.timing, tt.thresh, f, want)
		}
		if tt.thresh == 40*units.KB && f.samples != 31 {
			t.Errorf("%s, %v: %d samples, want 31", tt.timing, tt.thresh, f.samples)
		}
	}
}

// TestDepartureCycle: a cycle begins with at least the threshold waiting, and
// one that took no time goes on.
func TestDepartureCycle(t *testing.T) {
	type leave struct {
		now           time.Duration
		size, backlog int
		bytes         int // of the cycle that ends; zero for none
		took          time.Duration
	}
	tests := map[string]struct {
		covered bool
		leaves  []leave
	}{
		"covered": {true, []leave{
			{0, 1500, 2999, 0, 0},      // too little waits
			{10, 1500, 3000, 0, 0},     // opens, not counted
			{20, 1500, 1500, 0, 0},     // 1500
			{40, 1500, 3000, 3000, 30}, // closes, opens the next
			{50, 3000, 0, 3000, 10},    // closes, too little waits
			{90, 1500, 0, 0, 0},        // nothing runs
		}},
		"literal": {false, []leave{
			{0, 1500, 2999, 0, 0},
			{10, 1500, 3000, 0, 0},     // opens and counts
			{20, 1500, 1500, 3000, 10}, // closes
			{40, 3000, 3000, 0, 0},     // opens, enough at once, but no time
			{50, 1500, 1500, 4500, 10},
		}},
	}
	for name, tt := range tests {
		d := departures{threshold: 3000, covered: tt.covered}
		for i, l := range tt.leaves {
			bytes, took, ended := d.leave(l.now, l.size, l.backlog)
			if ended != (l.bytes > 0) || ended && (bytes != l.bytes || took != l.took) {
				t.Errorf("%s, departure %d: %d bytes in %d, ended %v; want %d in %d", name, i, bytes, took, ended, l.bytes, l.took)
			}
		}
	}
}

// TestIdealREDFollowsTheRate: one sample of half the line rate moves the estimate
// to 7/8 + 1/16 of it, and the threshold with it: 15/16 of 31,250 bytes.
func TestIdealREDFollowsTheRate(t *testing.T) {
	s, p := build(t, "ideal-red", map[string]any{"dq_thresh": "1500B"}), &packet.Packet{Size: 1500}
	s.Depart(0, p, View{Queue: 3, Bytes: 1500})
	s.Depart(24*time.Microsecond, p, View{Queue: 3, Bytes: 0})
	for q, k := range []int{31250, 31250, 31250, 29296} {
		if s.Arrive(0, nil, View{Queue: q, Bytes: k}) != Pass || s.Arrive(0, nil, View{Queue: q, Bytes: k + 1}) != Mark {
			t.Errorf("queue %d does not mark above %d bytes only", q, k)
		}
	}
}

func TestIdealREDBadParameters(t *testing.T) {
	refused(t, "ideal-red", env(), map[string]map[string]any{
		"estimator":  {"estimator": "guess"},
		"timing":     {"timing": "literal"},
		"capacities": {"estimator": "oracle", "capacities": []any{"1Gbps"}},
		"lambda":     {"lambda": 0},
		"dq_thresh":  {"dq_thresh": "0B"},
		"weight":     {"weight": 1},
	})
	refused(t, "ideal-red", env(), map[string]map[string]any{
		"capacities": {"capacities": []any{"1Gbps", "1Gbps", "1Gbps", "1Gbps"}},
	})
	refused(t, "ideal-red", env(), map[string]map[string]any{
		"capacities": {"estimator": "oracle", "capacities": []any{"1Gbps", "1Gbps", "0bps", "1Gbps"}},
	})
	oracle := func(more map[string]any) map[string]any {
		more["estimator"] = "oracle"
		return more
	}
	quarters := []any{0.25, 0.25, 0.25, 0.25}
	for _, tt := range []struct {
		params map[string]any
		want   string
	}{
		{oracle(map[string]any{}), "capacities: missing"},
		{oracle(map[string]any{"capacities": []any{"1Gbps", "1Gbps", "2Gbps", "1Gbps"}}), "capacities: 2Gbps of queue 2 is more than a port of 1Gbps has"},
		{oracle(map[string]any{"shares": []any{0.5, 0.5}}), "shares: 2 for 4 queues"},
		{oracle(map[string]any{"shares": []any{0.5, 0.5, 0.5, 1.5}}), "shares: [3]: 1.5 is outside (0, 1]"},
		{oracle(map[string]any{"shares": quarters, "capacities": []any{"1Gbps", "1Gbps", "1Gbps", "1Gbps"}}), "shares: capacities are set"},
		{map[string]any{"shares": quarters}, "shares: only the oracle"},
	} {
		refuses(t, "ideal-red", []refusal{{tt.params, tt.want}})
	}
	e := env()
	e.RTTs = RTTs{}
	refused(t, "ideal-red", e, map[string]map[string]any{"": nil})
}
