package coexist

import (
	"math"
	"testing"
	"time"

	"aqmlab/results"
)

const (
	ms  = time.Millisecond
	sec = time.Second
)

// flow is one of a service that is under way between two times.
func flow(service int32, from, to time.Duration) results.Flow {
	return results.Flow{Start: from, Sent: from, FCT: to - from, Bytes: 1, Received: 1, Service: service}
}

// deliver adds what a service delivers in each interval of 10 ms between two times.
func deliver(p *results.Point, service int32, from, to time.Duration, bytes int64) {
	for at := from; at < to; at += 10 * ms {
		p.Services = append(p.Services, results.ServiceSample{At: at + 10*ms, Over: 10 * ms, Service: service, Bytes: bytes})
	}
}

// want checks a value to nine digits.
func want(t *testing.T, j Judgement, measure, of string, value float64) {
	t.Helper()
	got, ok := j.Of(measure, of)
	if !ok || math.Abs(got-value) > 1e-9*max(math.Abs(value), 1) {
		t.Errorf("%s of %q is %v (%v), want %v", measure, of, got, ok, value)
	}
}

func none(t *testing.T, j Judgement, measure string) {
	t.Helper()
	for _, v := range j.Values {
		if v.Measure == measure {
			t.Errorf("%s is %v, want none", measure, v)
		}
	}
}

// The index is as Jain, Chiu and Hawe define it: 1 for equal values, 1/n where one has
// all. The others are worked out by hand.
func TestJainIndex(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{5}, 1}, {[]float64{2, 2, 2}, 1}, {[]float64{0, 7}, 0.5}, {[]float64{1, 3}, 16.0 / 20}, {[]float64{1, 1, 1, 1, 0}, 0.8},
	} {
		if got, ok := JainIndex(c.values); !ok || math.Abs(got-c.want) > 1e-12 {
			t.Errorf("of %v: %v, want %v", c.values, got, c.want)
		}
	}
	if _, ok := JainIndex([]float64{0, 0}); ok {
		t.Error("nothing at all has an index")
	}
}

// TestSharesWhileAllAreUnderWay: service 0 is alone for 1 s and then beside service 1 with
// two flows for 1 s, in which it gets 3 of 4 bytes. Only the second half counts.
func TestSharesWhileAllAreUnderWay(t *testing.T) {
	p := results.Point{Flows: []results.Flow{flow(0, 0, 2*sec), flow(1, sec, 2*sec), flow(1, sec, 2*sec)}}
	deliver(&p, 0, 0, sec, 4000)
	for at := sec; at < 2*sec; at += 10 * ms {
		deliver(&p, 0, at, at+1, 3000)
		deliver(&p, 1, at, at+1, 1000)
	}
	j := Judge(results.Manifest{}, p, Usual())
	if j.Window != results.Micros(10*ms) || j.Windows != 100 || len(j.Parties) != 2 {
		t.Fatalf("%+v", j)
	}
	want(t, j, Share, "service 0", 0.75)
	want(t, j, Share, "service 1", 0.25)
	want(t, j, PerFlow, "service 0", 8*3000*100)
	want(t, j, PerFlow, "service 1", 8*1000*100/2)
	want(t, j, JainParties, "", 16.0/(2*10))   // 3 and 1
	want(t, j, Jain, "", 3.5*3.5/(2*(9+0.25))) // 3 and a half
	none(t, j, Utilisation)
}

// TestSharesOfNobodyTogether: parties that take turns have shares of all that was
// delivered, and no index.
func TestSharesOfNobodyTogether(t *testing.T) {
	p := results.Point{Flows: []results.Flow{flow(0, 0, sec), flow(1, sec, 2*sec)}}
	deliver(&p, 0, 0, sec, 1000)
	deliver(&p, 1, sec, 2*sec, 3000)
	j := Judge(results.Manifest{}, p, Usual())
	want(t, j, Share, "service 1", 0.75)
	none(t, j, Jain)
	if j.Windows != 0 || j.Changes != 0 {
		t.Errorf("%+v", j)
	}
	if j := Judge(results.Manifest{}, results.Point{}, Usual()); len(j.Values) != 0 {
		t.Errorf("a point without flows: %+v", j)
	}
}

// TestFairnessOfLongFlows: of four flows, two are under way for half of the time or more:
// 3000 bytes in 2 s and 500 in 1 s are 1500 and 500 a second, an index of 4 / (2 * 2.5).
func TestFairnessOfLongFlows(t *testing.T) {
	long := func(received int64, from, to time.Duration) results.Flow {
		return results.Flow{Start: from, Sent: from, FCT: to - from, Bytes: received, Received: received}
	}
	p := results.Point{Flows: []results.Flow{long(3000, 0, 2*sec), long(500, sec, 2*sec), long(9e6, 0, sec/2), long(9e6, sec, sec+sec/2)}}
	want(t, Judge(results.Manifest{}, p, Usual()), JainFlows, "", 0.8)
	p.Flows = p.Flows[:1]
	none(t, Judge(results.Manifest{}, p, Usual()), JainFlows)
}

// TestConvergence: the second flow joins at 1 s. Of every interval it has a tenth until
// 1.3 s, 41 % until 1.5 s, and half from then on. Within 20 % of half is 40 to 60 %.
func TestConvergence(t *testing.T) {
	p := results.Point{Flows: []results.Flow{flow(0, 0, 3*sec), flow(1, sec, 2*sec)}}
	deliver(&p, 0, 0, sec, 1000)
	for at := sec; at < 2*sec; at += 10 * ms {
		second := int64(100)
		if at >= 1300*ms {
			second = 410
		}
		if at >= 1500*ms {
			second = 500
		}
		deliver(&p, 0, at, at+1, 1000-second)
		deliver(&p, 1, at, at+1, second)
	}
	deliver(&p, 0, 2*sec, 3*sec, 1000)
	rule := Usual()
	rule.Window = 20 * ms
	j := Judge(results.Manifest{}, p, rule)
	if j.Changes != 1 {
		t.Errorf("%d changes, want that with two parties after it", j.Changes)
	}
	want(t, j, Converged, "", 1)
	want(t, j, Convergence, "", 320_000)
	rule.Band = 0.1
	want(t, Judge(results.Manifest{}, p, rule), Convergence, "", 520_000)
	rule.Hold = 26
	j = Judge(results.Manifest{}, p, rule)
	want(t, j, Converged, "", 0)
	none(t, j, Convergence)
}

// TestFairIsByFlows: a party with three flows of four is fair with three quarters.
func TestFairIsByFlows(t *testing.T) {
	p := results.Point{Flows: []results.Flow{flow(0, 0, sec), flow(1, 0, sec), flow(1, 0, sec), flow(1, 0, sec)}}
	for at := time.Duration(0); at < sec; at += 10 * ms {
		deliver(&p, 0, at, at+1, 250)
		deliver(&p, 1, at, at+1, 750)
	}
	j := Judge(results.Manifest{}, p, Usual())
	want(t, j, Converged, "", 1)
	want(t, j, Convergence, "", 10_000)
	want(t, j, Jain, "", 1)
}

// TestFlowsThatDoNotEnd: one that failed was under way until it should have stopped, or
// else until the last sample, and one that was never sent was not.
func TestFlowsThatDoNotEnd(t *testing.T) {
	for _, c := range []struct {
		flow     results.Flow
		from, to time.Duration
		ok       bool
	}{
		{flow(0, sec, 2*sec), sec, 2 * sec, true},
		{results.Flow{Sent: sec, Bytes: 9, Error: "lost"}, sec, 5 * sec, true},
		{results.Flow{Sent: sec, Bytes: 9, Stop: 3 * sec, Error: "lost"}, sec, 3 * sec, true},
		{results.Flow{Bytes: 9, Error: "not begun"}, 0, 0, false},
	} {
		if from, to, ok := spanOf(c.flow, 5*sec); from != c.from || to != c.to || ok != c.ok {
			t.Errorf("%+v: %v to %v, %v", c.flow, from, to, ok)
		}
	}
}

// TestBottleneck: between 0 and 1 s a port of 1 Mbps sends 50 packets of 1462 bytes, each
// 1500 on the wire: 0.6 of what it can.
func TestBottleneck(t *testing.T) {
	p := results.Point{Flows: []results.Flow{flow(0, 0, sec)}}
	for i := range 5 {
		p.Queues = append(p.Queues, results.QueueSample{
			At: time.Duration(i+1) * sec / 5, Switch: "s1", Port: "h1", Sent: 14620, Packets: 10, Waited: time.Duration(i+1) * ms,
		})
	}
	p.Queues = append(p.Queues, results.QueueSample{At: 2 * sec, Switch: "s1", Port: "h1", Sent: 100, Packets: 1}, results.QueueSample{At: sec, Switch: "s1", Port: "h2", Sent: 7, Packets: 1})
	p.Ports = []results.PortCount{{Switch: "s1", Port: "h1", Sent: 80, Marked: 20, DropsFull: 15, DropsScheme: 5}, {Switch: "s1", Port: "h2", Sent: 1e6, DropsFull: 1e6}}
	m := results.Manifest{Rates: []results.PortRate{{Rate: 1e6}}}
	j := Judge(m, p, Usual())
	if j.Port != "s1 to h1" {
		t.Errorf("the bottleneck is %s", j.Port)
	}
	want(t, j, Utilisation, "", 0.6)
	want(t, j, DelayMean, "", 3000)
	want(t, j, Marks, "", 0.25)
	want(t, j, Losses, "", 0.2)
	none(t, j, DelayP99)
	m.Rates = append(m.Rates, results.PortRate{Switch: "s1", Port: "h1", Rate: 1e6}, results.PortRate{Switch: "s1", Port: "h1", At: results.Micros(sec / 2), Rate: 5e5})
	want(t, Judge(m, p, Usual()), Utilisation, "", 0.8)
	m.Rates = nil
	none(t, Judge(m, p, Usual()), Utilisation)
}

// TestBottleneckIsTheBusiest: of a fast link that carries more, and a slow one that is full,
// the slow one; of two that are as busy, the one with the longer queue.
func TestBottleneckIsTheBusiest(t *testing.T) {
	p := results.Point{Flows: []results.Flow{flow(0, 0, sec)}}
	for _, q := range []results.QueueSample{
		{Switch: "s1", Port: "fast", Sent: 120_000, Packets: 80, PeakBytes: 9000},
		{Switch: "s1", Port: "slow", Sent: 100_000, Packets: 70, PeakBytes: 1500},
		{Switch: "s2", Port: "slow", Sent: 100_000, Packets: 70, PeakBytes: 3000},
	} {
		q.At = sec
		p.Queues = append(p.Queues, q)
	}
	m := results.Manifest{Rates: []results.PortRate{{Rate: 1e6}, {Switch: "s1", Port: "fast", Rate: 1e7}}}
	if j := Judge(m, p, Usual()); j.Port != "s2 to slow" {
		t.Errorf("%s", j.Port)
	}
	if j := Judge(results.Manifest{}, p, Usual()); j.Port != "s1 to fast" {
		t.Errorf("without rates: %s", j.Port)
	}
}

// TestUseUntilStop: a flow that stops may end later, when what was lost of it is sent again after
// a timeout. That is no time in which the link could have been used: 1 Mbps until the stop
// are all that it can.
func TestUseUntilStop(t *testing.T) {
	p := results.Point{Flows: []results.Flow{flow(0, 0, sec+10*ms), flow(0, 0, 5*sec)}}
	for i := range p.Flows {
		p.Flows[i].Stops, p.Flows[i].Stop = true, sec
	}
	for i := range 50 { // 1 Mbps until the stop, and next to nothing later
		s := results.QueueSample{At: time.Duration(i+1) * 100 * ms, Switch: "s1", Port: "h1", Sent: 12120, Packets: 10}
		if s.At > sec {
			s.Sent, s.Packets = 40, 1
		}
		p.Queues = append(p.Queues, s)
	}
	m := results.Manifest{Rates: []results.PortRate{{Rate: 1e6}}}
	want(t, Judge(m, p, Usual()), Utilisation, "", 1)
	p.Flows[1].Stops, p.Flows[1].Stop = false, 0 // it had more to send
	if got, _ := Judge(m, p, Usual()).Of(Utilisation, ""); got > 0.21 {
		t.Errorf("%v used", got)
	}
}

// TestUsage: a link of 1 Mbps, then of 2 Mbps for the second half of 2 s, and down for the
// last quarter, of which nothing is told.
func TestUsage(t *testing.T) {
	port := results.PortName{Switch: "s1", Port: "h1"}
	var samples []results.QueueSample
	for i := range 20 {
		samples = append(samples, results.QueueSample{At: time.Duration(i+1) * 100 * ms, Switch: "s1", Port: "h1", Sent: 5962, Packets: 1}) // 480 kbps
	}
	samples = append(samples, results.QueueSample{At: sec, Switch: "s1", Port: "h2", Sent: 1e6, Packets: 1})
	m := results.Manifest{Rates: []results.PortRate{{Rate: 1e6}, {Switch: "s1", Port: "h1", Rate: 1e6}, {Switch: "s1", Port: "h1", At: results.Micros(sec), Rate: 2e6}, {Switch: "s1", Port: "h1", At: results.Micros(1500 * ms)}}}
	got := Usage(m, samples, port, 2*sec, 4)
	want := []results.XY{{X: 250_000, Y: 0.48}, {X: 750_000, Y: 0.48}, {X: 1_250_000, Y: 0.24}}
	if len(got) != len(want) {
		t.Fatalf("%v", got)
	}
	for i := range want {
		if math.Abs(got[i].X-want[i].X) > 1e-6 || math.Abs(got[i].Y-want[i].Y) > 1e-9 {
			t.Errorf("part %d: %v, want %v", i, got[i], want[i])
		}
	}
	if Usage(results.Manifest{}, samples, port, sec, 4) != nil {
		t.Error("usage without rates")
	}
}

// TestDelaysByClass: 99 packets of DSCP 0 waited at most 1 ms and one 9 ms, and 100 of
// DSCP 1 at most 3 ms, all in one queue. Percentiles are nearest-rank.
func TestDelaysByClass(t *testing.T) {
	p := results.Point{Flows: []results.Flow{flow(0, 0, sec)}}
	p.Queues = []results.QueueSample{{At: sec, Switch: "s1", Port: "h1", Sent: 200, Packets: 200, Waited: 2 * ms}}
	p.Classes = []results.ClassCount{
		{Switch: "s1", Port: "h1", DSCP: 1, Sent: 100, Marked: 50, Waited: 250 * ms, Longest: 2900 * time.Microsecond},
		{Switch: "s1", Port: "h1", DSCP: 0, Sent: 100, DropsFull: 25, Waited: 108 * ms, Longest: 9 * ms},
		{Switch: "s1", Port: "h2", DSCP: 0, Sent: 5, Waited: sec, Longest: sec},
	}
	p.Delays = []results.DelayCount{
		{Switch: "s1", Port: "h1", DSCP: 0, UpTo: ms, Packets: 99}, {Switch: "s1", Port: "h1", DSCP: 0, UpTo: 9100 * time.Microsecond, Packets: 1},
		{Switch: "s1", Port: "h1", DSCP: 1, UpTo: 3 * ms, Packets: 100}, {Switch: "s1", Port: "h2", DSCP: 0, UpTo: sec, Packets: 5},
	}
	j := Judge(results.Manifest{}, p, Usual())
	for measure, all := range map[string][3]float64{ // of DSCP 0, DSCP 1, and both
		DelayMean: {1080, 2500, 2000}, DelayP50: {1000, 2900, 3000}, DelayP95: {1000, 2900, 3000},
		DelayP99: {1000, 2900, 3000}, DelayP999: {9000, 2900, 9000},
	} {
		for i, of := range []string{"queue 0", "queue 0, DSCP 1", ""} {
			want(t, j, measure, of, all[i])
		}
	}
	want(t, j, Losses, "queue 0", 0.2)
	want(t, j, Marks, "queue 0, DSCP 1", 0.5)
}

func TestMeasures(t *testing.T) {
	for _, m := range Measures() {
		if m.Doc == "" || m.Better != "" && m.Better != results.Lower && m.Better != results.Higher {
			t.Errorf("%+v", m)
		}
		if got, ok := MeasureOf(m.Name); !ok || got != m {
			t.Errorf("%s is %+v", m.Name, got)
		}
	}
	if m := (Value{Measure: DelayP99, Of: "queue 0, DSCP 1"}).Metric(); m.Name != "coexistence.delay.p99.queue-0-DSCP-1" || m.Unit != "us" || !m.Lower || m.Doc != "queue 0, DSCP 1: their 99th percentile" {
		t.Errorf("%+v", m)
	}
	if m := (Value{Measure: Jain}).Metric(); m.Name != "coexistence.jain" || m.Lower {
		t.Errorf("%+v", m)
	}
	if _, ok := MeasureOf("beauty"); ok {
		t.Error("there is a measure that is not")
	}
}
