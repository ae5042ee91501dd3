package testbed

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"aqmlab/labs"
	"aqmlab/orchestrator/netns"
	"aqmlab/results"
	"aqmlab/switch/fabric"
)

const ms = time.Millisecond

// TestBasePairs: who sends is spread over the lab, who receives stands as far
// away as any host does, and nobody talks to himself.
func TestBasePairs(t *testing.T) {
	fixed := labs.RTT{Min: ms, Max: ms}
	perHost := labs.RTT{Min: ms, Max: 2 * ms, Per: "host"}
	perFlow := labs.RTT{Min: ms, Max: 2 * ms, Per: "flow"}
	tests := map[string]struct {
		rtt            labs.RTT
		hosts          int
		senders, pairs int
		dilation       float64 // zero: 1
	}{
		"two hosts":           {fixed, 2, 2, 2, 0},
		"three hosts":         {fixed, 3, 3, 3, 0},
		"many hosts":          {fixed, 144, 16, 16, 0},
		"each host":           {perHost, 144, 144, 144, 0},
		"thousands of hosts":  {perHost, 10_000, 256, 256, 0},
		"flows":               {perFlow, 9, 9, 9 * 7, 0},
		"flows of many hosts": {perFlow, 144, 144, 144, 0},
		// A connection takes six round trips of 2 ms, and all together at most 15 s.
		"flows, slowly":      {perFlow, 9, 9, 9 * 7, 7},
		"flows, more slowly": {perFlow, 9, 9, 9 * 2, 50},
		"flows, for hours":   {perFlow, 9, 9, 9, 1e6},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			pairs := basePairs(tt.rtt, tt.hosts, max(1, tt.dilation))
			senders := map[int]bool{}
			for _, p := range pairs {
				senders[p[0]] = true
				apart := (p[1] - p[0] + tt.hosts) % tt.hosts
				if p[0] < 0 || p[0] >= tt.hosts || apart != tt.hosts/2 {
					t.Errorf("pair %v of %d hosts", p, tt.hosts)
				}
			}
			if len(pairs) != tt.pairs || len(senders) != tt.senders {
				t.Errorf("%d pairs of %d senders, want %d of %d", len(pairs), len(senders), tt.pairs, tt.senders)
			}
			if last := pairs[len(pairs)-1][0]; last < tt.hosts-1-tt.hosts/tt.senders {
				t.Errorf("the last sender of %d hosts is number %d", tt.hosts, last)
			}
		})
	}
}

// TestBySender: connections of a host are summed up, beside what they should
// have had.
func TestBySender(t *testing.T) {
	tb := &Testbed{}
	tb.net = &netns.Lab{Hosts: []netns.Host{{Name: "h1"}, {Name: "h2"}, {Name: "h3"}}}
	all := []timedConnection{{0, 1, 12 * ms, 11 * ms}, {0, 1, 16 * ms, 15 * ms}, {2, 3, 10 * ms, 10 * ms}}
	span := func(mean, least, most time.Duration) results.RTTSpan {
		return results.RTTSpan{Mean: results.Micros(mean), Min: results.Micros(least), Max: results.Micros(most)}
	}
	want := []results.BaseRTT{
		{Seed: 7, Host: "h1", Connections: 2, Measured: span(14*ms, 12*ms, 16*ms), Lab: span(13*ms, 11*ms, 15*ms)},
		{Seed: 7, Host: "h3", Connections: 1, Measured: span(10*ms, 10*ms, 10*ms), Lab: span(10*ms, 10*ms, 10*ms)},
	}
	if got := tb.bySender(7, all); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
	if got := excess(all); got != ms {
		t.Errorf("excess %v, want 1 ms", got)
	}
}

// TestOneWay: of the paths with the fewest links the fastest counts.
func TestOneWay(t *testing.T) {
	links := []fabric.Link{
		{A: "h1", B: "l1", Delay: ms}, {A: "h2", B: "l1", Delay: 2 * ms}, {A: "h3", B: "l2", Delay: 4 * ms},
		{A: "l1", B: "p1", Delay: 30 * ms}, {A: "l2", B: "p1", Delay: 10 * ms},
		{A: "p2", B: "l1", Delay: 8 * ms}, {A: "l2", B: "p2", Delay: 16 * ms},
		{A: "l1", B: "x", Delay: 0}, {A: "x", B: "y", Delay: 0}, {A: "y", B: "l2", Delay: 0},
	}
	for _, tt := range []struct {
		from, to string
		want     time.Duration
	}{
		{"h1", "h2", 3 * ms}, {"h1", "h3", 29 * ms}, {"h3", "h2", 30 * ms}, {"h1", "nowhere", 0},
	} {
		if got := oneWay(links, tt.from, tt.to); got != tt.want {
			t.Errorf("%s to %s: %v, want %v", tt.from, tt.to, got, tt.want)
		}
	}
}

// TestDelaysByKernel: netem is for what is drawn, where it is, and where it may
// be.
func TestDelaysByKernel(t *testing.T) {
	needRoot(t)
	missing := netns.CanDelay()
	for by, want := range map[string]bool{labs.ByAny: missing == nil, labs.ByNetem: missing == nil, labs.ByDelayLine: false, "": false} {
		rtt := labs.RTT{Min: ms, Max: 2 * ms, By: by}
		if by == "" {
			rtt.Max = rtt.Min
		}
		if got, err := delaysByKernel(&labs.Lab{RTT: rtt}, true); by != labs.ByNetem && (got || err != nil) {
			t.Errorf("by %q: %v, %v in a lab that stays, whose RTTs may change", by, got, err)
		}
		got, err := delaysByKernel(&labs.Lab{RTT: rtt}, false)
		if fails := by == labs.ByNetem && missing != nil; got != want || (err != nil) != fails {
			t.Errorf("by %q: %v, %v; want %v (netem: %v)", by, got, err, want, missing)
		}
		if err != nil && !strings.Contains(err.Error(), "rtt.by is netem: ") {
			t.Errorf("error %q", err)
		}
	}
}

// TestFabricOfATestbed: the overhead is taken off the hosts' links, which a round
// trip crosses four times however many others there are.
func TestFabricOfATestbed(t *testing.T) {
	lab := parse(t, `
topology: {kind: leaf-spine, leaves: 2, spines: 1, hosts_per_leaf: 2, rate: 1Gbps}
rtt: 800us
schemes: [{name: droptail, aqm: droptail}]
`)
	tb := &Testbed{lab: lab, dilation: 4, overhead: 800 * time.Microsecond}
	tb.net = &netns.Lab{Hosts: []netns.Host{{Name: "h1"}, {Name: "h2"}, {Name: "h3"}, {Name: "h4"}}}
	spec, err := tb.fabric("droptail", 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range spec.Links {
		want := 100 * time.Microsecond
		if strings.HasPrefix(l.A, "h") {
			want -= 50 * time.Microsecond // 800 us / 4 of lab time, at four crossings
		}
		if l.Delay != want {
			t.Errorf("link %s %s has %v, want %v", l.A, l.B, l.Delay, want)
		}
	}
}

// TestBaseIsCalm: what links do by chance is in no base RTT.
func TestBaseIsCalm(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pair.clab.yml")
	const pair = `
name: pair
topology:
  nodes: {h1: {kind: linux}, h2: {kind: linux}, s1: {kind: linux}}
  links:
    - {endpoints: ["h1:eth1", "s1:eth1"], labels: {aqmlab.delay: 5ms, aqmlab.jitter: 1s, aqmlab.loss: 20%}}
    - {endpoints: ["h2:eth1", "s1:eth2"], labels: {aqmlab.delay: 5ms}}
`
	if err := os.WriteFile(file, []byte(pair), 0o600); err != nil {
		t.Fatal(err)
	}
	tb := testbed(t, parse(t, `
name: calm
topology: {kind: containerlab, file: `+file+`, rate: 100Mbps}
schemes: [{name: droptail, aqm: droptail}]
dilation: 2
`))
	all, err := tb.timeBase(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if p.want != 20*ms || p.rtt < p.want || p.rtt > 100*ms {
			t.Errorf("host %d measured %v, wanted %v; want 20 ms", p.sender, p.rtt, p.want)
		}
	}
}

func TestWallDelays(t *testing.T) {
	got := wallDelays([]fabric.Host{{Delays: []time.Duration{ms, 3 * ms}}, {}}, 2.5)
	if want := [][]time.Duration{{2500 * time.Microsecond, 7500 * time.Microsecond}, nil}; !reflect.DeepEqual(got, want) {
		t.Errorf("delays %v, want %v", got, want)
	}
}

// TestCalibrateDrawnRTTs: each sender, or each connection, has the base RTT that
// was drawn for it, and the run says who made it.
func TestCalibrateDrawnRTTs(t *testing.T) {
	for _, per := range []string{"host", "flow"} {
		t.Run(per, func(t *testing.T) {
			lab := parse(t, strings.Replace(small, "rtt: 2ms", "rtt: {min: 4ms, max: 12ms, distribution: uniform, per: "+per+"}", 1))
			lab.Seeds = lab.Seeds[:1]
			tb := testbed(t, lab)
			c, err := tb.Calibrate(t.Context(), func(text string) { t.Log(text) })
			if err != nil {
				t.Fatal(err)
			}
			if len(c.RTTs) != 3*len(lab.Seeds) {
				t.Fatalf("%d measurements of 3 hosts and %d seeds", len(c.RTTs), len(lab.Seeds))
			}
			connections := len(basePairs(lab.RTT, 3, tb.dilation)) / 3
			for _, r := range c.RTTs {
				// Wide, for a machine that does other things as well.
				if off := math.Abs(float64(r.Measured.Mean)/float64(r.Lab.Mean) - 1); off > 0.1 || r.Connections != connections {
					t.Errorf("base RTTs %+v, want %d connections within 10 %%", r, connections)
				}
			}
			if off := math.Abs(float64(c.BaseRTT)/float64(4*ms) - 1); off > 0.1 {
				t.Errorf("base RTT %v without what is drawn, want 4 ms", c.BaseRTT)
			}
			m, by := tb.manifest(c), results.RTTByDelayLine
			if netns.CanDelay() == nil {
				by = results.RTTByNetem
			}
			if m.RTTBy != by || !reflect.DeepEqual(m.BaseRTTs, c.RTTs) {
				t.Errorf("manifest %+v, want RTTs by %s", m, by)
			}
			if text := tb.describe(c); !strings.HasSuffix(text, "and up to 8ms more, by "+by) {
				t.Errorf("described as %q", text)
			}
		})
	}
}
