package bench

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// cacheLine is a line of memory that says which one is read next.
type cacheLine struct {
	next *cacheLine
	_    [56]byte
}

// BenchmarkReads is what a read costs whose place the read before tells, in memory of that
// size: the bound of a simulation of a network that needs so much.
func BenchmarkReads(b *testing.B) {
	for _, kb := range []int{512, 2 << 10, 16 << 10, 320 << 10} {
		b.Run(fmt.Sprintf("%dKB", kb), func(b *testing.B) {
			lines := make([]cacheLine, kb*1024/64)
			order := rand.New(rand.NewPCG(1, 1)).Perm(len(lines))
			for i, at := range order {
				lines[at].next = &lines[order[(i+1)%len(order)]]
			}
			at := &lines[0]
			for b.Loop() {
				at = at.next
			}
		})
	}
}
