package results

import (
	"reflect"
	"testing"
	"time"
)

func TestQueriesByHand(t *testing.T) {
	late := part(4, 3, 41*ms, 2*ms)
	late.Start = 39 * ms // planned before the other, and sent after
	flows := []Flow{
		part(0, 1, 10*ms, 5*ms),
		part(1, 0, 10*ms, 99*ms), // of none
		part(2, 1, 12*ms, 7*ms),  // ends last, at 19 ms
		part(3, 1, 11*ms, 2*ms),
		late,
		part(5, 3, 40*ms, ms),
		part(6, 2, 50*ms, ms),
		part(7, 2, 50*ms, 0),
	}
	want := []Query{
		{ID: 1, Start: 10 * ms, Sent: 10 * ms, QCT: 9 * ms, Bytes: 3000, Flows: 3, Complete: true},
		{ID: 3, Start: 39 * ms, Sent: 40 * ms, QCT: 3 * ms, Bytes: 2000, Flows: 2, Complete: true},
		{ID: 2, Start: 50 * ms, Sent: 50 * ms, Bytes: 2000, Flows: 2},
	}
	got := QueriesOf(flows)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if s := SummarizeQueries(got); s.Count != 2 || s.Mean != 6000 || s.P99 != 9000 {
		t.Errorf("summary %+v, want a mean of 6000 us over two", s)
	}
}

func TestGoodputByService(t *testing.T) {
	a, b := flowOf(0, 1000, 0, us), flowOf(1, 5000, ms, 10*us)
	b.Service = 2
	got := GoodputByService([]Flow{a, b})
	// 8000 bits in 1 us, and 40000 in 10 us.
	if want := []ServiceGoodput{{0, 8}, {2, 4}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := MeanGoodput([]Point{{Flows: []Flow{a, b}}, {Flows: []Flow{a}}}); !reflect.DeepEqual(got, []ServiceGoodput{{0, 8}, {2, 2}}) {
		t.Errorf("mean %v, want 8 and 2", got)
	}
}

// part is a flow of a query; one that takes no time did not complete.
func part(id, query int64, sent, fct time.Duration) Flow {
	f := flowOf(id, 1000, sent, fct)
	f.Query = query
	if fct == 0 {
		f.Received, f.Error = 0, "lost"
	}
	return f
}
