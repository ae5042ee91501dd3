package port

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/packet"
)

// walk is n lengths of a queue, each in steps of full packets or a jump.
func walk(seed uint64, n, most int) []int {
	rng := rand.New(rand.NewPCG(seed, 1))
	lengths := make([]int, n)
	at := 0
	for i := range lengths {
		if rng.IntN(50) == 0 {
			at = rng.IntN(most)
		}
		at = min(max(at+(rng.IntN(3)-1)*1500, 0), most)
		lengths[i] = at
	}
	return lengths
}

// passed is what an ingress side has handed on.
type passed struct {
	at  time.Duration
	id  uint32
	ece bool
}

// entrance is an ABQ ingress side of the paper's setting, whose packets are
// told apart by their hash.
type entrance struct {
	*Ingress
	pool packet.Pool
	log  []passed
}

func newEntrance(t testing.TB, params map[string]any) *entrance {
	t.Helper()
	e := &entrance{}
	spec := Spec{Buffer: 80 * packet.FullPacket, FacesHost: true, Ingress: kind.Choice{Kind: "abq", Params: params}}
	var err error
	e.Ingress, err = NewIngress(spec, Outlet{Release: e.pool.Put, Forward: func(now time.Duration, k *packet.Packet) {
		e.log = append(e.log, passed{now, k.Hash, k.ECE})
		e.pool.Put(k)
	}})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func (e *entrance) enter(now time.Duration, id uint32, pure, ece bool) {
	k := e.pool.Get()
	k.Hash, k.Size, k.PureACK, k.ECE = id, 40, pure, ece
	e.Enter(now, k)
}

// TestIngressHoldsPureACKs follows ACKs and data through one congestion: data
// is never held, ACKs go at the release points in their order, and get the echo
// there, but not before or after.
func TestIngressHoldsPureACKs(t *testing.T) {
	for _, lastMarked := range []bool{true, false} {
		e := newEntrance(t, map[string]any{"ece_on_last_release": lastMarked})
		e.enter(1, 1, true, false) // uncongested
		e.Occupied(2, 21*1500)
		e.enter(3, 2, true, false)  // held
		e.enter(3, 3, false, false) // data, SYN or FIN
		e.enter(4, 4, true, true)   // held, with an echo of its own
		e.Occupied(5, 20*1500)      // first release
		e.enter(6, 5, true, false)  // held again
		e.Occupied(7, 10*1500)
		e.enter(8, 6, true, false)
		e.enter(8, 7, true, false)
		e.Occupied(9, 5*1500) // last release
		e.enter(10, 8, true, false)
		want := []passed{
			{1, 1, false}, {3, 3, false}, {5, 2, true}, {5, 4, true}, {7, 5, true},
			{9, 6, lastMarked}, {9, 7, lastMarked}, {10, 8, false},
		}
		if !slices.Equal(e.log, want) {
			t.Errorf("last release marked %v:\ngot  %v\nwant %v", lastMarked, e.log, want)
		}
		marked := int64(2)
		if lastMarked {
			marked = 4
		}
		if got, want := e.Count(), (IngressCount{Held: 5, Released: 5, MarkedECE: marked, PeakPackets: 2, PeakBytes: 80}); got != want {
			t.Errorf("counted %+v, want %+v", got, want)
		}
	}
}

// TestIngressConserves: whatever the queue does, ACKs come out in their order,
// each once, and those that stay can be taken back.
func TestIngressConserves(t *testing.T) {
	for seed := range uint64(50) {
		e := newEntrance(t, nil)
		entered := uint32(0)
		for i, bytes := range walk(seed, 500, 80*1500) {
			now := time.Duration(i)
			e.Occupied(now, bytes)
			for range i % 3 {
				e.enter(now, entered, true, false)
				entered++
			}
		}
		for i, p := range e.log {
			if p.id != uint32(i) {
				t.Fatalf("seed %d: ACK %d came out as number %d", seed, p.id, i)
			}
		}
		c, waiting := e.Count(), e.pool.Taken()
		if int(entered) != len(e.log)+waiting || c.Held-c.Released != int64(waiting) || c.Held == 0 || c.MarkedECE > c.Released {
			t.Errorf("seed %d: %d entered, %d passed, %d wait; counted %+v", seed, entered, len(e.log), waiting, c)
		}
		e.Empty(e.pool.Put)
		if e.pool.Taken() != 0 || e.Count() != c {
			t.Errorf("seed %d: %d packets left after emptying, counted %+v", seed, e.pool.Taken(), e.Count())
		}
	}
}

func TestNoIngress(t *testing.T) {
	i, err := NewIngress(testbed("droptail", nil), Outlet{})
	if i != nil || err != nil {
		t.Fatalf("got %v, %v", i, err)
	}
	if i.Empty(nil); i.Count() != (IngressCount{}) {
		t.Errorf("counted %+v", i.Count())
	}
}

func TestBadIngress(t *testing.T) {
	spec := testbed("droptail", nil)
	spec.Ingress.Kind = "abp"
	_, err := NewIngress(spec, Outlet{})
	if want := `ingress: unknown kind "abp": want one of abq (did you mean abq?)`; !errors.Is(err, kind.ErrUnknown) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func BenchmarkIngress(b *testing.B) {
	e := newEntrance(b, nil)
	e.log = make([]passed, 0, 64)
	b.ReportAllocs()
	for b.Loop() {
		e.Occupied(0, 21*1500)
		e.enter(0, 1, true, false)
		e.Occupied(0, 20*1500)
		e.log = e.log[:0]
	}
}
