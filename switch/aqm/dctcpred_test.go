package aqm

import "testing"

// TestDCTCPREDScope: each scope compares its own length and no other (MQ-ECN,
// section 2.1); dequeue asks the departing packet and leaves arrivals alone
// (TCN, section 4.3).
func TestDCTCPREDScope(t *testing.T) {
	const k = 30000
	at := map[string]func(length int) View{
		"queue": func(n int) View { return View{Queue: 1, Bytes: n, PortBytes: 2 * k, PoolBytes: 3 * k} },
		"port":  func(n int) View { return View{Queue: 1, Bytes: 0, PortBytes: n, PoolBytes: 3 * k} },
		"pool":  func(n int) View { return View{Queue: 1, Bytes: 0, PortBytes: 0, PoolBytes: n} },
	}
	for scope, view := range at {
		for _, when := range []string{"enqueue", "dequeue"} {
			s := build(t, "dctcp-red", map[string]any{"threshold": "30KB", "scope": scope, "at": when})
			for length, want := range map[int]Verdict{0: Pass, k: Pass, k + 1: Mark} {
				asked, other := s.Arrive(0, nil, view(length)), s.Depart(0, nil, view(length))
				if when == "dequeue" {
					asked, other = other, asked
				}
				if asked != want || other != Pass {
					t.Errorf("scope %s at %s, %d bytes: %v, want %v; the other side says %v", scope, when, length, asked, want, other)
				}
			}
		}
	}
}

func TestDCTCPREDStandardOfThePort(t *testing.T) {
	s := build(t, "dctcp-red", map[string]any{"scope": "port"})
	if s.Arrive(0, nil, View{PortBytes: 31250}) != Pass || s.Arrive(0, nil, View{PortBytes: 31251}) != Mark {
		t.Error("a port of 1 Gbps with 250 us does not mark above 31,250 bytes only")
	}
}

func TestDCTCPREDBadChoices(t *testing.T) {
	refused(t, "dctcp-red", env(), map[string]map[string]any{
		"scope":     {"scope": "switch"},
		"at":        {"at": "departure"},
		"threshold": {"threshold": "minimum", "scope": "port"},
	})
}
