package results

import (
	"reflect"
	"testing"
	"time"
)

func TestSee(t *testing.T) {
	ms := time.Millisecond
	flows := []Flow{
		{Bytes: 1000, Received: 1000, FCT: 2 * ms}, {Bytes: 1000, Received: 1000, FCT: 4 * ms},
		{Bytes: 20e6, Received: 20e6, FCT: 300 * ms}, {Bytes: 1000, Error: "under way"},
	}
	samples := []QueueSample{
		{At: 0, Switch: "s", Port: "p", Bytes: 1000, PeakBytes: 2000, Sent: 9, Marks: 1, Packets: 5},
		{At: 0, Switch: "s", Port: "p", Queue: 1, Sent: 9, Marks: 2, Packets: 6},
		{At: 300 * ms, Switch: "s", Port: "p", Bytes: 3000, PeakBytes: 3000, Sent: 9},
		{At: 300 * ms, Switch: "s", Port: "idle", Bytes: 9e6, PeakBytes: 9e6},
	}
	got := See(flows, samples)
	if n := len(got.FCT); n != 3 || got.FCT[All].Count != 3 || got.FCT[Small].Mean != 3000 || got.FCT[Large].P99 != 300_000 {
		t.Errorf("FCTs %+v", got.FCT)
	}
	want := &LiveQueue{Port: "s to p", Us: []float64{500, 299_500}, Mean: []float64{1, 3}, Peak: []float64{2, 3}, Marks: []int64{3, 0}, Packets: []int64{11, 0}}
	if !reflect.DeepEqual(got.Queue, want) {
		t.Errorf("queue %+v, want %+v", got.Queue, want)
	}
	if nothing := See(nil, nil); len(nothing.FCT) > 0 || nothing.Queue != nil {
		t.Errorf("of nothing: %+v", nothing)
	}
}
