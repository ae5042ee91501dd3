package truth

import (
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/sim"
	"aqmlab/switch/aqm"
	"aqmlab/switch/packet"
	"aqmlab/switch/port"
)

// meter is a scheme that does what another says, and measures the queue of a
// port between two times: exactly, since it is asked of every packet that comes
// and goes.
type meter struct {
	aqm.Scheme
	from, to time.Duration

	packets int             // in the queue
	since   time.Duration   // it has held that many
	held    []time.Duration // for how long it held 0, 1, 2 ... packets
	payload map[int32]int64 // that left, by sender

	low, high int  // packets
	fell      bool // the queue was down to low since it was up to high
	swings    int  // times that it rose from low to high
}

// measure puts a meter on a port with a single queue.
func measure(t *testing.T, c *sim.Config, at int, from, to time.Duration) *meter {
	t.Helper()
	m := &meter{from: from, to: to, payload: map[int32]int64{}}
	built := 0
	extend(t, c, func(s aqm.Scheme, _ aqm.Env) aqm.Scheme {
		if built++; built-1 != at {
			return s
		}
		m.Scheme = s
		return m
	})
	return m
}

// extend makes the schemes of all ports, in their order, something else.
func extend(t *testing.T, c *sim.Config, wrap func(aqm.Scheme, aqm.Env) aqm.Scheme) {
	t.Helper()
	before, inner := c.Kinds.Schemes(), c.Fabric.Port.Scheme
	kinds, err := port.NewKinds([]aqm.Kind{kind.Row("extended", "a scheme and more", struct{}{}, func(_ struct{}, env aqm.Env) (aqm.Scheme, error) {
		s, err := before.New(inner.Kind, inner.Params, env)
		if err != nil {
			return nil, err
		}
		return wrap(s, env), nil
	})}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Kinds, c.Fabric.Port.Scheme = kinds, kind.Choice{Kind: "extended"}
}

func (m *meter) Arrive(now time.Duration, k *packet.Packet, v aqm.View) aqm.Verdict {
	verdict := m.Scheme.Arrive(now, k, v)
	if verdict != aqm.Drop && (verdict != aqm.MarkOrDrop || k.ECN.Capable()) {
		m.count(now, v.Packets+1)
	}
	return verdict
}

func (m *meter) Depart(now time.Duration, k *packet.Packet, v aqm.View) aqm.Verdict {
	m.count(now, v.Packets)
	if now >= m.from && now < m.to {
		m.payload[k.Src] += int64(k.Segment.Len)
	}
	return m.Scheme.Depart(now, k, v)
}

// count notes that the queue holds that many packets from now on.
func (m *meter) count(now time.Duration, packets int) {
	if d := min(now, m.to) - max(m.since, m.from); d > 0 {
		for len(m.held) <= m.packets {
			m.held = append(m.held, 0)
		}
		m.held[m.packets] += d
	}
	m.packets, m.since = packets, now
	switch {
	case now < m.from || now >= m.to:
	case packets <= m.low:
		m.fell = true
	case packets >= m.high && m.fell:
		m.fell = false
		m.swings++
	}
}

// period is how long a swing between low and high takes.
func (m *meter) period() time.Duration { return (m.to - m.from) / time.Duration(max(m.swings, 1)) }

// goodput is the payload that left, in bits a second.
func (m *meter) goodput() float64 {
	sum := 0.0
	for _, rate := range m.goodputs() {
		sum += rate
	}
	return sum
}

func (m *meter) goodputs() map[int32]float64 {
	rates := map[int32]float64{}
	for host, bytes := range m.payload {
		rates[host] = float64(bytes) * 8 / (m.to - m.from).Seconds()
	}
	return rates
}

// mean is the mean length of the queue over the time, in packets.
func (m *meter) mean() float64 {
	sum, all := 0.0, 0.0
	for packets, d := range m.held {
		sum += float64(packets) * float64(d)
		all += float64(d)
	}
	return sum / all
}

// quantile is the length, in packets, that the queue does not exceed for that
// share of the time. Those of 0 and 1 are the least and the largest length.
func (m *meter) quantile(q float64) int {
	left := time.Duration(q * float64(m.to-m.from))
	for packets, d := range m.held {
		if left -= d; d > 0 && left <= 0 {
			return packets
		}
	}
	return len(m.held) - 1
}
