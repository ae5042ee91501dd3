package packet

// Pool hands out packets and takes them back, so that none is allocated per
// packet in steady state. The zero Pool hands out modelled packets. It is not
// safe for concurrent use.
type Pool struct {
	free  *Packet
	frame int // bytes of frame buffer that each packet has
	taken int
}

// slab is how many packets are made at once when the pool is empty.
const slab = 256

// NewPool returns a pool whose packets carry a frame buffer of that many bytes.
func NewPool(frame int) *Pool { return &Pool{frame: frame} }

// Get hands out a packet. A frame buffer has length zero; its other fields are
// as their last user left them, so that a caller pays only for what it sets.
func (p *Pool) Get() *Packet {
	if p.free == nil {
		p.grow()
	}
	k := p.free
	p.free, k.Next = k.Next, nil
	p.taken++
	return k
}

// Put takes a packet back. The caller must not use it any more.
func (p *Pool) Put(k *Packet) {
	if p.frame > 0 {
		k.Frame = k.Frame[:0]
	}
	k.Next = p.free
	p.free = k
	p.taken--
}

// Taken is the number of packets handed out and not yet given back.
func (p *Pool) Taken() int { return p.taken }

func (p *Pool) grow() {
	packets := make([]Packet, slab)
	buffers := make([]byte, slab*p.frame)
	for i := range packets {
		if p.frame > 0 {
			packets[i].Frame = buffers[i*p.frame : i*p.frame : (i+1)*p.frame]
		}
		packets[i].Next = p.free
		p.free = &packets[i]
	}
}
