package port

import (
	"math"
	"slices"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/aqm"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// lone is a port at 1 Gbps with one queue, on which a byte takes 8 ns, so that no time
// is rounded.
func lone(lengths packet.Lengths, scheme string, params map[string]any) Spec {
	return Spec{
		Rate: units.Gbps, RTTs: aqm.OneRTT(100 * time.Microsecond), Queues: 1, Buffer: 10 * units.MB, Lengths: lengths,
		Scheduler: kind.Choice{Kind: "fifo"}, Scheme: kind.Choice{Kind: scheme, Params: params},
	}
}

// backlog says what is there when a burst comes.
type backlog int

const (
	idle     backlog = iota // nothing: the first packet of the burst begins to leave at once
	leaving                 // a packet that has just begun to leave
	finished                // a packet that has just left: the link is free when the whole burst is there
)

// marksOf sends a burst of packets of that size through a port, all in one instant, and
// tells which of them left with a mark, counted from 1.
func marksOf(t *testing.T, spec Spec, before backlog, size int32) (marked []int) {
	t.Helper()
	p, pool := build(t, spec)
	now, burst := time.Second, make([]*packet.Packet, 200)
	if before == leaving {
		p.Enqueue(now, get(pool, 0, size, packet.ECT0))
		p.Dequeue(now)
	}
	free := now
	if before == leaving {
		free += spec.Rate.Time(packet.OnWire(int(size)))
	}
	for i := range burst {
		burst[i] = get(pool, 0, size, packet.ECT0)
		p.Enqueue(now, burst[i])
		if before == idle && i == 0 {
			p.Dequeue(now)
			free += spec.Rate.Time(packet.OnWire(int(size)))
		}
	}
	for p.Bytes() > 0 {
		p.Dequeue(free)
		free += spec.Rate.Time(packet.OnWire(int(size)))
	}
	for i, k := range burst {
		if k.ECN == packet.CE {
			marked = append(marked, i+1)
		}
	}
	return marked
}

// TestTCNAndREDAgree: the time T of TCN and the length K = C x T of ECN/RED say the same
// of a lone queue (TCN, section 4.1), whatever the sizes of its packets, if lengths
// count what takes time. RED counts the bytes that wait when a packet arrives; the
// packet itself is not among them, nor is one that is being sent (TCN, section 2.1).
// The rest of that one is part of a sojourn time. So both mark the same packets of a
// burst that comes when the link is about to be free, and TCN is one packet ahead where
// another has just begun to leave, be it the first of the burst. The authors' code
// counts the arriving packet, which makes up for that one.
func TestTCNAndREDAgree(t *testing.T) {
	const threshold = 100 * time.Microsecond
	limit := units.Size(units.Gbps.Bytes(threshold)).String()
	for _, size := range []int32{1500, 576, 64, 40} {
		// So many packets take longer than T.
		n := int(threshold/units.Gbps.Time(packet.OnWire(int(size)))) + 1
		for before, first := range map[backlog]struct{ tcn, red, arriving int }{
			finished: {n + 1, n + 1, n},
			idle:     {n + 1, n + 2, n + 1},
			leaving:  {n, n + 1, n},
		} {
			check := func(want int, scheme string, params map[string]any) {
				t.Helper()
				got := marksOf(t, lone(packet.Wire, scheme, params), before, size)
				if !slices.Equal(got, upTo200(want)) {
					t.Errorf("%d bytes, %v, %s %v: marks %v, want all from %d", size, before, scheme, params, got, want)
				}
			}
			check(first.tcn, "tcn", map[string]any{"threshold": threshold.String()})
			check(first.red, "dctcp-red", map[string]any{"threshold": limit})
			check(first.arriving, "dctcp-red", map[string]any{"threshold": limit, "count_arriving": true})
		}
	}
}

func upTo200(first int) (all []int) {
	for i := first; i <= 200; i++ {
		all = append(all, i)
	}
	return all
}

// TestLoneThreshold: a lone queue has the link to itself, so that the threshold that
// follows its drain rate is K = C x RTT x lambda, 12,500 bytes (TCN, section 3.1; MQ-ECN,
// section 3.2): of packets that are kept waiting there the one that finds more is the
// first that is marked.
func TestLoneThreshold(t *testing.T) {
	schemes := map[string]map[string]any{
		"ideal-red": {"estimator": "departure-rate"},
		"mq-ecn":    {},
		"dctcp-red": {},
	}
	for name, params := range schemes {
		for _, size := range []int32{1500, 587} { // the latter is 625 bytes on the wire, of which 20 are K
			spec := lone(packet.Wire, name, params)
			spec.Scheduler = kind.Choice{Kind: "dwrr"}
			wire := packet.OnWire(int(size))
			want := int(12500/wire) + 1 // packets found by the first that is marked
			if got := firstMarkAt(t, spec, size); got != want*wire {
				t.Errorf("%s, packets of %d: the first mark is at %d bytes, want at %d", name, size, got, want*wire)
			}
		}
	}
}

// firstMarkAt is the shortest queue at which an arriving packet is marked, once the port
// has sent packets of that size for long.
func firstMarkAt(t *testing.T, spec Spec, size int32) int {
	t.Helper()
	p, pool := build(t, spec)
	now := time.Duration(0)
	for range 40 {
		p.Enqueue(now, get(pool, 0, size, packet.ECT0))
	}
	for range 5000 {
		k, _ := p.Dequeue(now)
		pool.Put(k)
		now += spec.Rate.Time(packet.OnWire(int(size)))
		p.Enqueue(now, get(pool, 0, size, packet.ECT0))
	}
	for p.Bytes() > 0 {
		p.Dequeue(now)
		now += spec.Rate.Time(packet.OnWire(int(size)))
	}
	for {
		found, k := p.Bytes(), get(pool, 0, size, packet.ECT0)
		p.Enqueue(now, k)
		if k.ECN == packet.CE {
			return found
		}
	}
}

// TestFairShares: queues of equal weight share what lengths count, whatever the sizes
// of their packets: half of the wire each, or, counted in network-layer bytes, 1500 x
// 102/64 to 1538 of it to packets of 64 bytes, 61 %.
func TestFairShares(t *testing.T) {
	const small, full = 64, 1500
	for _, scheduler := range []string{"dwrr", "wfq"} {
		for lengths, want := range map[packet.Lengths]float64{packet.Wire: 0.5, packet.IP: 1500. / 64 * 102 / (1500./64*102 + 1538)} {
			spec := lone(lengths, "droptail", nil)
			spec.Queues, spec.Scheduler = 2, kind.Choice{Kind: scheduler}
			p, pool := build(t, spec)
			for q, size := range []int32{small, full} {
				for range 3 {
					p.Enqueue(0, get(pool, uint8(q), size, packet.NotECT))
				}
			}
			var wire [2]float64
			for now := time.Duration(0); now < time.Second; {
				k, _ := p.Dequeue(now)
				n := packet.OnWire(int(k.Size))
				wire[k.DSCP] += float64(n)
				now += spec.Rate.Time(n)
				p.Enqueue(now, k)
			}
			if got := wire[0] / (wire[0] + wire[1]); math.Abs(got-want) > 0.001 {
				t.Errorf("%s, lengths %v: small packets get %.4f of the wire, want %.4f", scheduler, lengths, got, want)
			}
		}
	}
}

// TestLengthsOfBuffers: what a buffer holds is counted as all lengths are.
func TestLengthsOfBuffers(t *testing.T) {
	spec := lone(packet.Wire, "droptail", nil)
	spec.Buffer = 2 * 1538
	p, pool := build(t, spec)
	var taken []bool
	for range 3 {
		taken = append(taken, p.Enqueue(0, get(pool, 0, 1500, packet.NotECT)))
	}
	if !slices.Equal(taken, []bool{true, true, false}) || p.Bytes() != 3076 || p.QueueBytes(0) != 3076 || p.TakePeak(0) != 3076 {
		t.Errorf("taken %v, %d bytes in the port, %d in the queue", taken, p.Bytes(), p.QueueBytes(0))
	}
}
