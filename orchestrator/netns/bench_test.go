package netns_test

import (
	"fmt"
	"testing"
	"time"

	"aqmlab/orchestrator/journal"
	"aqmlab/orchestrator/netns"
)

// BenchmarkUpDown brings whole labs up and down, and reports each half.
func BenchmarkUpDown(b *testing.B) {
	needRoot(b)
	for _, n := range []int{9, 64, 144} {
		b.Run(fmt.Sprintf("hosts=%d", n), func(b *testing.B) {
			root := b.TempDir()
			var up, down time.Duration
			for b.Loop() {
				u, d := upDown(b, root, n)
				up, down = up+u, down+d
			}
			b.ReportMetric(up.Seconds()*1e3/float64(b.N), "up-ms/op")
			b.ReportMetric(down.Seconds()*1e3/float64(b.N), "down-ms/op")
		})
	}
}

// upDown times one lab of n hosts, the journal included.
func upDown(b *testing.B, root string, n int) (up, down time.Duration) {
	b.Helper()
	began := time.Now()
	j, err := journal.Create(b.Context(), root, nil)
	if err != nil {
		b.Fatal(err)
	}
	_, err = netns.Up(b.Context(), j, plan(n))
	up = time.Since(began)
	began = time.Now()
	if undo := j.Undo(undoers()); undo != nil {
		b.Error(undo)
	}
	if err != nil {
		b.Fatal(err)
	}
	return up, time.Since(began)
}
