package fabric

import (
	"cmp"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/event"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// lossyFabric has two leaves with two hosts each, and two spines. One link loses
// packets, another has jitter; ports mark by chance.
func lossyFabric() Spec {
	s := Spec{Switches: []string{"l1", "l2", "s1", "s2"}, Port: plainPort(), Seed: 7}
	s.Port.Scheme = kind.Choice{Kind: "red", Params: map[string]any{"min": "3KB", "max": "30KB", "pmax": 0.5, "weight": 1.0}}
	for i := range 4 {
		name := fmt.Sprintf("h%d", i+1)
		s.Hosts = append(s.Hosts, Host{Name: name, Addr: netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)}), Delays: []time.Duration{time.Duration(i) * us}})
		s.Links = append(s.Links, Link{A: name, B: s.Switches[i/2], Rate: units.Gbps, Delay: us})
	}
	for _, leaf := range s.Switches[:2] {
		for _, spine := range s.Switches[2:] {
			s.Links = append(s.Links, Link{A: leaf, B: spine, Rate: units.Gbps, Delay: 3 * us})
		}
	}
	s.Links[5].LossRate, s.Links[6].Jitter = 0.1, 2*us
	return s
}

// crossing is what an edge or a port saw of a packet.
type crossing struct {
	at   time.Duration
	host int
	flow uint32
	ce   bool
}

// parts are networks that together are one, on one loop.
type parts struct {
	loop   event.Loop
	pool   packet.Pool
	spec   Spec
	by     map[string]*Network // by the switch that they carry; "" carries all
	log    []crossing
	counts []PortCount
}

func (p *parts) Deliver(now time.Duration, host int, k *packet.Packet) {
	p.log = append(p.log, crossing{now, host, k.Hash, k.ECN == packet.CE})
	p.pool.Put(k)
}

func newParts(t *testing.T, spec Spec, switches ...string) *parts {
	t.Helper()
	p := &parts{spec: spec, by: map[string]*Network{}}
	for _, name := range switches {
		mine := spec
		mine.Only = name
		n, err := New(&p.loop, mine, Attachment{Edge: p, Release: p.pool.Put, Beyond: func(now time.Duration, trunk int, k *packet.Packet) {
			far := spec.Links[trunk].A
			if far == name {
				far = spec.Links[trunk].B
			}
			p.by[far].Arrive(now, trunk, k)
		}})
		if err != nil {
			t.Fatal(err)
		}
		p.by[name] = n
	}
	return p
}

// run sends 2000 packets among all hosts, at twice what the links carry.
func (p *parts) run(t *testing.T) {
	t.Helper()
	for i := range 2000 {
		src := i % 4
		leaf := ""
		if len(p.by) > 1 {
			leaf = p.spec.Switches[src/2]
		}
		k := p.pool.Get()
		k.Src, k.Dst, k.Hash, k.ECN = int32(src), int32((src+1+i%3)%4), uint32(i*2654435761), packet.ECT0
		k.Size = int32(200 + i*i%1301) // no two at once anywhere: that order is not part of the specification
		p.by[leaf].Send(time.Duration(i)*1009, src, k)
	}
	p.loop.RunUntil(time.Second)
	for _, n := range p.by {
		p.counts = append(p.counts, n.Counts()...)
		if n.Clamped() > 0 {
			t.Errorf("%d packets clamped", n.Clamped())
		}
	}
	slices.SortFunc(p.counts, func(a, b PortCount) int {
		return cmp.Or(strings.Compare(a.Switch, b.Switch), strings.Compare(a.Far, b.Far))
	})
}

// TestParts: switches that are networks of their own are together the network
// that carries all of them, packet by packet.
func TestParts(t *testing.T) {
	spec := lossyFabric()
	whole, split := newParts(t, spec, ""), newParts(t, spec, spec.Switches...)
	whole.run(t)
	split.run(t)
	marked := slices.ContainsFunc(whole.log, func(c crossing) bool { return c.ce })
	if !marked || len(whole.log) < 1000 || len(whole.log) == 2000 {
		t.Errorf("%d packets of 2000 arrived, marked: %v: want some lost, and some marked", len(whole.log), marked)
	}
	if !slices.Equal(whole.log, split.log) {
		t.Errorf("parts deliver %d packets otherwise than the whole its %d", len(split.log), len(whole.log))
	}
	if !reflect.DeepEqual(whole.counts, split.counts) {
		t.Errorf("parts count\n%+v\nthe whole\n%+v", split.counts, whole.counts)
	}
}

func TestEdges(t *testing.T) {
	for only, want := range map[string][2][]int{
		"":   {{0, 1, 2, 3}, nil},
		"l2": {{2, 3}, {6, 7}},
		"s1": {nil, {4, 6}},
	} {
		spec := lossyFabric()
		spec.Only = only
		if hosts, trunks := spec.Edges(); !slices.Equal(hosts, want[0]) || !slices.Equal(trunks, want[1]) {
			t.Errorf("part %q ends at hosts %v and trunks %v, want %v", only, hosts, trunks, want)
		}
	}
}

// A packet that comes by a trunk and is noticed late enters at once, in its
// order, and is counted.
func TestArriveLate(t *testing.T) {
	spec := lossyFabric()
	p := newParts(t, spec, "l1")
	n := p.by["l1"]
	p.loop.RunUntil(100 * us)
	for _, at := range []time.Duration{50 * us, 99 * us, 90 * us} {
		k := p.pool.Get()
		k.Dst, k.Size = 0, 1500
		n.Arrive(at, 4, k)
	}
	p.loop.RunUntil(time.Second)
	const onWire = 12304 * time.Nanosecond
	first := 100*us + onWire + us // the others find the port busy
	want := []time.Duration{first, first + onWire, first + 2*onWire}
	for i, c := range p.log {
		if c.at != want[i] {
			t.Errorf("packet %d at %v, want %v", i, c.at, want[i])
		}
	}
	if len(p.log) != 3 || n.Clamped() != 1 {
		t.Errorf("%d packets, %d clamped: want 3 and 1", len(p.log), n.Clamped())
	}
}

func TestBadParts(t *testing.T) {
	spec := lossyFabric()
	for _, tt := range []struct {
		only  string
		pause Pause
		want  string
	}{
		{"x9", Pause{}, "part x9: no such switch"},
		{"l1", Pause{XOff: units.KB}, "flow control"},
	} {
		spec.Only, spec.Pause = tt.only, tt.pause
		if _, err := New(&event.Loop{}, spec, Attachment{}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("part %s: error %v, want %q", tt.only, err, tt.want)
		}
	}
}
