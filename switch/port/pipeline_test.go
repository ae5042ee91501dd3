package port

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/aqm"
	"aqmlab/switch/packet"
	"aqmlab/switch/sched"
	"aqmlab/units"
)

// fullFrame is a full Ethernet frame of an ECN-capable TCP segment with that
// DSCP, with a right IPv4 checksum.
func fullFrame(dscp uint8) []byte {
	f := make([]byte, 1514)
	f[12] = 0x08
	h := f[packet.EthernetSize:]
	h[0], h[1], h[8], h[9] = 0x45, dscp<<2|byte(packet.ECT0), 64, 6
	binary.BigEndian.PutUint16(h[2:], 1500)
	copy(h[12:], []byte{10, 0, 0, 1, 10, 0, 0, 2})
	var sum uint32
	for i := 0; i < 20; i += 2 {
		sum += uint32(binary.BigEndian.Uint16(h[i:]))
	}
	sum = sum&0xffff + sum>>16
	binary.BigEndian.PutUint16(h[10:], ^uint16(sum+sum>>16))
	return f
}

// BenchmarkPipeline is what the switch does with one full frame: parse,
// classify, admit, ask the scheme, queue, schedule, limit, ask the scheme
// again; for every scheme under every scheduler, with 8 and 64 queues that all
// hold packets.
func BenchmarkPipeline(b *testing.B) {
	for _, queues := range []int{8, 64} {
		for _, scheduler := range sched.Table() {
			for _, scheme := range aqm.Table() {
				n := queues
				if scheduler.Name == "fifo" {
					n = 1
				}
				spec := Spec{
					Rate:      10 * units.Gbps,
					RTTs:      aqm.OneRTT(100 * time.Microsecond),
					Queues:    n,
					Buffer:    10 * units.MB,
					Limiter:   Limiter{RateFraction: 0.995, Bucket: 2500},
					Scheduler: kind.Choice{Kind: scheduler.Name},
					Scheme:    kind.Choice{Kind: scheme.Name},
				}
				b.Run(fmt.Sprintf("%d/%s/%s", n, scheduler.Name, scheme.Name), func(b *testing.B) { pipeline(b, spec) })
			}
		}
	}
}

func pipeline(b *testing.B, spec Spec) {
	pool := packet.NewPool(2048)
	p, err := New(spec, Kinds{}, pool.Put)
	if err != nil {
		b.Fatal(err)
	}
	frames := make([][]byte, spec.Queues)
	for q := range frames {
		frames[q] = fullFrame(uint8(q))
	}
	take := func(now time.Duration, q int) {
		k := pool.Get()
		k.Frame = append(k.Frame, frames[q][:64]...) // headers: what a real frame is parsed by
		k.Frame = k.Frame[:len(frames[q])]
		if _, err := k.Parse(); err != nil {
			b.Fatal(err)
		}
		p.Enqueue(now, k)
	}
	for i := range 4 * spec.Queues {
		take(0, i%spec.Queues)
	}
	b.ReportAllocs()
	now, i := time.Duration(0), 0
	for b.Loop() {
		now += 1300 * time.Nanosecond
		take(now, i%spec.Queues)
		if k, _ := p.Dequeue(now); k != nil {
			pool.Put(k)
		}
		i++
	}
}
