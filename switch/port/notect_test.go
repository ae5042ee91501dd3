package port

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"aqmlab/switch/aqm"
	"aqmlab/switch/packet"
)

// capability is a scheme, parameters with which it acts on every packet, and
// what it does to one that is ECN-capable and to one that is not.
type capability struct {
	scheme         string
	params         map[string]any
	capable, other Fate
}

func capabilities() []capability {
	return []capability{
		{"droptail", nil, Sent, Sent},
		{"dctcp-red", map[string]any{"threshold": "1B"}, MarkedOnArrival, Sent},
		{"dctcp-red", map[string]any{"threshold": "1B", "at": "dequeue"}, MarkedOnDeparture, Sent},
		{"tcn", map[string]any{"threshold": "1ns"}, MarkedOnDeparture, Sent},
		{"tcn", map[string]any{"tmax": "1ns"}, MarkedOnDeparture, Sent},
		{"red", map[string]any{"min": "1B", "max": "1B", "weight": 1}, MarkedOnArrival, DroppedOnArrival},
		{"red", map[string]any{"min": "8KB", "max": "8KB", "weight": 0.5, "ecn": false}, DroppedOnArrival, DroppedOnArrival},
		{"ideal-red", map[string]any{"lambda": 1e-6}, MarkedOnArrival, Sent},
		{"codel", map[string]any{"target": "1ns", "interval": "1ns"}, MarkedOnDeparture, Sent},
		{"codel", map[string]any{"target": "1ns", "interval": "1ns", "action": "drop"}, DroppedOnDeparture, DroppedOnDeparture},
		{"codel", map[string]any{"target": "1ns", "interval": "1ns", "action": "either"}, MarkedOnDeparture, DroppedOnDeparture},
		{"pie", map[string]any{"alpha": 1e6, "max_burst": "0s", "mark_ecnth": 1}, MarkedOnArrival, DroppedOnArrival},
		{"pie", map[string]any{"alpha": 1e6, "max_burst": "0s", "mark_ecnth": 0}, DroppedOnArrival, DroppedOnArrival},
		{"pie", map[string]any{"alpha": 1e6, "max_burst": "0s", "ecn": false}, DroppedOnArrival, DroppedOnArrival},
		{"mq-ecn", map[string]any{"threshold": "1B"}, MarkedOnArrival, Sent},
		{"mq-ecn", map[string]any{"kmax": "1B"}, MarkedOnArrival, Sent},
		{"ecn-sharp", map[string]any{"ins_target": "1ns"}, MarkedOnDeparture, Sent},
		{"ecn-sharp", map[string]any{"ins_target": "1h", "pst_target": "1ns", "pst_interval": "1ns"}, MarkedOnDeparture, Sent},
		{"pi2", map[string]any{"target": "1ns", "alpha": 1e6, "k": 1}, MarkedOnArrival, DroppedOnArrival},
		{"dualpi2", map[string]any{"min_th": "1ns", "range": "0s", "alpha": 1e-12, "beta": 1e-12}, MarkedOnDeparture, Sent},
		{"pmsb", map[string]any{"threshold": "1B"}, MarkedOnArrival, Sent},
		{"phantom", map[string]any{"threshold": "0B"}, MarkedOnDeparture, Sent},
	}
}

// TestNotECNCapable: at the moment at which a scheme marks, only ECN-capable
// packets are marked, whichever codepoint they have, and what becomes of others
// is what the scheme's note says.
func TestNotECNCapable(t *testing.T) {
	for _, c := range capabilities() {
		t.Run(fmt.Sprint(c.scheme, c.params), func(t *testing.T) {
			row, err := aqm.Table().Find(c.scheme)
			if err != nil {
				t.Fatal(err)
			}
			says := "passes"
			if c.other.Dropped() {
				says = "dropped"
			}
			if !strings.Contains(row.Note, says) {
				t.Errorf("the note %q does not say %q of such a packet", row.Note, says)
			}
			ce := c.capable // a packet that came marked is not marked again
			if !ce.Dropped() {
				ce = Sent
			}
			for ecn, want := range map[packet.ECN]Fate{packet.ECT0: c.capable, packet.ECT1: c.capable, packet.CE: ce, packet.NotECT: c.other} {
				if got := fateAmid(t, c, ecn); got != want {
					t.Errorf("ECN %02b: fate %d, want %d", ecn, got, want)
				}
			}
		})
	}
}

// fateAmid is what becomes of a packet that arrives while others wait, of which
// one has left, and before five more. All wait for seconds.
func fateAmid(t *testing.T, c capability, ecn packet.ECN) Fate {
	t.Helper()
	p, pool := build(t, testbed(c.scheme, c.params))
	fates := map[uint32]Fate{}
	p.Watch(func(_ time.Duration, _ int, k *packet.Packet, f Fate) {
		if k.Hash == 1 && k.ECN != packet.CE && (f == MarkedOnArrival || f == MarkedOnDeparture) {
			t.Error("counted as marked, and is not")
		}
		fates[k.Hash] = f
	})
	enqueue := func(now time.Duration, n int) {
		for range n {
			k := get(pool, 0, 1500, packet.CE)
			k.Hash = 0
			p.Enqueue(now, k)
		}
	}
	enqueue(0, 20)
	p.Dequeue(time.Second)
	k := get(pool, 0, 1500, ecn)
	k.Hash = 1
	p.Enqueue(2*time.Second, k)
	enqueue(2*time.Second, 5)
	for now := 3 * time.Second; p.Bytes() > 0; now += time.Millisecond {
		p.Dequeue(now)
	}
	return fates[1]
}
