package fabric

import (
	"slices"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/event"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// spent is an edge that writes down what packets have waited on their way.
type spent []time.Duration

func (s *spent) Deliver(_ time.Duration, _ int, k *packet.Packet) {
	*s = append(*s, time.Duration(k.Spent))
}

// TestSlackAlongAPath: a packet's slack is used up by all that it waits at the switches
// of its path, and by nothing from before. Packets take 12.304 us to the first switch,
// 123.04 us to the second and 246.08 us from there: the second waits 110.736 and 123.04
// us, the third 221.472 and 246.08 us.
func TestSlackAlongAPath(t *testing.T) {
	spec := star(1, units.Gbps, 0)
	spec.Switches = append(spec.Switches, "s2")
	spec.Links = append(spec.Links, Link{A: "s1", B: "s2", Rate: 100 * units.Mbps}, Link{A: "h2", B: "s2", Rate: 50 * units.Mbps})
	spec.Hosts = star(2, units.Gbps, 0).Hosts
	spec.Port.Scheduler = kind.Choice{Kind: "pifo", Params: map[string]any{"rank": "lstf", "by": "flow", "slacks": []any{"1ms"}, "slack": "path"}}
	var loop event.Loop
	var pool packet.Pool
	var got spent
	n, err := New(&loop, spec, Attachment{Edge: &got, Release: pool.Put})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		k := pool.Get()
		k.Src, k.Dst, k.Size, k.Spent = 0, 1, 1500, 77
		n.Send(0, 0, k)
	}
	loop.RunUntil(time.Second)
	if want := (spent{0, 233776, 467552}); !slices.Equal(got, want) {
		t.Errorf("packets waited %v, want %v", got, want)
	}
}
