package crew

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// barrier is where so many goroutines wait for each other, again and again. What one did
// before it, the others see after it. The wait is mostly shorter than it takes to sleep
// and wake, so each looks for a while first.
type barrier struct {
	parties int32
	came    atomic.Int32
	turn    atomic.Uint32
	asleep  atomic.Int32
	lock    sync.Mutex
	wake    sync.Cond
}

func newBarrier(parties int) *barrier {
	b := &barrier{parties: int32(parties)}
	b.wake.L = &b.lock
	return b
}

// How long a goroutine looks before it sleeps: some tens of microseconds.
const (
	looks = 1 << 11
	yield = 1 << 7 // looks after which others may run
)

// meet returns when all have called it.
func (b *barrier) meet() {
	turn := b.turn.Load()
	if b.came.Add(1) == b.parties {
		b.came.Store(0)
		b.turn.Add(1)
		if b.asleep.Load() > 0 {
			b.lock.Lock()
			b.wake.Broadcast()
			b.lock.Unlock()
		}
		return
	}
	for i := range looks {
		if b.turn.Load() != turn {
			return
		}
		if pause(); i%yield == yield-1 {
			runtime.Gosched()
		}
	}
	b.lock.Lock()
	b.asleep.Add(1)
	for b.turn.Load() == turn {
		b.wake.Wait()
	}
	b.asleep.Add(-1)
	b.lock.Unlock()
}
