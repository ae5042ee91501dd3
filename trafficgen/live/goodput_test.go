package live

import (
	"testing"
	"time"

	"aqmlab/collectors/meter"
	"aqmlab/trafficgen/traffic"
)

// TestServices: what services deliver are the payloads of their flows, within
// the time of the replay, in lab time.
func TestServices(t *testing.T) {
	network := newLoopback()
	serve(t, network, 1, 2)
	flows := []traffic.Flow{
		{ID: 0, Server: 1, Bytes: 3_000_000, Service: 0},
		{ID: 1, Server: 2, Bytes: 200, Service: 3, Start: 2 * time.Millisecond},
		{ID: 2, Server: 1, Bytes: 100_000, Service: 3, Start: 3 * time.Millisecond},
	}
	const every = 500 * time.Microsecond
	c, err := Open(t.Context(), network, Config{Flows: flows, Dilation: 2, Connections: 1, Goodput: every})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Services(); got != nil {
		t.Errorf("before the replay %+v", got)
	}
	records, err := c.Run(t.Context(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	var end time.Duration
	for _, r := range records {
		end = max(end, r.Sent+r.FCT)
	}
	got := make(map[int32]int64)
	for _, s := range c.Services() {
		got[s.Service] += s.Bytes
		if s.Over != every || s.At%every != 0 || s.At > end+every || s.Service == 3 && s.At <= 2*time.Millisecond {
			t.Errorf("%+v in a replay that ended at %v", s, end)
		}
	}
	if len(got) != 2 || got[0] != 3_000_000 || got[3] != 100_200 {
		t.Errorf("delivered %v", got)
	}
}

// TestServicesOff: nothing is kept for those who do not ask.
func TestServicesOff(t *testing.T) {
	c := Client{}
	c.goodput.begin(time.Now())
	c.arrived(meter.For{}, 10)
	if got := c.Services(); len(got) > 0 || c.Progress().Bytes != 10 {
		t.Errorf("%+v, %+v", got, c.Progress())
	}
	if _, err := Open(t.Context(), newLoopback(), Config{Dilation: 1, Goodput: -1}); err == nil {
		t.Error("an interval below zero was taken")
	}
}
