package meter

import (
	"slices"
	"testing"
	"time"

	"aqmlab/results"
)

const ms = time.Millisecond

func sample(end time.Duration, service int32, bytes int64) results.ServiceSample {
	return results.ServiceSample{At: end, Over: 10 * ms, Service: service, Bytes: bytes}
}

// TestMeter: payload counts in the interval that it came in, which begins with
// its first instant and ends before its last; one without payload has no sample.
func TestMeter(t *testing.T) {
	m := New(10 * ms)
	if got := m.Samples(); len(got) != 0 {
		t.Errorf("at first %+v", got)
	}
	for _, a := range []struct {
		at      time.Duration
		service int32
		bytes   int64
	}{
		{0, 2, 100}, {9 * ms, 0, 7}, {10*ms - 1, 2, 11}, {10 * ms, 2, 50}, {35 * ms, 2, 1}, {34 * ms, 2, 2}, {36 * ms, 0, 3},
	} {
		m.Add(a.at, m.Line(For{Service: a.service}), a.bytes)
	}
	want := []results.ServiceSample{
		sample(10*ms, 0, 7), sample(10*ms, 2, 111), sample(20*ms, 2, 50), sample(40*ms, 0, 3), sample(40*ms, 2, 3),
	}
	for range 2 { // looking changes nothing
		if got := m.Samples(); !slices.Equal(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	m.Add(39*ms, m.Line(For{}), 10)
	if got := m.Samples(); got[3] != sample(40*ms, 0, 13) {
		t.Errorf("then %+v", got)
	}
}

// TestLateByALittle: what a thread adds a moment late counts all the same, once.
func TestLateByALittle(t *testing.T) {
	m := New(10 * ms)
	m.Add(10*ms, m.Line(For{}), 5)
	m.Add(10*ms-1, m.Line(For{}), 6)
	if got := m.Samples(); !slices.Equal(got, []results.ServiceSample{sample(20*ms, 0, 11)}) {
		t.Errorf("got %+v", got)
	}
}

func TestMeterOff(t *testing.T) {
	m := New(0)
	m.Add(ms, m.Line(For{}), 5)
	if got := m.Samples(); len(got) != 0 {
		t.Errorf("got %+v", got)
	}
}

// TestJoin: what several meters saw of an interval is one sample.
func TestJoin(t *testing.T) {
	a := []results.ServiceSample{sample(10*ms, 0, 1), sample(20*ms, 0, 2)}
	b := []results.ServiceSample{sample(10*ms, 0, 4), sample(10*ms, 1, 8), sample(20*ms, 0, 16)}
	want := []results.ServiceSample{sample(10*ms, 0, 5), sample(10*ms, 1, 8), sample(20*ms, 0, 18)}
	if got := Join(a, nil, b); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if a[0].Bytes != 1 || b[0].Bytes != 4 {
		t.Error("joining changed what was joined")
	}
}

// TestApart: what differs in its workload or its transport counts apart.
func TestApart(t *testing.T) {
	m := New(10 * ms)
	for i, of := range []For{{1, 2, 0}, {0, 2, 3}, {0, 1, 0}, {0, 2, 0}} {
		m.Add(ms, m.Line(of), int64(i+1))
	}
	m.Add(2*ms, m.Line(For{0, 2, 3}), 10)
	want := []results.ServiceSample{sample(10*ms, 1, 3), sample(10*ms, 2, 4), sample(10*ms, 2, 12), sample(10*ms, 2, 1)}
	want[2].Transport, want[3].Workload = 3, 1
	if got := m.Samples(); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestNothingIsAllocated for payload within an interval.
func TestNothingIsAllocated(t *testing.T) {
	m := New(time.Hour)
	line := m.Line(For{Service: 3})
	m.Add(0, line, 1)
	if n := testing.AllocsPerRun(100, func() { m.Add(ms, line, 1) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
