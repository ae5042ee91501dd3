package port

import (
	"fmt"

	"aqmlab/kind"
	"aqmlab/units"
)

// Pool is packet memory. The ports that share one run on the same event loop.
type Pool struct{ size, bytes int }

// NewPool makes an empty pool of that size.
func NewPool(size units.Size) *Pool { return &Pool{size: int(size)} }

// Bytes is how much of the pool is taken.
func (p *Pool) Bytes() int { return p.bytes }

// memory is the packet memory of one port, as a [Sharing] of it says.
type memory struct {
	*Pool
	perQueue int     // zero: no limit of its own
	alpha    float64 // zero: no dynamic limit
}

// newMemory draws from shared when the ports of a switch share one pool, else
// from a pool of the port's own.
func newMemory(spec Spec, shared *Pool) (memory, error) {
	m := memory{Pool: NewPool(spec.Buffer)}
	switch s := spec.Sharing; s.Kind {
	case "", SharedPort:
	case SharedStatic:
		if s.PerQueue <= 0 {
			return memory{}, fmt.Errorf("sharing: a queue of at most %v holds no packet", s.PerQueue)
		}
		m.perQueue = int(s.PerQueue)
	case SharedPool:
		m.Pool = shared
	case SharedDynamic:
		if !(s.Alpha > 0) { // NaN neither
			return memory{}, fmt.Errorf("sharing: alpha %v is not above zero", s.Alpha)
		}
		m.Pool, m.alpha = shared, s.Alpha
	default:
		return memory{}, kind.Unknown("sharing", s.Kind, Sharings())
	}
	return m, nil
}

// fits tells whether there is room for size bytes more.
func (m *memory) fits(size int) bool { return size <= m.size-m.bytes }

// admits tells whether a queue of that many bytes may take size more.
func (m *memory) admits(queue, size int) bool {
	free := m.size - m.bytes
	switch {
	case size > free:
		return false
	case m.perQueue > 0:
		return queue+size <= m.perQueue
	case m.alpha > 0:
		return float64(queue) < m.alpha*float64(free)
	}
	return true
}
