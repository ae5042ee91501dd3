package port

import (
	"cmp"
	"slices"
	"time"

	"aqmlab/switch/sched"
	"aqmlab/units"
)

// Pool is packet memory. The ports that share one run on the same event loop.
type Pool struct {
	size, bytes int
	limits      []Limit // of the ports that draw from it, where their kind has one
	own         bool    // it is that of one port
}

// NewPool makes an empty pool of that size.
func NewPool(size units.Size) *Pool { return &Pool{size: int(size)} }

// Bytes is how much of the pool is taken.
func (p *Pool) Bytes() int { return p.bytes }

// memory is the packet memory of one port, as a [Sharing] of it says.
type memory struct {
	*Pool
	limit Limit // nil: none
}

// newMemory draws from shared when the ports of a switch share one pool, else
// from a pool of the port's own.
func (p *Port) newMemory(spec Spec, shared *Pool, scheduler sched.Scheduler) (memory, error) {
	made, err := Sharings().New(cmp.Or(spec.Sharing.Kind, sharedByPort), spec.Sharing.Params, SharingEnv{
		Queues:     spec.Queues,
		Weights:    sched.Weights(scheduler, spec.Queues),
		FullPacket: units.Size(spec.FullPacket()),
		RTTs:       spec.RTTs,
		Pool:       shared,
		Holds:      p.QueueBytes,
	})
	if err != nil {
		return memory{}, err
	}
	if !made.Pooled {
		shared = NewPool(spec.Buffer)
		shared.own = true
	}
	return memory{shared, made.Limit}, nil
}

// draws begins to draw from the pool.
func (m *memory) draws() {
	if m.limit != nil {
		m.limits = append(m.limits, m.limit)
	}
}

// leaves ends it.
func (m *memory) leaves() {
	if i := slices.Index(m.limits, m.limit); i >= 0 {
		m.limits = slices.Delete(m.limits, i, i+1)
	}
}

// fits tells whether there is room for size bytes more.
func (m *memory) fits(size int) bool { return size <= m.size-m.bytes }

// admits tells whether a packet may join its queue.
func (m *memory) admits(now time.Duration, a Arrival) bool {
	return m.fits(a.Size) && (m.limit == nil || m.limit.Admits(now, a))
}
