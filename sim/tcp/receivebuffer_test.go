package tcp

import (
	"testing"
	"time"

	"aqmlab/switch/packet"
)

// linuxMemory is Linux's: tcp_rmem, and what readers of labs wait for.
var linuxMemory = Receive{Buffer: 131072, Most: 6291456, ReadAt: 32768}

func newSpace() *receiveBuffer {
	var s receiveBuffer
	s.reset(0, &linuxMemory, 1448)
	return &s
}

// TestFirstWindow: what Linux 6.1 tells of a connection that data begins to come
// on, as captured: 64,088 bytes, which its window scale rounds up to 64,128, and
// no more than there is memory for behind what the application left.
func TestFirstWindow(t *testing.T) {
	s := newSpace()
	memory := segmentMemory(1448, 52)
	for segments, want := range map[int64]int64{0: 64128, 1: 64128, 2: 63232, 3: 62080, 10: 54016, 17: 45952} {
		s.waiting, s.edge = segments, 0
		if got := (s.offer(0, memory) + 127) / 128 * 128; got != want {
			t.Errorf("%d segments not read: window %d, want %d", segments, got, want)
		}
	}
}

// TestOfferStands: what was offered is not taken back.
func TestOfferStands(t *testing.T) {
	s := newSpace()
	s.waiting = 30
	if got := s.offer(10_000, 2304); got != 64088-10_000 {
		t.Errorf("window %d, want what is left of 64088", got)
	}
}

// TestRightSizing: tcp_rcv_space_adjust by hand: 65,160 bytes were read in a
// round trip where 14,480 were before, so the window may grow to 2 n + 16 MSS,
// and by twice the share by which n grew; that of the next round trip as well.
func TestRightSizing(t *testing.T) {
	s := newSpace()
	s.read(ms, 65160, 1448, linuxMemory.Most)
	if s.buffer != 131072 || s.from != 0 {
		t.Error("it grew before a round trip was measured")
	}
	s.rtt = 2 * ms
	s.read(ms, 65160, 1448, linuxMemory.Most)
	if s.from != 0 {
		t.Error("it counted before a round trip was over")
	}
	s.read(2*ms, 65160, 1448, linuxMemory.Most)
	want := int64(153488 + 2*(153488*50680/14480))
	if s.clamp != want || s.most != 65160 || s.from != 65160 {
		t.Errorf("window up to %d, want %d", s.clamp, want)
	}
	s.read(4*ms, 65160+65160, 1448, linuxMemory.Most)
	if s.clamp != want {
		t.Error("it grew though no more was read than before")
	}
	s.read(6*ms, 1<<30, 1448, linuxMemory.Most)
	if s.buffer != linuxMemory.Most {
		t.Errorf("buffer of %d, want no more than %d", s.buffer, linuxMemory.Most)
	}
}

// TestWindowGrows: tcp_grow_window: two segments for each that comes, up to what
// right-sizing allows.
func TestWindowGrows(t *testing.T) {
	s := newSpace()
	if s.grow(1448, 2304) {
		t.Error("it grew beyond the buffer")
	}
	s.buffer, s.clamp = 140_000, 70_000
	for _, want := range []int64{66984, 69880, 70000} {
		if !s.grow(1448, 2304) || s.window != want {
			t.Errorf("window %d, want %d", s.window, want)
		}
	}
	if s.grow(1448, 2304) {
		t.Error("it grew beyond what is allowed")
	}
}

// TestReceiverRTT: tcp_rcv_rtt_update: stamps tell milliseconds, at least one,
// and are averaged; the time of a window only lowers the estimate.
func TestReceiverRTT(t *testing.T) {
	s := newSpace()
	s.observe(100*us, 0, 1000, 50_000)
	if s.rtt != ms {
		t.Errorf("%v after a stamp, want 1ms", s.rtt)
	}
	s.observe(300*us, 0, 51_000, 50_000)
	if s.rtt != 200*us {
		t.Errorf("%v after a window in 200us", s.rtt)
	}
	s.observe(1200*us, ms, 60_000, 50_000)
	if s.rtt != 300*us {
		t.Errorf("%v after a stamp, want an eighth of the way to 1ms", s.rtt)
	}
	s.observe(1900*us, ms, 101_000, 50_000)
	if s.rtt != 300*us {
		t.Errorf("%v after a slow window, want 300us", s.rtt)
	}
}

// TestOfferedWindow: a sender keeps to what it is offered, and the offer grows
// while the application reads.
func TestOfferedWindow(t *testing.T) {
	c := config("reno")
	c.MSS, c.InitCwnd, c.Receive, c.QuickAcks = 1448, 1000, linuxMemory, 16
	p := newPair(t, c, 50*us).establish()
	edge, most := p.ends[0].edge, int64(0)
	p.rule = func(_ time.Duration, k *packet.Packet) fate {
		if s := &k.Segment; s.Len > 0 {
			if s.Seq+int64(s.Len) > edge {
				t.Fatalf("sent up to %d of %d", s.Seq+int64(s.Len), edge)
			}
			most = max(most, s.Seq+int64(s.Len)-p.ends[0].una)
		} else {
			edge = max(edge, s.Ack+int64(s.Window))
		}
		return fate{}
	}
	p.ends[0].Write(0, 44*1448, Tag{})
	p.loop.RunUntil(us)
	if p.ends[0].nxt != 44*1448 {
		t.Errorf("sent %d at first, want 44 segments", p.ends[0].nxt)
	}
	p.ends[0].Write(us, 4<<20, Tag{})
	p.drain(t)
	if p.users[1].delivered != 44*1448+4<<20 {
		t.Errorf("%d bytes came", p.users[1].delivered)
	}
	if most < 200_000 {
		t.Errorf("at most %d bytes were under way, want the window to open", most)
	}
}
