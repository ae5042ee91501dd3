package sched

import "time"

// WFQ is weighted fair queueing: the head of every busy queue has a tag, the
// virtual time at which it finishes, and the head with the smallest one leaves
// next; equal ones leave in the order of their queues (TCN, section 5).
//
// The papers do not print the rule of the virtual time V. With self-clocked
// (Golestani, INFOCOM 1994) V is the tag of the packet in service, and a queue
// that becomes busy gets V + size/weight. With kernel, the rule of the TCN
// authors' kernel module, V is the largest tag given so far, so a queue that
// becomes busy starts behind the heads of all others.
type WFQ struct {
	Weights     []int  `lab:"weights" range:"1..1000000000" doc:"shares of the link, one a queue; all 1 when absent"`
	VirtualTime string `lab:"virtual_time" oneof:"self-clocked,kernel" what:"name" doc:"self-clocked (tag of the packet in service) or kernel (largest tag given, as in the TCN module)"`
}

// The rules of the virtual time.
const (
	selfClocked = "self-clocked"
	kernelClock = "kernel"
)

type wfq struct {
	heads   Heads
	kernel  bool
	clock   virtualClock
	virtual uint64
	busy    []bool
	order   ranking // of the tags of the heads
}

var (
	_ Scheduler = (*wfq)(nil)
	_ Weighted  = (*wfq)(nil)
)

func newWFQ(p WFQ, env Env) (Scheduler, error) {
	weights, err := weightsFor(p.Weights, env.Queues)
	if err != nil {
		return nil, err
	}
	return &wfq{
		heads:  env.Heads,
		kernel: p.VirtualTime == kernelClock,
		clock:  newVirtualClock(weights),
		busy:   make([]bool, env.Queues),
		order:  make(ranking, 0, env.Queues),
	}, nil
}

func (w *wfq) Weights() []int { return w.clock.weights }

// Enqueued gives a tag to a packet that is the head at once. V has passed the
// last tag of a queue that was empty, so the tag counts from V.
func (w *wfq) Enqueued(_ time.Duration, q, size int) {
	if w.busy[q] {
		return
	}
	w.busy[q] = true
	tag := w.virtual + w.clock.service(q, size)
	w.order.push(entry{tag, uint64(q), q})
	if w.kernel {
		w.virtual = tag
	}
}

func (w *wfq) Next(time.Duration) (int, bool) { return w.order.next() }

func (w *wfq) Sent(_ time.Duration, q, _ int) {
	tag := w.order[0].rank
	if !w.kernel {
		w.virtual = tag
	}
	size := w.heads.HeadSize(q)
	if size == 0 {
		w.busy[q] = false
		w.order.pop()
		return
	}
	tag += w.clock.service(q, size)
	w.order.replace(entry{tag, uint64(q), q})
	if w.kernel && precedes(w.virtual, tag) {
		w.virtual = tag
	}
}

// virtualBits are the binary digits after the point of a virtual time.
const virtualBits = 20

// virtualClock counts the service that queues get, in bytes over weight, as
// fixed-point numbers that wrap around. The remainder of a division is carried to the
// queue's next packet, so shares do not drift however long the run.
type virtualClock struct {
	weights []int
	rest    []uint64
}

func newVirtualClock(weights []int) virtualClock {
	return virtualClock{weights, make([]uint64, len(weights))}
}

// service is the virtual time that size bytes of queue q take.
func (c *virtualClock) service(q, size int) uint64 {
	work := uint64(size)<<virtualBits + c.rest[q]
	w := uint64(c.weights[q])
	c.rest[q] = work % w
	return work / w
}
