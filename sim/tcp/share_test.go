package tcp

import (
	"testing"
	"time"

	"aqmlab/switch/event"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// bottleneck is a star: senders behind links of their own share one of 10 Gbps
// to a receiver, over a queue that holds some packets and marks above a length.
type bottleneck struct {
	loop      event.Loop
	pool      packet.Pool
	senders   []*Endpoint
	receivers []*Endpoint
	users     []tally
	n         []Counters
	busy      []time.Duration // of the senders' links
	queue     packet.Queue
	link      *event.Timer
	drops     int
	marks     int // packets above which the queue marks
}

const (
	bottleneckRate  = 10 * units.Gbps
	bottleneckRoom  = 300
	bottleneckMarks = 65
	bottleneckDelay = 25 * us // of each of the four links on the way and back
	bottleneckRTT   = 4*bottleneckDelay + 2*1200
)

func newBottleneck(t *testing.T, c Config, flows int) *bottleneck {
	t.Helper()
	b := &bottleneck{users: make([]tally, 2*flows), n: make([]Counters, 2*flows), busy: make([]time.Duration, flows), marks: bottleneckMarks}
	b.link = event.NewTimer(b.depart)
	c.MSS = 1448
	s, err := NewStack(&b.loop, &b.pool, b.carry, c)
	if err != nil {
		t.Fatal(err)
	}
	for i := range flows {
		here, there := int32(i), int32(flows+i)
		b.senders, b.receivers = append(b.senders, s.Endpoint()), append(b.receivers, s.Endpoint())
		b.senders[i].Establish(Ends{Local: here, Remote: there, Conn: here}, &b.n[here], &b.users[here])
		b.receivers[i].Establish(Ends{Local: there, Remote: here, Conn: here}, &b.n[there], &b.users[there])
		b.senders[i].Write(0, 1<<50, Tag{})
	}
	return b
}

func (b *bottleneck) after(d time.Duration, do func(now time.Duration)) {
	b.loop.Schedule(event.NewTimer(do), b.loop.Now()+d)
}

func (b *bottleneck) carry(now time.Duration, host int, k *packet.Packet) {
	if host >= len(b.senders) { // an ACK
		b.after(2*bottleneckDelay, func(now time.Duration) { b.senders[k.Dst].Receive(now, k) })
		return
	}
	b.busy[host] = max(b.busy[host], now) + bottleneckRate.Time(int(k.Size))
	b.after(b.busy[host]-now+bottleneckDelay, func(now time.Duration) { b.arrive(now, k) })
}

func (b *bottleneck) arrive(now time.Duration, k *packet.Packet) {
	if b.queue.Len() == bottleneckRoom {
		b.drops++
		b.pool.Put(k)
		return
	}
	if b.queue.Len() > b.marks && k.ECN.Capable() {
		k.Mark()
	}
	if b.queue.Push(k); b.queue.Len() == 1 {
		b.loop.Schedule(b.link, now+bottleneckRate.Time(int(k.Size)))
	}
}

func (b *bottleneck) depart(now time.Duration) {
	k := b.queue.Pop()
	b.after(bottleneckDelay, func(now time.Duration) { b.receivers[k.Segment.Conn].Receive(now, k) })
	if next := b.queue.Head(); next != nil {
		b.loop.Schedule(b.link, now+bottleneckRate.Time(int(next.Size)))
	}
}

// delivered is what the receivers got.
func (b *bottleneck) delivered() (bytes []float64) {
	for _, u := range b.users[len(b.senders):] {
		bytes = append(bytes, float64(u.delivered))
	}
	return bytes
}

// TestFlowsShare: eight flows fill a bottleneck and share it: Jain's index is
// above 0.9, whichever the control. Those that know ECN or the delay lose nothing, and
// DCTCP keeps the queue about the threshold. CUBIC takes half a second to get there.
func TestFlowsShare(t *testing.T) {
	for _, control := range Controls().Names() {
		c := config(control)
		switch control {
		case "prague":
			c = datacenter()
		case "bbr", "bbr3":
			continue // its windows have room for batches, which alone overflow this queue
		}
		c.BaseRTT = bottleneckRTT
		testShare(t, c)
	}
	for _, control := range []string{"reno", "cubic"} { // that have losses to recover
		testShare(t, sackConfig(control))
	}
}

func testShare(t *testing.T, c Config) {
	const warm, span = 600 * ms, 400 * ms
	what := c.Control.Kind + ", " + c.LossRecovery
	b := newBottleneck(t, c, 8)
	b.loop.RunUntil(warm)
	before := b.delivered()
	longest := 0
	for now := warm; now <= warm+span; now += 10 * us {
		b.loop.RunUntil(now)
		longest = max(longest, b.queue.Len())
	}
	sum, squares := 0.0, 0.0
	for i, bytes := range b.delivered() {
		bytes -= before[i]
		sum += bytes
		squares += bytes * bytes
	}
	most := float64(bottleneckRate.Bytes(span)) * 1448 / 1500
	if jain := sum * sum / squares / 8; sum < 0.97*most || sum > 1.001*most || jain < 0.9 {
		t.Errorf("%s: %.3f of the payload that fits, Jain's index %.3f", what, sum/most, jain)
	}
	none := b.senders[0].stack.family.echo != echoNever || c.Control.Kind == "swift"
	if none != (b.drops == 0) {
		t.Errorf("%s: %d drops", what, b.drops)
	}
	if c.Control.Kind == "dctcp" && longest > bottleneckMarks+20 {
		t.Errorf("%s: a queue of %d", what, longest)
	}
}
