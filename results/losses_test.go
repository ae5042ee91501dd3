package results

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

// lossy is a point of three completed flows, of which two met a timeout, and of
// one that did not complete.
func lossy() Point {
	p := Point{Scheme: "red", Load: 0.5, Seed: 1}
	for i, bytes := range []int64{1000, 2000, 20_000_000, 3000} {
		p.Flows = append(p.Flows, Flow{ID: int64(i), Start: time.Duration(i), Bytes: bytes, Received: bytes, FCT: time.Millisecond})
	}
	p.Flows[0].Retransmits, p.Flows[0].Timeouts = 3, 1
	p.Flows[2].Retransmits, p.Flows[2].Timeouts = 40, 2
	p.Flows[3].Received, p.Flows[3].FCT, p.Flows[3].Timeouts, p.Flows[3].Error = 0, 0, 9, "not finished"
	p.Ports = []PortCount{{Switch: "s1", Port: "h1", DropsFull: 5, DropsScheme: 7}}
	p.Links = []LinkCount{{From: "s1", To: "h1", Lost: 11}}
	p.Hosts = []HostCount{{Host: "h2", Timeouts: 12, Retransmits: 43}}
	return p
}

// Flows that did not complete have no FCT that a timeout could explain.
func TestTimedOutCountsCompletedFlows(t *testing.T) {
	want := map[Class]int{All: 2, Small: 1, Medium: 0, Large: 1}
	if got := TimedOut(lossy().Flows); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	unknown := lossy().Flows
	unknown[1].Timeouts = Unknown
	if got := TimedOut(unknown); got != nil {
		t.Errorf("got %v where one flow was not counted", got)
	}
	if got := TimedOut(nil); got != nil {
		t.Errorf("got %v of no flows", got)
	}
}

// What a flow lost is stored, and that it was not counted as well.
func TestStoredFlowsKeepTheirLosses(t *testing.T) {
	p := lossy()
	p.Flows[1].Retransmits, p.Flows[1].Timeouts = Unknown, Unknown
	m := manifest()
	m.Schemes, m.Baseline = []string{"red"}, "red"
	run := stored(t, m, []Point{p})
	got, err := run.Points()[0].ReadFlows()
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Flows, p.Flows) {
		t.Errorf("read\n%+v\nwant\n%+v", got.Flows, p.Flows)
	}
}

// The table tells drops by their reason and from losses on links.
func TestTableShowsLosses(t *testing.T) {
	c, err := Compare([]Point{lossy()}, "")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := Table(&b, c, TableOptions{}); err != nil {
		t.Fatal(err)
	}
	want := "" +
		"lost     no room    by AQM  on links    resent  flows with a timeout\n" +
		"red            5         7        11        43  2\n"
	if !strings.Contains(b.String(), want) {
		t.Errorf("got\n%s\nwithout\n%s", b.String(), want)
	}
	quiet := lossy()
	quiet.Ports[0].DropsScheme, quiet.Links = 0, nil
	if c, err = Compare([]Point{quiet}, ""); err != nil {
		t.Fatal(err)
	}
	b.Reset()
	if err := Table(&b, c, TableOptions{}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "by AQM") {
		t.Errorf("drops for want of room alone make a second table:\n%s", b.String())
	}
}
