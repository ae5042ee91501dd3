package port

import (
	"slices"
	"testing"

	"aqmlab/switch/packet"
	"aqmlab/units"
)

// paperGate is the gate of the paper's setting: K = 20, Q_max = 80 full
// packets.
func paperGate(t testing.TB, params map[string]any) *abq {
	t.Helper()
	g, err := Gates().New("abq", params, GateEnv{Buffer: 80 * packet.FullPacket, FullPacket: packet.FullPacket, FacesHost: true})
	if err != nil {
		t.Fatal(err)
	}
	return g.(*abq)
}

// step is one length of the output queue, and what is to become of the gate.
type step struct {
	bytes int
	want  Release
	state congestion
	x     int // the next release point in bytes
}

// packets is a step at a length and with a release point in full packets.
func packets(n int, want Release, state congestion, x int) step {
	return step{n * 1500, want, state, x * 1500}
}

func run(t *testing.T, g *abq, steps []step) {
	t.Helper()
	for i, s := range steps {
		got := g.Occupied(s.bytes)
		if got != s.want || g.state != s.state || g.x != s.x {
			t.Errorf("step %d, %d bytes: release %d, state %d, X %d; want %d, %d, %d", i, s.bytes, got, g.state, g.x, s.want, s.state, s.x)
		}
		if g.Holds() != (s.state != uncongested) {
			t.Errorf("step %d: state %d holds: %v", i, s.state, g.Holds())
		}
	}
}

// TestABQSequences works the state machine through by hand.
func TestABQSequences(t *testing.T) {
	const us, lcs, cs = uncongested, lightlyCongested, congested
	tests := []struct {
		name   string
		params map[string]any
		steps  []step
	}{
		{"hold above 20, release at 20, 10 and 5", nil, []step{
			packets(20, Keep, us, 0), {20*1500 + 1, Keep, cs, 20 * 1500}, packets(80, Keep, cs, 20),
			packets(21, Keep, cs, 20), packets(20, FreeECE, lcs, 10), packets(20, Keep, lcs, 10), packets(11, Keep, lcs, 10),
			packets(10, FreeECE, lcs, 5), packets(6, Keep, lcs, 5), packets(5, FreeECE, us, 0),
			packets(4, Keep, us, 0), packets(0, Keep, us, 0), packets(20, Keep, us, 0),
		}},
		{"the last release unmarked", map[string]any{"ece_on_last_release": false}, []step{
			packets(21, Keep, cs, 20), packets(20, FreeECE, lcs, 10), packets(10, FreeECE, lcs, 5), packets(5, Free, us, 0),
		}},
		{"congestion from LCS resets X", nil, []step{
			packets(21, Keep, cs, 20), packets(10, FreeECE, lcs, 5), packets(20, Keep, lcs, 5),
			packets(21, Keep, cs, 20), packets(20, FreeECE, lcs, 10),
		}},
		{"between X and K it goes on holding", map[string]any{"q_max": "36KB"}, []step{ // X = 24 - 20 packets
			packets(21, Keep, cs, 4), packets(20, Keep, cs, 4), packets(5, Keep, cs, 4), packets(4, FreeECE, us, 0),
		}},
		{"a jump past all release points releases once, as the first does", map[string]any{"ece_on_last_release": false}, []step{
			packets(80, Keep, cs, 20), packets(0, FreeECE, us, 0), packets(0, Keep, us, 0),
		}},
		{"a release point equal to the floor stays", map[string]any{"k": "24KB"}, []step{ // 16 packets
			packets(17, Keep, cs, 16), packets(16, FreeECE, lcs, 8), packets(8, FreeECE, lcs, 4), packets(4, FreeECE, us, 0),
		}},
		{"a floor one byte higher drops it", map[string]any{"k": "24KB", "floor": "6001B"}, []step{
			packets(17, Keep, cs, 16), packets(16, FreeECE, lcs, 8), packets(8, FreeECE, us, 0),
		}},
		{"the least floor halves down to a byte", map[string]any{"k": "4B", "floor": "1B"}, []step{
			{5, Keep, cs, 4}, {4, FreeECE, lcs, 2}, {2, FreeECE, lcs, 1}, {1, FreeECE, us, 0},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { run(t, paperGate(t, tt.params), tt.steps) })
	}
}

// TestABQNeverStrandsACKs: an empty queue lets everything go, and only a queue
// that has shrunk lets anything go, wherever the queue goes in between.
func TestABQNeverStrandsACKs(t *testing.T) {
	for seed := range uint64(200) {
		g := paperGate(t, map[string]any{"floor": []string{"1B", "1500B", "6KB", "30KB"}[seed%4]})
		at := 0
		for _, bytes := range walk(seed, 500, 80*1500) {
			if r := g.Occupied(bytes); r != Keep && bytes >= at {
				t.Fatalf("seed %d: a queue that grew from %d to %d bytes releases", seed, at, bytes)
			}
			if again := g.Occupied(bytes); again != Keep {
				t.Fatalf("seed %d: the same length of %d bytes releases twice", seed, bytes)
			}
			at = bytes
		}
		if g.Occupied(0); g.Holds() {
			t.Fatalf("seed %d: an empty queue holds ACKs", seed)
		}
	}
}

func TestABQParameters(t *testing.T) {
	tests := []struct {
		params map[string]any
		buffer units.Size
		want   string
	}{
		{nil, 30_001, ""},
		{nil, 30_000, "abq: k: 30KB is not below the capacity of the port's queues, 30KB"},
		{map[string]any{"q_max": "20KB"}, units.MB, "abq: k: 30KB is not below the capacity of the port's queues, 20KB"},
		{map[string]any{"q_max": "31KB"}, 1500, ""},
		{map[string]any{"k": 20}, units.MB, "abq: k: 20 has no unit: want a size such as 96KB or 2500B"},
	}
	for _, tt := range tests {
		_, err := Gates().New("abq", tt.params, GateEnv{Buffer: tt.buffer, FullPacket: packet.FullPacket})
		if got := errText(err); got != tt.want {
			t.Errorf("%v in a buffer of %v: %q, want %q", tt.params, tt.buffer, got, tt.want)
		}
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestABQDefaultsArePackets: K is 20 packets and the floor is 4 (ABQ, section 4), of
// whatever the lengths of the port count.
func TestABQDefaultsArePackets(t *testing.T) {
	for lengths, full := range map[packet.Lengths]int{packet.IP: 1500, packet.Wire: 1538} {
		spec := Spec{Lengths: lengths, Buffer: 200 * units.KB}
		g, err := Gates().New("abq", nil, GateEnv{Buffer: spec.Buffer, FullPacket: spec.FullPacket(), FacesHost: true})
		if err != nil {
			t.Fatal(err)
		}
		holds := func(bytes int) bool {
			g.Occupied(bytes)
			wait, _ := g.Enter(true)
			return wait
		}
		// X is K at first and halves with each release: 10, 5 and 2.5 packets.
		got := []bool{holds(20 * full), holds(20*full + 1), holds(5*full + 1), holds(5 * full)}
		if want := []bool{false, true, true, false}; !slices.Equal(got, want) {
			t.Errorf("lengths %v: holds at 20 packets, above, above 5 and at 5: %v, want %v", lengths, got, want)
		}
	}
}
