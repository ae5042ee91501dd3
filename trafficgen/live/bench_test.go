package live

import (
	"fmt"
	"testing"

	"golang.org/x/sys/unix"

	"aqmlab/collectors/meter"
)

// BenchmarkExchange is a request and its response on an idle connection, both
// sides in this process. It reports CPU time, the kernel's included, and
// allocates nothing.
func BenchmarkExchange(b *testing.B) {
	for _, size := range []int64{100, 10_000, 1_000_000, 100_000_000} {
		b.Run(fmt.Sprintf("%dB", size), func(b *testing.B) {
			n := newLoopback()
			serve(b, n, 1)
			q := request{bytes: size}
			conn := open(b, n, Config{Flows: one(flow(0, 1, size)), Connections: 1}).pool.take(ends{server: 1})
			b.SetBytes(size)
			b.ReportAllocs()
			before, exchanges := cpuNanoseconds(b), 0
			for b.Loop() {
				if err := conn.send(q, meter.For{}); err != nil {
					b.Fatal(err)
				}
				if err := conn.receive(); err != nil {
					b.Fatal(err)
				}
				exchanges++
			}
			b.ReportMetric(float64(cpuNanoseconds(b)-before)/float64(exchanges), "cpu-ns/op")
		})
	}
}

func cpuNanoseconds(b *testing.B) int64 {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
