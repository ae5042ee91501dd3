package port

import (
	"slices"
	"testing"
	"time"

	"aqmlab/switch/packet"
)

// program is the release of the authors' program: K of 10 packets of 1500 bytes,
// segments of 1446 bytes.
func program(more map[string]any) map[string]any {
	p := map[string]any{"k": "15KB", "least_window": "1446B", "release": "share", "corrector": "window"}
	for key, v := range more {
		p[key] = v
	}
	return p
}

// TestShare: the window is max(K/n, a segment), in whole bytes; ACKs go while those
// before them have windows of no more than K together: all of ten, eleven of more.
func TestShare(t *testing.T) {
	tests := []struct{ n, free, window int }{
		{0, 0, 15_000}, {1, 1, 15_000}, {2, 2, 7500}, {7, 7, 2142}, {9, 9, 1666}, {10, 10, 1500}, {11, 11, 1446}, {12, 11, 1446}, {100, 11, 1446},
	}
	for _, tt := range tests {
		if free, window := paperGate(t, program(nil)).Share(tt.n); free != tt.free || window != tt.window {
			t.Errorf("of %d ACKs %d go, with a window of %d; want %d, %d", tt.n, free, window, tt.free, tt.window)
		}
		if free, window := paperGate(t, program(map[string]any{"corrector": "ece"})).Share(tt.n); free != tt.free || window != 0 {
			t.Errorf("echoes: of %d ACKs %d go, with a window of %d; want %d, none", tt.n, free, window, tt.free)
		}
		if free, window := paperGate(t, nil).Share(tt.n); free != tt.n || window != 0 {
			t.Errorf("the paper: of %d ACKs %d go, with a window of %d; want all, none", tt.n, free, window)
		}
	}
}

// told enters pure ACKs, numbered from first, that tell a window.
func (e *entrance) told(now time.Duration, window int32, first, n int) {
	for id := first; id < first+n; id++ {
		k := e.pool.Get()
		k.Hash, k.Size, k.PureACK, k.ECE = uint32(id), 40, true, false
		k.Segment.Window = window
		e.Enter(now, k)
	}
}

// ids are what has been passed on since the last look, by number.
func (e *entrance) ids() (ids []uint32) {
	for _, p := range e.log {
		ids = append(ids, p.id)
	}
	e.log = e.log[:0]
	return ids
}

// numbers are n numbers from first on.
func numbers(first, n uint32) (ids []uint32) {
	for id := first; id < first+n; id++ {
		ids = append(ids, id)
	}
	return ids
}

// TestPartialRelease: of 40 ACKs, eleven go at a release point, and those that stay
// wait for the next one. When the queue is empty, every packet that passes the port
// is the occasion for the next eleven: one that leaves by it, or one that enters,
// which goes first. No ACK gets the echo.
func TestPartialRelease(t *testing.T) {
	e := newEntrance(t, program(nil))
	step := func(what string, want []uint32) {
		t.Helper()
		if slices.ContainsFunc(e.log, func(p passed) bool { return p.ece }) {
			t.Errorf("%s: an echo was set", what)
		}
		if got := e.ids(); !slices.Equal(got, want) {
			t.Errorf("%s: %v went on, want %v", what, got, want)
		}
	}
	e.Occupied(1, 11*1500)
	e.told(1, 0, 0, 40)
	step("congested", nil)
	e.Occupied(2, 10*1500)
	step("first release point", numbers(0, 11))
	e.Occupied(3, 9*1500)
	e.enter(3, 98, false, false)
	step("between release points", []uint32{98})
	e.Occupied(4, 5*1500) // half of it is below the floor: the last release point
	step("second release point", numbers(11, 11))
	e.told(5, 0, 50, 1)
	step("uncongested, the queue not empty", numbers(50, 1))
	e.Occupied(6, 1500)
	step("not empty", nil)
	e.Occupied(7, 0)
	step("empty", numbers(22, 11))
	e.enter(8, 99, false, false)
	step("a packet enters", append(numbers(99, 1), numbers(33, 7)...))
	e.Occupied(9, 0)
	e.told(10, 0, 60, 1)
	step("none left", numbers(60, 1))
	if c := e.Count(); c.Held != 40 || c.Released != 40 || c.MarkedECE != 0 || e.pool.Taken() != 0 {
		t.Errorf("counted %+v, %d packets left", c, e.pool.Taken())
	}
}

// TestWindowsOfAllThatWait: every ACK that waits gets the window of its release, if
// that is smaller than its own; those that stay keep it.
func TestWindowsOfAllThatWait(t *testing.T) {
	e := newEntrance(t, program(nil))
	var windows []int32
	e.out.Forward = func(_ time.Duration, k *packet.Packet) {
		windows = append(windows, k.Segment.Window)
		e.pool.Put(k)
	}
	e.Occupied(1, 11*1500)
	e.told(1, 0, 0, 10)       // any number of bytes
	e.told(1, 1000, 10, 1)    // less than the share
	e.told(1, 100_000, 11, 4) // more
	e.Occupied(2, 10*1500)    // 15 wait: 1446 each, and 11 go
	e.told(3, 100_000, 15, 1) // 5 wait: 3000 each
	e.Occupied(4, 5*1500)     // all go
	e.told(5, 100_000, 16, 1) // uncongested
	want := append(slices.Repeat([]int32{1446}, 10), 1000, 1446, 1446, 1446, 1446, 3000, 100_000)
	if !slices.Equal(windows, want) {
		t.Errorf("windows %v, want %v", windows, want)
	}
	if c := e.Count(); c.Cut != 15 || c.Released != 16 {
		t.Errorf("counted %+v", c)
	}
}

// TestLatest: an ACK takes the place of the one of its flow that waits, so that n
// counts flows.
func TestLatest(t *testing.T) {
	e := newEntrance(t, program(map[string]any{"queue": "latest"}))
	e.Occupied(1, 11*1500)
	e.told(1, 7000, 1, 3)
	e.told(2, 5000, 2, 1) // of the second flow
	e.told(2, 0, 4, 1)
	if c := e.Count(); c.Held != 5 || c.Replaced != 1 || c.PeakPackets != 4 || e.pool.Taken() != 4 {
		t.Errorf("counted %+v, %d packets wait", c, e.pool.Taken())
	}
	windows := map[uint32]int32{}
	forward := e.out.Forward
	e.out.Forward = func(now time.Duration, k *packet.Packet) {
		windows[k.Hash] = k.Segment.Window
		forward(now, k)
	}
	e.Occupied(3, 10*1500)
	if got := e.ids(); !slices.Equal(got, numbers(1, 4)) || windows[1] != 3750 || windows[2] != 3750 || windows[4] != 3750 {
		t.Errorf("%v went on, with the windows %v", got, windows)
	}
	if e.pool.Taken() != 0 {
		t.Errorf("%d packets left", e.pool.Taken())
	}
}

// TestProgramConserves: with what the program does, too, each ACK goes on or gives
// way to one of its flow, and nothing waits for long at an empty queue.
func TestProgramConserves(t *testing.T) {
	for seed := range uint64(50) {
		e := newEntrance(t, program(map[string]any{"queue": []string{"all", "latest"}[seed%2], "states": []string{"paper", "program"}[seed/2%2]}))
		entered := int64(0)
		for i, bytes := range walk(seed, 2000, 20*1500) {
			e.Occupied(time.Duration(i), bytes)
			e.told(time.Duration(i), 0, i%17, i%3)
			entered += int64(i % 3)
		}
		c, waiting := e.Count(), int64(e.pool.Taken())
		if entered != int64(len(e.log))+c.Replaced+waiting || c.Held != c.Released+c.Replaced+waiting || c.Held == 0 || c.Cut == 0 {
			t.Errorf("seed %d: %d entered, %d passed, %d wait; counted %+v", seed, entered, len(e.log), waiting, c)
		}
		for range waiting/11 + 2 {
			e.Occupied(time.Second, 1500)
			e.Occupied(time.Second, 0)
		}
		if n := e.pool.Taken(); n != 0 {
			t.Errorf("seed %d: %d ACKs wait at an empty queue", seed, n)
		}
	}
}

// moment is a packet that enters with the queue at a length, or that leaves it so
// long, and what is to become of the program's gate.
type moment struct {
	what  string // "ACK", "data", "leaves" or "joins"
	bytes int
	wait  bool
	then  Release
	state congestion
	x     int
}

// TestProgramStates works the program's state machine through by hand, for a K of
// 15,000 bytes and a floor of 6000.
func TestProgramStates(t *testing.T) {
	const us, lcs, cs = uncongested, lightlyCongested, congested
	tests := map[string][]moment{
		"the largest excess, halved": {
			{"joins", 14_999, false, Keep, us, 0}, {"ACK", 14_999, false, Keep, us, 0},
			{"joins", 40_000, false, Keep, us, 0}, // nobody looks
			{"leaves", 20_000, false, Keep, us, 0},
			{"data", 20_000, false, Keep, cs, 5000}, {"ACK", 20_000, true, Keep, cs, 5000},
			{"joins", 24_000, false, Keep, cs, 5000}, {"ACK", 24_000, true, Keep, cs, 9000},
			{"joins", 40_000, false, Keep, cs, 9000}, {"ACK", 40_000, true, Keep, cs, 15_000}, // at most K
			{"leaves", 15_001, false, Keep, cs, 15_000}, {"ACK", 15_001, true, Keep, cs, 15_000},
			{"leaves", 15_000, false, Free, lcs, 15_000}, {"ACK", 15_000, true, Keep, cs, 15_000},
			{"leaves", 13_500, false, Free, lcs, 15_000}, {"ACK", 13_500, true, Keep, lcs, 15_000}, {"data", 13_500, false, Keep, lcs, 15_000},
			{"leaves", 7501, false, Keep, lcs, 15_000}, {"leaves", 7500, false, Free, lcs, 7500},
			{"leaves", 3750, false, Free, lcs, 0}, {"ACK", 3750, true, Keep, lcs, 0}, // below the floor, ACKs still wait
			{"leaves", 1, false, Keep, lcs, 0}, {"leaves", 0, false, Free, us, 0},
			{"ACK", 0, false, Free, us, 0}, {"data", 0, false, Free, us, 0},
		},
		"between X and K they pass": {
			{"joins", 16_000, false, Keep, us, 0}, {"ACK", 16_000, true, Keep, cs, 1000},
			{"leaves", 14_500, false, Keep, cs, 1000}, {"ACK", 14_500, false, Keep, cs, 1000},
			{"leaves", 1001, false, Keep, cs, 1000}, {"ACK", 1001, false, Keep, cs, 1000},
			{"leaves", 1000, false, Free, lcs, 1000}, {"ACK", 1000, true, Keep, lcs, 1000},
			{"leaves", 0, false, Free, us, 0},
		},
		"K itself is congested, with no excess": {
			{"joins", 15_000, false, Keep, us, 0}, {"ACK", 15_000, true, Keep, cs, 0},
			{"leaves", 1500, false, Keep, cs, 0}, {"leaves", 0, false, Free, lcs, 0}, {"ACK", 0, true, Keep, lcs, 0},
			{"joins", 1500, false, Keep, lcs, 0}, {"leaves", 0, false, Free, us, 0},
		},
		"the floor itself is given up": {
			{"joins", 27_000, false, Keep, us, 0}, {"ACK", 27_000, true, Keep, cs, 12_000},
			{"leaves", 12_000, false, Free, lcs, 12_000}, {"leaves", 6000, false, Free, lcs, 0},
		},
	}
	for name, moments := range tests {
		g, err := Gates().New("abq", program(map[string]any{"states": "program"}), GateEnv{Buffer: 80 * packet.FullPacket, FullPacket: packet.FullPacket, FacesHost: true})
		if err != nil {
			t.Fatal(err)
		}
		a := g.(*abqProgram)
		for i, m := range moments {
			wait, then := false, Keep
			if m.what == "leaves" || m.what == "joins" {
				then = a.Occupied(m.bytes)
			} else {
				wait, then = a.Enter(m.what == "ACK")
			}
			if wait != m.wait || then != m.then || a.state != m.state || a.x != m.x || a.bytes != m.bytes {
				t.Errorf("%s: %d, %s at %d: waits %v, release %d, state %d, X %d; want %+v", name, i, m.what, a.bytes, wait, then, a.state, a.x, m)
			}
		}
	}
}

// TestProgramEchoes: with echoes in place of windows, those of a congestion are set,
// and those of the last release as the parameter has it.
func TestProgramEchoes(t *testing.T) {
	for last, want := range map[bool]Release{true: FreeECE, false: Free} {
		g, err := Gates().New("abq", map[string]any{"states": "program", "ece_on_last_release": last}, GateEnv{Buffer: 80 * packet.FullPacket, FullPacket: packet.FullPacket, FacesHost: true})
		if err != nil {
			t.Fatal(err)
		}
		g.Occupied(50_000)
		g.Enter(true)
		if r := g.Occupied(20_000); r != FreeECE {
			t.Errorf("first release %d", r)
		}
		if r := g.Occupied(0); r != want {
			t.Errorf("last release %d, want %d", r, want)
		}
	}
}
