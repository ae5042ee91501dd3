package crew

import (
	"sync"
	"testing"
)

// TestMeet: nobody goes on before all have come, with more goroutines than any machine has
// cores, so that most have to sleep.
func TestMeet(t *testing.T) {
	const parties, turns = 200, 50
	b := newBarrier(parties)
	var marks [parties]int
	var all sync.WaitGroup
	for i := range parties {
		all.Go(func() {
			for turn := range turns {
				marks[i] = turn
				b.meet()
				for other, mark := range marks {
					if mark != turn {
						t.Errorf("turn %d: %d is at %d", turn, other, mark)
					}
				}
				b.meet()
			}
		})
	}
	all.Wait()
}

// BenchmarkMeet is how long two take to meet that have nothing else to do.
func BenchmarkMeet(b *testing.B) {
	m := newBarrier(2)
	go func() {
		for range b.N {
			m.meet()
		}
	}()
	for range b.N {
		m.meet()
	}
}
