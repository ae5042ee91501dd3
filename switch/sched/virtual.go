package sched

// virtualBits are the binary digits after the point of a virtual time.
const virtualBits = 20

// virtualClock counts the service that queues get, in bytes over weight, as
// fixed-point numbers that wrap around. What a division leaves over is carried
// to the queue's next packet, so shares do not drift however long the run.
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
