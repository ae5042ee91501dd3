package sim

import (
	"math"
	"testing"

	"aqmlab/kind"
	"aqmlab/results"
	"aqmlab/sim/rdma"
	"aqmlab/trafficgen/transport"
	"aqmlab/units"
)

// TestSendersOfOneFlow: a flow that meets no mark begins with the initial window
// and an alpha of one (RFC 6928; RFC 8257, section 3.3) and doubles its window in
// slow start, and alpha decays by the sixteenth part once a window.
func TestSendersOfOneFlow(t *testing.T) {
	c := star(2)
	c.Flows = pushed(flow(7, 0, 1, 400_000))
	c.Senders = 10 * us
	_, o := simulate(t, c)
	completed(t, o)
	if len(o.Senders) < 100 {
		t.Fatalf("%d samples in the 3 ms and more that 400 KB take at 1 Gbps", len(o.Senders))
	}
	first, last := o.Senders[0], o.Senders[len(o.Senders)-1]
	want := results.SenderSample{At: 10 * us, Flow: 7, Cwnd: 10 * mss, Alpha: 1}
	if first != want {
		t.Errorf("the first sample is %+v, want %+v", first, want)
	}
	windows := math.Log(last.Alpha) / math.Log(1-1.0/16)
	if last.SSThresh != 0 || last.Cwnd < 40*mss || last.SRTT < 40*us || windows < 2 || math.Abs(windows-math.Round(windows)) > 1e-9 {
		t.Errorf("the last sample is %+v, with alpha decayed %v times", last, windows)
	}
	for i, s := range o.Senders {
		if i > 0 && (s.Cwnd < o.Senders[i-1].Cwnd || s.Alpha > o.Senders[i-1].Alpha || s.At != o.Senders[i-1].At+10*us) {
			t.Errorf("sample %d, %+v, after %+v", i, s, o.Senders[i-1])
		}
	}
}

// TestSendersOfMarkedFlows: marks set a threshold, and each control tells what it
// keeps. A sender with a rate has no window.
func TestSendersOfMarkedFlows(t *testing.T) {
	marked := star(3)
	marked.Fabric.Port.Scheme = kind.Choice{Kind: "dctcp-red", Params: map[string]any{"threshold": "20KB"}}
	marked.Flows = pushed(flow(0, 0, 1, 2_000_000), flow(1, 0, 2, 2_000_000))
	marked.Senders = 100 * us
	_, o := simulate(t, marked)
	last := o.Senders[len(o.Senders)-1]
	if last.SSThresh == 0 || last.Alpha <= 0 || last.Alpha >= 1 {
		t.Errorf("two marked flows end with %+v", last)
	}
	reno := marked
	config := *marked.TCP
	config.Control, reno.TCP = kind.Choice{Kind: "reno"}, &config
	if _, o = simulate(t, reno); o.Senders[0].Alpha != results.Unknown || o.Senders[0].Cwnd == 0 {
		t.Errorf("Reno has %+v", o.Senders[0])
	}
	params, err := transport.Table().New("dcqcn", nil, struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	roce := marked
	roce.TCP, roce.RDMA = nil, &rdma.Config{DCQCN: params.DCQCN, MTU: 1500, RTO: 4 * ms}
	for range roce.Fabric.Hosts {
		roce.RDMA.Uplinks = append(roce.RDMA.Uplinks, units.Gbps)
	}
	_, o = simulate(t, roce)
	last = o.Senders[len(o.Senders)-1]
	if o.Senders[0].Rate != int64(units.Gbps) || last.Rate >= int64(units.Gbps) || last.Cwnd != 0 || last.Alpha <= 0 || last.Alpha > 1 {
		t.Errorf("DCQCN begins with %+v and ends with %+v", o.Senders[0], last)
	}
}
