package fabric

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/switch/event"
	"aqmlab/units"
)

// word is what flow control told a host.
type word struct {
	at   time.Duration
	host int
	stop bool
}

// newPauseRig is a rig that writes down the words to its hosts.
func newPauseRig(t testing.TB, spec Spec) (*rig, *[]word) {
	t.Helper()
	r, words := &rig{}, &[]word{}
	n, err := New(&r.Loop, spec, Attachment{Edge: r, Release: r.pool.Put, Stopped: func(now time.Duration, host int, stop bool) {
		*words = append(*words, word{now, host, stop})
	}})
	if err != nil {
		t.Fatal(err)
	}
	r.Network = n
	return r, words
}

// TestPauseByHand: one host sends 30 packets at 10 Gbps (1.2304 us each) into a
// port of 1 Gbps (12.304 us each); links delay by 10 us. The switch holds more
// than three packets once the fifth has come, at 16.152 us. The host hears of it
// 10 us later, in the middle of the 22nd. One packet is left in the switch when
// 21 have gone on. Then the same happens with the last eight.
func TestPauseByHand(t *testing.T) {
	spec := star(2, 10*units.Gbps, 10*us)
	spec.Links[1].Rate = units.Gbps
	spec.Pause = Pause{XOff: 4500, XOn: 1500}
	r, words := newPauseRig(t, spec)
	for range 30 {
		r.send(0, 0, 1, 1500)
	}
	r.RunUntil(time.Second)
	const fast, slow = 12304 * time.Nanosecond / 10, 12304 * time.Nanosecond
	first := fast + 10*us // when the port began to send
	goOn := first + 20*slow + 10*us
	want := []word{
		{5*fast + 20*us, 0, true},
		{goOn, 0, false},
		{goOn + 5*fast + 20*us, 0, true},
		{first + 28*slow + 10*us, 0, false},
	}
	if !slices.EqualFunc(*words, want, func(a, b word) bool {
		return a.host == b.host && a.stop == b.stop && max(a.at-b.at, b.at-a.at) < 10
	}) {
		t.Errorf("told\n%v, want\n%v", *words, want)
	}
	for i, d := range r.log {
		if at := first + time.Duration(i+1)*slow + 10*us; max(d.at-at, at-d.at) > 10 {
			t.Errorf("packet %d arrived at %v, want %v: the port must not run dry", i, d.at, at)
		}
	}
	in := r.Ports()[0].Pauses()
	if stopped := want[1].at - want[0].at + want[3].at - want[2].at; in.Stops != 2 || in.PeakBytes != 19*1500 || max(in.Stopped-stopped, stopped-in.Stopped) > 10 {
		t.Errorf("counted %+v, want 2 stops, 19 packets, %v", in, stopped)
	}
	if len(r.log) != 30 || r.pool.Taken() != 0 {
		t.Errorf("%d delivered, %d held", len(r.log), r.pool.Taken())
	}
}

// incast makes every host but the first send it 200 packets from a time on, all
// of it drawn at random: times, sizes, queues and paths.
func incast(r *rig, hosts int, rng *rand.Rand) (packets int) {
	for h := 1; h < hosts; h++ {
		at := time.Duration(rng.IntN(100)) * us
		for range 200 {
			k := r.pool.Get()
			k.Src, k.Dst, k.Size, k.DSCP = int32(h), 0, int32(64+rng.IntN(1437)), uint8(rng.IntN(4))
			k.Hash = rng.Uint32()
			r.Send(at, h, k)
			packets++
		}
	}
	return packets
}

// racks is 3 leaves with 3 hosts each, and 2 spines.
func racks() Spec {
	s := star(9, 10*units.Gbps, 2*us)
	s.Switches, s.Links = []string{"l1", "l2", "l3", "p1", "p2"}, nil
	for i, h := range s.Hosts {
		s.Links = append(s.Links, Link{A: h.Name, B: s.Switches[i/3], Rate: 10 * units.Gbps, Delay: 2 * us})
	}
	for _, leaf := range s.Switches[:3] {
		for _, spine := range s.Switches[3:] {
			s.Links = append(s.Links, Link{A: leaf, B: spine, Rate: 10 * units.Gbps, Delay: 2 * us})
		}
	}
	return s
}

// lossless gives a fabric flow control, and its ports exactly the memory that
// flow control needs.
func lossless(s Spec, sharing string) Spec {
	s.Pause = Pause{XOff: 20 * units.KB, XOn: 15 * units.KB}
	links := map[string]int{}
	for _, l := range s.Links {
		links[l.A]++
		links[l.B]++
	}
	most := 0
	for _, name := range s.Switches {
		most = max(most, links[name])
	}
	s.Port.Queues, s.Port.Scheduler.Kind, s.Port.Sharing.Kind = 4, "dwrr", sharing
	s.Port.Buffer = units.Size(most) * s.Pause.Peak(s.Links[0], 1500)
	return s
}

// TestPauseIsLossless: with the room that [Pause] asks for nothing is dropped,
// however the packets come, no ingress holds more than [Pause.Peak], the pauses
// reach every sender through all switches between, and all of them are freed
// again. Without flow control the same packets overflow the same buffers.
func TestPauseIsLossless(t *testing.T) {
	for name, spec := range map[string]Spec{"star": star(9, 10*units.Gbps, 2*us), "leaf-spine": racks()} {
		for _, sharing := range []string{"port", "pool"} {
			for seed := range uint64(5) {
				t.Run(fmt.Sprintf("%s/%s/%d", name, sharing, seed), func(t *testing.T) {
					s := lossless(spec, sharing)
					r, words := newPauseRig(t, s)
					sent := incast(r, 9, rand.New(rand.NewPCG(seed, 0)))
					r.RunUntil(time.Second)
					if len(r.log) != sent || r.pool.Taken() != 0 {
						t.Errorf("%d of %d packets arrived, %d are in the network", len(r.log), sent, r.pool.Taken())
					}
					stopped := map[int]bool{}
					for _, w := range *words {
						stopped[w.host] = w.stop
					}
					for h := 1; h < 9; h++ {
						if last, told := stopped[h]; !told || last {
							t.Errorf("host %d: stopped %v, stopped at the end %v", h, told, last)
						}
					}
					checkIntakes(t, r.Network, s)
					s.Pause, s.Port.Buffer = Pause{}, 20*units.KB
					r = newRig(t, s)
					incast(r, 9, rand.New(rand.NewPCG(seed, 0)))
					r.RunUntil(time.Second)
					if len(r.log) == sent {
						t.Error("no loss without flow control: the load is no test")
					}
				})
			}
		}
	}
}

// checkIntakes looks at a network in which all packets have arrived.
func checkIntakes(t *testing.T, n *Network, s Spec) {
	t.Helper()
	for i, c := range n.Counts() {
		if most := int(s.Pause.Peak(s.Links[0], 1500)); c.Pauses.PeakBytes > most {
			t.Errorf("%s from %s held %d bytes, at most %d are allowed", c.Switch, c.Far, c.Pauses.PeakBytes, most)
		}
		if in := n.ports[i].in.intake; in.bytes != 0 || in.paused || in.frames.last || c.Pauses.Stops > 0 != (c.Pauses.Stopped > 0) {
			t.Errorf("%s from %s ends with %d bytes, stopped %v and %v, %+v", c.Switch, c.Far, in.bytes, in.paused, in.frames.last, c.Pauses)
		}
		between := strings.HasPrefix(c.Switch, "p") && c.Far != "l1" || c.Switch == "l1" && strings.HasPrefix(c.Far, "p")
		if between && c.Pauses.Stops == 0 {
			t.Errorf("%s never stopped %s", c.Switch, c.Far)
		}
	}
}

// TestPauseForgetsDrops: what is dropped is not held any more. The buffers are
// too small for flow control, and the scheme drops too.
func TestPauseForgetsDrops(t *testing.T) {
	s := lossless(racks(), "port")
	s.Port.Buffer = 15 * units.KB
	s.Port.Scheme.Kind, s.Port.Scheme.Params = "codel", map[string]any{"action": "drop", "target": "2us", "interval": "20us"}
	r, _ := newPauseRig(t, s)
	sent := incast(r, 9, rand.New(rand.NewPCG(1, 0)))
	r.RunUntil(time.Second)
	var full, scheme int64
	for _, p := range r.Ports() {
		for q := range p.Queues() {
			full += p.Count(q).DropsFull
			scheme += p.Count(q).DropsScheme
		}
	}
	if full == 0 || scheme == 0 || len(r.log)+int(full+scheme) != sent || r.pool.Taken() != 0 {
		t.Errorf("%d arrived and %d+%d dropped of %d, %d held", len(r.log), full, scheme, sent, r.pool.Taken())
	}
	for i, p := range r.ports {
		in := p.in.intake
		if in.bytes != 0 || in.frames.last {
			t.Errorf("port %d ends with %d bytes, halted %v", i, in.bytes, in.frames.last)
		}
	}
}

// TestIdlePauseChangesNothing: flow control that never has to stop anybody
// leaves every packet its time, those included that are noticed late or held
// back by their host.
func TestIdlePauseChangesNothing(t *testing.T) {
	run := func(p Pause) ([]delivery, int64) {
		s := racks()
		s.Hosts[4].Delays = []time.Duration{30 * us, 70 * us}
		s.Pause = p
		r, _ := newPauseRig(t, s)
		rng := rand.New(rand.NewPCG(3, 0))
		for range 5000 {
			r.RunUntil(r.Now() + time.Duration(rng.IntN(2000)))
			k := r.pool.Get()
			k.Src, k.Dst, k.Size, k.DSCP, k.Hash, k.PureACK = int32(rng.IntN(9)), int32(rng.IntN(9)), 1000, 0, rng.Uint32(), false
			if k.Src == k.Dst {
				k.Dst = (k.Dst + 1) % 9
			}
			r.Send(max(0, r.Now()-time.Duration(rng.IntN(4000))), int(k.Src), k)
		}
		r.RunUntil(time.Second)
		if len(r.log) != 5000 {
			t.Fatalf("%d packets arrived", len(r.log))
		}
		return r.log, r.Clamped()
	}
	without, clamped := run(Pause{})
	with, clampedToo := run(Pause{XOff: units.GB, XOn: units.GB})
	if clamped == 0 || clamped != clampedToo || !slices.Equal(without, with) {
		t.Errorf("%d and %d clamped, same deliveries: %v", clamped, clampedToo, slices.Equal(without, with))
	}
}

func TestBadPause(t *testing.T) {
	for _, p := range []Pause{{XOn: 1}, {XOff: 1000, XOn: 1001}, {XOff: -1}, {XOff: 1000, XOn: -1}} {
		s := star(2, units.Gbps, us)
		s.Pause = p
		if _, err := New(&event.Loop{}, s, Attachment{}); err == nil || !strings.Contains(err.Error(), "fabric: pause: XOff") {
			t.Errorf("%+v: error %v", p, err)
		}
	}
}

// TestPauseAllocatesNothing: a port that stops its neighbour again and again.
func TestPauseAllocatesNothing(t *testing.T) {
	s := star(2, 10*units.Gbps, us)
	s.Links[1].Rate = units.Gbps
	s.Pause = Pause{XOff: 4500, XOn: 1500}
	r, words := newPauseRig(t, s)
	burst := func() {
		r.log, *words = r.log[:0], (*words)[:0]
		for range 50 {
			r.send(r.Now(), 0, 1, 1500)
		}
		r.RunUntil(r.Now() + time.Millisecond)
	}
	burst()
	if n := testing.AllocsPerRun(20, burst); n != 0 || len(*words) == 0 {
		t.Errorf("%v allocations a burst, %d words", n, len(*words))
	}
}
