package fabric

import (
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/switch/event"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// full is how long 1500 bytes take on a 1 Gbps link, 38 bytes of Ethernet
// included.
const full = 12304 * time.Nanosecond

// slow is two hosts on a switch, the first of which holds packets back.
func slow(delays ...time.Duration) Spec {
	s := star(2, units.Gbps, 10*us)
	s.Hosts[0].Delays = delays
	return s
}

// sendFlow sends a full packet of a flow from the first host to the second.
func (r *rig) sendFlow(at time.Duration, hash uint32, pureACK bool) {
	k := r.pool.Get()
	k.Src, k.Dst, k.Size, k.DSCP, k.ECN = 0, 1, 1500, 0, packet.NotECT
	k.Hash, k.PureACK = hash, pureACK
	r.Send(at, 0, k)
}

// arrivals are when packets reached their hosts, less what two links take.
func (r *rig) arrivals() []time.Duration {
	var at []time.Duration
	for _, d := range r.log {
		at = append(at, d.at-2*(full+10*us))
	}
	return at
}

// hashOf is a hash of a class.
func hashOf(want, n int) uint32 {
	var h uint32
	for class(h, n) != want {
		h++
	}
	return h
}

// TestDelays: what each host with delays sends arrives that much later, in the
// order of each class. Packets of one class that were sent at once leave the
// uplink one after the other.
func TestDelays(t *testing.T) {
	type sent struct {
		at   time.Duration
		hash uint32
		ack  bool
	}
	first, second := hashOf(0, 2), hashOf(1, 2)
	tests := map[string]struct {
		delays []time.Duration
		sent   []sent
		want   []time.Duration
	}{
		"none":             {nil, []sent{{5 * us, 0, false}}, []time.Duration{5 * us}},
		"one for all":      {[]time.Duration{70 * us}, []sent{{5 * us, first, false}, {5 * us, second, false}}, []time.Duration{75 * us, 75*us + full}},
		"pure ACK":         {[]time.Duration{70 * us}, []sent{{5 * us, 0, false}, {6 * us, 0, true}}, []time.Duration{6 * us, 75 * us}},
		"zero":             {[]time.Duration{0}, []sent{{5 * us, 0, false}}, []time.Duration{5 * us}},
		"overtaking":       {[]time.Duration{70 * us, 30 * us}, []sent{{0, first, false}, {us, second, false}}, []time.Duration{31 * us, 70 * us}},
		"order of a class": {[]time.Duration{70 * us, 30 * us}, []sent{{0, first, false}, {50 * us, first, false}, {90 * us, first, false}}, []time.Duration{70 * us, 120 * us, 160 * us}},
		"same departure":   {[]time.Duration{70 * us, 30 * us}, []sent{{0, first, false}, {40 * us, second, false}}, []time.Duration{70 * us, 70*us + full}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, slow(tt.delays...))
			for _, s := range tt.sent {
				r.RunUntil(s.at)
				r.sendFlow(s.at, s.hash, s.ack)
			}
			r.RunUntil(time.Second)
			if got := r.arrivals(); !slices.Equal(got, tt.want) {
				t.Errorf("arrived %v, want %v", got, tt.want)
			}
			if r.Clamped() != 0 || r.pool.Taken() != 0 {
				t.Errorf("%d clamped, %d packets are not accounted for", r.Clamped(), r.pool.Taken())
			}
		})
	}
}

// TestOtherHostsAreNotDelayed: a host's delays are its own.
func TestOtherHostsAreNotDelayed(t *testing.T) {
	r := newRig(t, slow(70*us))
	r.send(0, 1, 0, 1500)
	r.RunUntil(time.Second)
	if got := r.arrivals(); !slices.Equal(got, []time.Duration{0}) {
		t.Errorf("arrived %v, want 0", got)
	}
}

// TestLateNoticeOfDelayed: a frame that is noticed after it was sent leaves when
// it would have. If that is over, too, link and switch see it as they see other
// late frames: in time as long as the link's delay covers the lag, and clamped
// beyond.
func TestLateNoticeOfDelayed(t *testing.T) {
	const now = time.Millisecond
	tests := map[string]struct {
		lag     time.Duration
		want    time.Duration // arrival of a packet that was sent at zero, after now less the lag
		clamped int64
	}{
		"within the delay":           {60 * us, 70 * us, 0},
		"just out":                   {70 * us, 70 * us, 0},
		"on the link":                {90 * us, 70 * us, 0},
		"at the switch":              {70*us + full + 10*us, 70 * us, 0},
		"later than the first event": {150 * us, 150*us - full - 10*us, 1}, // at the switch now
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, slow(70*us))
			r.RunUntil(now)
			r.sendFlow(now-tt.lag, 0, false)
			r.RunUntil(time.Second)
			if got := r.arrivals()[0] - (now - tt.lag); got != tt.want || r.Clamped() != tt.clamped {
				t.Errorf("arrived after %v with %d clamped, want %v with %d", got, r.Clamped(), tt.want, tt.clamped)
			}
		})
	}
}

// TestClassKeepsOrder: nothing of a class overtakes, not a packet with an older
// stamp, nor one that could leave in the instant in which the first does.
func TestClassKeepsOrder(t *testing.T) {
	r := newRig(t, slow(70*us))
	sizes := []int32{1500, 1000, 500}
	for i, at := range []time.Duration{50 * us, 20 * us, 45 * us} {
		r.RunUntil(50 * us)
		r.send(at, 0, 1, sizes[i])
	}
	r.RunUntil(time.Second)
	for i, d := range r.log {
		if d.size != sizes[i] {
			t.Errorf("packet %d has %d bytes, want %d", i, d.size, sizes[i])
		}
	}

	r = newRig(t, slow(70*us))
	again := event.NewTimer(func(time.Duration) { r.send(0, 0, 1, 1000) })
	r.Schedule(again, 70*us) // before the release of what is sent next
	r.send(0, 0, 1, 1500)
	r.RunUntil(time.Second)
	if len(r.log) != 2 || r.log[0].size != 1500 {
		t.Errorf("arrived %+v, want the packet of 1500 bytes first", r.log)
	}
}

// TestClassesAreEven: hashes fall evenly into the classes, and the flows of one
// class spread evenly over paths.
func TestClassesAreEven(t *testing.T) {
	const flows, classes, paths = 1 << 18, 128, 4
	var count [classes][paths]int
	for i := range uint32(flows) {
		h := i * 2654435761
		count[class(h, classes)][spread(h^0x9e3779b9, paths)]++
	}
	const want = flows / classes / paths
	for c, byPath := range count {
		for p, n := range byPath {
			if n < want*3/4 || n > want*5/4 {
				t.Errorf("class %d, path %d: %d flows, want about %d", c, p, n, want)
			}
		}
	}
}

func TestDelayLineDoesNotAllocate(t *testing.T) {
	r := newRig(t, slow(70*us, 30*us, 50*us))
	at := time.Duration(0)
	round := func() {
		r.log = r.log[:0]
		for i := range uint32(100) {
			r.sendFlow(at, i*2654435761, false)
		}
		at += 10 * time.Millisecond
		r.RunUntil(at)
	}
	round()
	if n := testing.AllocsPerRun(10, round); n != 0 {
		t.Errorf("%v allocations for 100 packets", n)
	}
}

func TestNegativeDelay(t *testing.T) {
	var loop event.Loop
	_, err := New(&loop, slow(us, -us), Attachment{})
	if want := "fabric: host h1: delay -1µs is below zero"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestBacklogOfDelays: a burst that a host's delay holds back will wait for the
// uplink for as long as it takes beyond the delay, and whoever sends is told so at
// once. What the uplink can send as it comes does not wait.
func TestBacklogOfDelays(t *testing.T) {
	r := newRig(t, slow(50*us))
	for range 4 {
		r.sendFlow(0, 0, false)
	}
	if got := r.Backlog(0, 0); got != 0 {
		t.Errorf("four packets within a delay of four: a backlog of %v", got)
	}
	for range 16 {
		r.sendFlow(0, 0, false)
	}
	if got, want := r.Backlog(0, 0), 20*full-50*us; got != want {
		t.Errorf("twenty packets held: a backlog of %v, want %v", got, want)
	}
	if got, want := r.Backlog(0, 1), time.Duration(0); got != want {
		t.Errorf("the other host has a backlog of %v", got)
	}
	r.RunUntil(50 * us)
	if got, want := r.Backlog(50*us, 0), 20*full-50*us; got != want {
		t.Errorf("all on the uplink: a backlog of %v, want %v", got, want)
	}
	r.RunUntil(time.Second)
	if got := r.Backlog(time.Second, 0); got != 0 {
		t.Errorf("nothing is left, and the backlog is %v", got)
	}
}
