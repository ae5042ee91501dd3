package tcp

import (
	"math"
	"testing"
	"time"
)

// metered is a rack with a meter, of which the test sends and acknowledges segments.
type metered struct {
	rack
	now time.Duration
}

func newMetered() *metered {
	m := &metered{rack: rack{meter: &meter{}}}
	m.reset()
	return m
}

func (m *metered) send(at time.Duration) {
	m.now = at
	end := int64(m.tail) * mss
	m.rack.send(at, end, end+mss)
	m.meter.leaves(at, &m.transit, m.tail-1)
}

// arrive acknowledges up to a segment.
func (m *metered) arrive(at time.Duration, upTo int64) delivery {
	m.now = at
	m.acked(at, upTo*mss, 0)
	return m.meter.take(0, 0)
}

// TestDeliveryRate: the draft, section 2.1: a sample is what arrived since the segment was
// sent over the time since the last arrival before that, or over the time that it took to
// send that, if this is longer.
func TestDeliveryRate(t *testing.T) {
	for name, tt := range map[string]struct {
		sent, acked [6]time.Duration
		want        float64 // segments a millisecond
	}{
		// The sixth was sent with the first arrival, after which five more arrive.
		"clocked":           {[6]time.Duration{0, 2 * ms, 4 * ms, 6 * ms, 8 * ms, 10 * ms}, [6]time.Duration{10 * ms, 12 * ms, 14 * ms, 16 * ms, 18 * ms, 20 * ms}, 0.5},
		"slower":            {[6]time.Duration{0, 0, 0, 0, 0, 10 * ms}, [6]time.Duration{10 * ms, 13 * ms, 16 * ms, 19 * ms, 22 * ms, 25 * ms}, 5.0 / 15},
		"arrive at once":    {[6]time.Duration{0, 1 * ms, 2 * ms, 3 * ms, 4 * ms, 5 * ms}, [6]time.Duration{20 * ms, 20 * ms, 20 * ms, 20 * ms, 20 * ms, 20 * ms}, 6.0 / 20},
		"compressed by far": {[6]time.Duration{0, 10 * ms, 20 * ms, 30 * ms, 40 * ms, 50 * ms}, [6]time.Duration{51 * ms, 51 * ms, 51 * ms, 51 * ms, 51 * ms, 51 * ms}, 6.0 / 51},
	} {
		m := newMetered()
		var got delivery
		for i, j := 0, 0; j < 6; {
			if i < 6 && tt.sent[i] < tt.acked[j] {
				m.send(tt.sent[i])
				i++
				continue
			}
			got = m.arrive(tt.acked[j], int64(j+1))
			for j++; i < 6 && j < 6 && tt.sent[i] == tt.acked[j-1]; i++ { // with the acknowledgement
				m.send(tt.sent[i])
			}
		}
		if want := tt.want * mss * 1000; math.Abs(got.rate-want) > 1 {
			t.Errorf("%s: %.0f bytes a second, want %.0f", name, got.rate, want)
		}
		if got.total != 6*mss || got.limited {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestRateOfTheSender: data that was acknowledged faster than it was sent gives the rate
// of sending (section 2.1.4).
func TestRateOfTheSender(t *testing.T) {
	m := newMetered()
	m.send(0)
	m.send(0)
	m.arrive(10*ms, 1)
	m.send(10 * ms)
	m.send(14 * ms)
	m.arrive(14*ms+us, 2) // late; then the two at once
	d := m.arrive(15*ms, 4)
	if want := 3 * mss / 14e-3; math.Abs(d.rate-want) > 1 { // sent from 0 to 14 ms, arrived from 10 to 15
		t.Errorf("%.0f bytes a second, want %.0f", d.rate, want)
	}
}

// TestRateOfResends: a segment that was sent again stands for its last sending, and a
// sample over less than the shortest round trip is none.
func TestRateOfResends(t *testing.T) {
	m := newMetered()
	m.send(0)
	m.arrive(10*ms, 1)
	m.send(10 * ms)
	m.lose(1)
	m.resend(29*ms, 1)
	m.meter.leaves(29*ms, &m.transit, 1)
	m.now = 30 * ms
	m.acked(30*ms, 2*mss, 0)
	if d := m.meter.take(10*ms, 0); d.rate != 0 || d.total != 2*mss {
		t.Errorf("%+v, want no rate: the first of the two came", d)
	}
}

// TestLimitedByTheApplication: what is sent after the application had too little, until
// that has arrived, gives samples that say so (section 2.1.5).
func TestLimitedByTheApplication(t *testing.T) {
	m := newMetered()
	m.send(0)
	m.meter.lack(m.pipe)
	m.send(ms) // limited
	if d := m.arrive(10*ms, 1); d.limited {
		t.Error("what was sent before is limited")
	}
	if d := m.arrive(11*ms, 2); !d.limited {
		t.Error("what was sent after is not limited")
	}
	m.send(12 * ms)
	if d := m.arrive(22*ms, 3); d.limited {
		t.Error("it is limited still")
	}
}
