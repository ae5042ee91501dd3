package collectors

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"aqmlab/switch/event"
	"aqmlab/switch/fabric"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

const (
	senders, receivers = 8, 4
	packets            = 320 // a step
	connections        = 64  // whose timers wait, as those of any hosts do

	smallest, largestPacket = 100, 1500 // bytes
)

// overload is twelve hosts around a switch, of which the first eight send to the
// other four, two to each.
func overload() fabric.Spec { return star(senders+receivers, units.MB, marking()) }

// load is such a network at work.
type load struct{ step func() }

// newLoad offers each receiver's port a third more than it takes, so that marks and
// drops are among what happens. Packets have any size, so that no machine learns the
// order of events by heart, which it would forget for any further timer.
func newLoad(b testing.TB, attach ...fabric.Collector) *load {
	b.Helper()
	loop, network, pool := build(b, overload())
	for range connections {
		loop.Schedule(event.NewTimer(func(time.Duration) {}), time.Hour)
	}
	for _, a := range attach {
		a.Attach(loop, network)
	}
	wire := units.Gbps.Time(smallest + (largestPacket-smallest)/2 + packet.FrameOverhead)
	sizes := rand.New(rand.NewPCG(1, 1))
	return &load{func() {
		for i := range packets {
			from := i % senders
			k := pool.Get()
			k.Src, k.Dst, k.Size, k.DSCP, k.ECN = int32(from), senders+int32(from%receivers), smallest+sizes.Int32N(largestPacket-smallest), uint8(i/senders&1), packet.ECT0
			k.Segment = packet.Segment{Conn: int32(from), Len: 48, Flags: packet.ACK}
			network.Send(loop.Now(), from, k)
		}
		loop.RunUntil(loop.Now() + packets/receivers*3/4*wire)
	}}
}

// BenchmarkCollectors measures what collectors take from the switch's throughput:
// the same load with and without, in turns, so that whatever else the machine does
// meets both. The ratio is the time with collectors over that without, the median
// of all pairs of turns.
func BenchmarkCollectors(b *testing.B) {
	b.Run("queues", func(b *testing.B) {
		// What the lab quickstart gets: 2000 samples of nine seconds at 1 Gbps.
		compareLoads(b, func() fabric.Collector { return NewQueues(4 * time.Millisecond) })
	})
	b.Run("live", func(b *testing.B) {
		compareLoads(b, func() fabric.Collector { return &Live{} })
	})
	b.Run("capture", func(b *testing.B) {
		compareLoads(b, func() fabric.Collector {
			return NewCapture(CaptureSpec{Ports: []string{"s1:h9", "s1:h10", "s1:h11", "s1:h12"}, Snap: 128, Size: 64_000_000}, overload().Hosts, packet.AppendTCP)
		})
	})
}

func compareLoads(b *testing.B, collector func() fabric.Collector) {
	const steps = 10 // a turn
	bare, watched := newLoad(b), newLoad(b, collector())
	turn := func(l *load) time.Duration {
		start := time.Now()
		for range steps {
			l.step()
		}
		return time.Since(start)
	}
	turn(bare)
	turn(watched)
	pair := []*load{bare, watched}
	var without, ratios []float64
	for b.Loop() {
		a, b := pair[0], pair[1]
		first, second := float64(turn(a)), float64(turn(b))
		if a == watched {
			first, second = second, first
		}
		without, ratios = append(without, first/steps/packets), append(ratios, second/first)
		slices.Reverse(pair) // who comes second finds the caches full of the other
	}
	slices.Sort(without)
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "ratio")
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(without[len(without)/2], "ns/packet-without")
}
