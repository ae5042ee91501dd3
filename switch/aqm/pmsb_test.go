package aqm

import (
	"testing"
	"time"
)

// TestPMSB: a packet is marked when the port is above its threshold and its queue above
// its own (PMSB, section IV). K is 31,250 bytes for the port of env, and a quarter of it
// is the share of each queue.
func TestPMSB(t *testing.T) {
	given := map[string]any{"threshold": "32KB", "blind_below": "5KB"}
	for _, tt := range []struct {
		params      map[string]any
		port, queue int
		want        Verdict
	}{
		{nil, 31251, 7813, Mark},
		{nil, 31250, 31250, Pass}, // the port is not above its threshold
		{nil, 96000, 7812, Pass},  // the queue is blind
		{nil, 96000, 0, Pass},
		{map[string]any{"lambda": 0.5}, 15626, 3907, Mark},
		{map[string]any{"lambda": 0.5}, 15626, 3906, Pass},
		{map[string]any{"threshold": "32KB"}, 32001, 8001, Mark},
		{map[string]any{"threshold": "32KB"}, 32001, 8000, Pass},
		{given, 32001, 5001, Mark},
		{given, 32000, 5001, Pass},
		{given, 32001, 5000, Pass},
	} {
		s := build(t, "pmsb", tt.params)
		v := View{Queue: 2, Bytes: tt.queue, PortBytes: tt.port, Waited: time.Second}
		if got := s.Arrive(0, nil, v); got != tt.want {
			t.Errorf("%v: %d bytes in the port and %d in the queue: %v, want %v", tt.params, tt.port, tt.queue, got, tt.want)
		}
		if got := s.Depart(0, nil, v); got != Pass {
			t.Errorf("depart: %v", got)
		}
	}
}

// TestPMSBSharesFollowWeights: a queue's threshold is its weighted share. One that is
// served strictly has no share, and the port's threshold is its own.
func TestPMSBSharesFollowWeights(t *testing.T) {
	e := env()
	e.Weights = []int{0, 2, 1, 1}
	s, err := Table().New("pmsb", nil, e)
	if err != nil {
		t.Fatal(err)
	}
	for q, k := range []int{31250, 15625, 7812, 7812} {
		at, above := View{Queue: q, Bytes: k, PortBytes: 96000}, View{Queue: q, Bytes: k + 1, PortBytes: 96000}
		if s.Arrive(0, nil, at) != Pass || s.Arrive(0, nil, above) != Mark {
			t.Errorf("queue %d does not mark above %d bytes only", q, k)
		}
	}
}

func TestPMSBParameters(t *testing.T) {
	refuses(t, "pmsb", []refusal{
		{map[string]any{"threshold": "minimum"}, "threshold: minimum is one queue's share"},
		{map[string]any{"threshold": "32KB", "lambda": 0.5}, "lambda: threshold is a size"},
		{map[string]any{"lambda": 0}, "lambda: 0 is outside (0, 1000]"},
	})
	e := env()
	e.RTTs = RTTs{}
	if _, err := Table().New("pmsb", nil, e); err == nil {
		t.Error("computes a threshold without a base RTT")
	}
}
