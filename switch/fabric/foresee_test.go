package fabric

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/packet"
	"aqmlab/switch/port"
	"aqmlab/units"
)

// TestForeseen: ports that tell ahead when packets leave deliver, mark, drop and count the
// same as those that are asked each time, whenever one looks. Times are coarse, so that
// arrivals, departures and looks fall into the same instants.
func TestForeseen(t *testing.T) {
	for name, scheme := range map[string]kind.Choice{
		"droptail":  {Kind: "droptail"},
		"threshold": {Kind: "dctcp-red", Params: map[string]any{"threshold": "6KB"}},
		"arriving":  {Kind: "dctcp-red", Params: map[string]any{"threshold": "6KB", "count_arriving": true}},
	} {
		for _, lengths := range []packet.Lengths{packet.IP, packet.Wire} {
			spec := star(5, 8*units.Gbps, 10*us) // a byte a nanosecond
			spec.Port.Queues, spec.Port.Scheduler = 1, kind.Choice{Kind: "fifo"}
			spec.Port.Buffer, spec.Port.Scheme, spec.Port.Lengths = 15*units.KB, scheme, lengths
			asked, foreseen := newRig(t, spec), newRig(t, spec)
			foreseen.Foresee()
			if n := len(foreseen.foreseen); n != 5 {
				t.Fatalf("%s: %d ports tell ahead", name, n)
			}
			asks, foresees := load(asked), load(foreseen)
			if !slices.Equal(asked.log, foreseen.log) || len(asked.log) < 1000 {
				t.Errorf("%s, lengths %d: %d and %d packets were delivered, or at other times", name, lengths, len(asked.log), len(foreseen.log))
			}
			if !reflect.DeepEqual(asks, foresees) {
				t.Errorf("%s, lengths %d: the ports were not alike", name, lengths)
			}
		}
	}
}

// look is what a port tells.
type look struct {
	at                 time.Duration
	bytes, queue, held int
	peak               int
	longest            time.Duration
	count              port.Count
}

// load sends bursts to one host and looks at its port now and then.
func load(r *rig) (looks []look) {
	rng := rand.New(rand.NewPCG(11, 1))
	p := r.Ports()[0]
	for at := time.Duration(0); at < 2*time.Millisecond; at += 500 {
		r.RunUntil(at - 1)
		if rng.IntN(3) == 0 {
			r.Settle(at)
			looks = append(looks, look{at, p.Bytes(), p.QueueBytes(0), p.QueuePackets(0), p.TakePeak(0), p.TakeLongest(0), p.Count(0)})
		}
		for range rng.IntN(3) * rng.IntN(2) {
			k := r.pool.Get()
			k.Src, k.Dst, k.Size, k.DSCP, k.ECN = int32(1+rng.IntN(4)), 0, int32([]int{462, 962, 1462}[rng.IntN(3)]), 0, packet.ECT0
			r.Send(at, int(k.Src), k)
		}
	}
	r.RunUntil(time.Second)
	r.Settle(time.Second)
	return append(looks, look{count: p.Count(0), peak: p.TakePeak(0), longest: p.TakeLongest(0), held: p.QueuePackets(0)})
}

// TestAskedWhereItMatters: ports are asked when packets leave where that is not certain
// before: where the scheme looks at packets that leave, where the scheduler may choose, where
// the link changes, where flow control may stop it, where ports share memory, and where
// somebody watches.
func TestAskedWhereItMatters(t *testing.T) {
	for name, change := range map[string]func(s *Spec){
		"scheme":       func(s *Spec) { s.Port.Scheme = kind.Choice{Kind: "tcn", Params: map[string]any{"threshold": "50us"}} },
		"ramp":         func(s *Spec) { s.Port.Scheme.Params = map[string]any{"kmin": "2KB", "kmax": "12KB", "pmax": 0.5} },
		"dequeue":      func(s *Spec) { s.Port.Scheme.Params = map[string]any{"threshold": "6KB", "at": "dequeue"} },
		"scheduler":    func(s *Spec) { s.Port.Queues, s.Port.Scheduler.Kind = 2, "dwrr" },
		"jitter":       func(s *Spec) { s.Links[0].Jitter = us },
		"flow control": func(s *Spec) { s.Pause = Pause{XOff: 10 * units.KB, XOn: 5 * units.KB} },
		"memory":       func(s *Spec) { s.Port.Sharing.Kind = "pool" },
		"limiter":      func(s *Spec) { s.Port.Limiter = port.Limiter{RateFraction: 0.5, Bucket: 2500} },
	} {
		spec := star(3, 10*units.Gbps, 10*us)
		spec.Port.Queues, spec.Port.Scheduler = 1, kind.Choice{Kind: "fifo"}
		spec.Port.Scheme = kind.Choice{Kind: "dctcp-red", Params: map[string]any{"threshold": "6KB"}}
		change(&spec)
		r := newRig(t, spec)
		r.Foresee()
		if tx := r.makings[0].tx; tx.plans.On() {
			t.Errorf("%s: a port tells ahead when packets leave", name)
		}
	}
	spec := star(3, 10*units.Gbps, 10*us)
	spec.Port.Queues, spec.Port.Scheduler, spec.Port.Scheme = 1, kind.Choice{Kind: "fifo"}, kind.Choice{Kind: "droptail"}
	r := newRig(t, spec)
	r.Ports()[1].Watch(func(time.Duration, int, *packet.Packet, port.Fate) {})
	if r.Foresee(); len(r.foreseen) != 2 {
		t.Errorf("%d ports tell ahead of three, of which one is watched", len(r.foreseen))
	}
}
