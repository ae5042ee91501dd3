package fabric

import (
	"time"

	"aqmlab/switch/event"
	"aqmlab/switch/packet"
)

// Parts spread a network over several loops, which may run at the same time, window by
// window: what crosses from one to another stands in a box meanwhile. The hosts are
// always one part, the first one.
type Parts struct {
	Loops []*event.Loop
	// Of tells the part of each switch, in the order of [Spec.Switches]. Two that a link
	// without delay joins must be in the same one, see [Spec.Partition].
	Of []int
}

// on is what a part of the network stands on.
type on struct {
	part    int
	lane    *event.Lane
	release func(*packet.Packet) // of the part
}

// ground is what each node stands on: all hosts on the same.
func ground(p Parts, hosts, nodes int, release func(*packet.Packet)) ([]on, borders) {
	b := newBorders(len(p.Loops))
	all := make([]on, nodes)
	own := p.Loops[0].Own()
	for i := range all {
		all[i] = on{0, own, release}
		if i < hosts {
			continue
		}
		part := 0
		if p.Of != nil {
			part = p.Of[i-hosts]
		}
		all[i].part, all[i].lane = part, p.Loops[part].Lane(i-hosts+1)
		if home := b.box(part, 0); home != nil {
			back := returner{release}
			all[i].release = func(k *packet.Packet) { home.put(never, back, k) }
		}
	}
	return all, b
}

// never is when something arrives that no event waits for.
const never time.Duration = 1<<63 - 1

// returner gives packets that another part has dropped to who takes them.
type returner struct{ release func(*packet.Packet) }

func (r returner) arrive(_ time.Duration, k *packet.Packet) { r.release(k) }

// arriver takes what comes from another part. It is not yet due.
type arriver interface {
	arrive(at time.Duration, k *packet.Packet)
}

// passage is what one part sends another: a packet, or nil for a pause frame.
type passage struct {
	to arriver
	at time.Duration
	k  *packet.Packet
}

// box holds what one part sends another: in one turn it is filled, and emptied in the
// next, while the other half is filled. The part that fills it says whose turn it is.
type box struct {
	halves [2]half
	turn   int
	_      [56]byte // the next box is on another cache line
}

type half struct {
	list     []passage
	earliest time.Duration // of the list
}

func (b *box) put(at time.Duration, to arriver, k *packet.Packet) {
	h := &b.halves[b.turn]
	h.list = append(h.list, passage{to, at, k})
	h.earliest = min(h.earliest, at)
}

// ahead is how many passages before its turn a packet is fetched from the core that sent it.
const ahead = 8

// empty hands on what the half that is not being filled holds.
func (h *half) empty() {
	for i := range h.list {
		if next := i + ahead; next < len(h.list) {
			event.Prefetch(h.list[next].k)
		}
		c := &h.list[i]
		c.to.arrive(c.at, c.k)
	}
	h.list, h.earliest = h.list[:0], never
}

// borders are the boxes between all parts.
type borders struct{ boxes [][]*box } // by the part that fills, and the one that empties

func newBorders(parts int) (b borders) {
	b.boxes = make([][]*box, parts)
	for from := range b.boxes {
		b.boxes[from] = make([]*box, parts)
		for to := range parts {
			if to != from {
				b.boxes[from][to] = &box{halves: [2]half{{earliest: never}, {earliest: never}}}
			}
		}
	}
	return b
}

// box is the box between two parts; nil for a part and itself.
func (b borders) box(from, to int) *box { return b.boxes[from][to] }

// Sent is when the earliest of what a part has sent others in this window is due.
func (n *Network) Sent(part int) time.Duration {
	earliest := never
	for _, b := range n.borders.boxes[part] {
		if b != nil {
			earliest = min(earliest, b.halves[b.turn].earliest)
		}
	}
	return earliest
}

// Turn begins another window for a part that all parts have ended theirs with: from now
// on what it sends is for the window after.
func (n *Network) Turn(part int) {
	for _, b := range n.borders.boxes[part] {
		if b != nil {
			b.turn ^= 1
		}
	}
}

// Take takes what the other parts have sent this one in the window before. turn is how
// often the part has turned before that, modulo two.
func (n *Network) Take(part, turn int) {
	for _, from := range n.borders.boxes {
		if b := from[part]; b != nil {
			b.halves[turn].empty()
		}
	}
}
