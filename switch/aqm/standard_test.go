package aqm

import (
	"testing"
	"time"

	"aqmlab/units"
)

// TestStandardThresholdIsExact: C x RTT of whole microseconds is a whole number
// of eighths of bytes, worked out here in integers, and a queue of just that
// length is not marked, one byte more is.
func TestStandardThresholdIsExact(t *testing.T) {
	schemes := map[string]map[string]any{
		"dctcp-red": nil,
		"mq-ecn":    nil,
		"ideal-red": nil,
		"red":       {"weight": 1, "pmax": 1e-300},
	}
	for _, rate := range []units.Rate{100 * units.Mbps, units.Gbps, 10 * units.Gbps, 100 * units.Gbps} {
		for us := 1; us <= 400; us++ {
			k := int(rate) / 1_000_000 * us / 8
			for name, params := range schemes {
				e := env()
				e.Rate, e.RTTs = rate, OneRTT(time.Duration(us)*time.Microsecond)
				s, err := Table().New(name, params, e)
				if err != nil {
					t.Fatal(err)
				}
				if at, above := s.Arrive(0, nil, View{Packets: 9, Bytes: k, PortBytes: k}), s.Arrive(0, nil, View{Packets: 9, Bytes: k + 1, PortBytes: k + 1}); at != Pass || above == Pass {
					t.Errorf("%s, %v, %d us: %v at %d bytes, %v above", name, rate, us, at, k, above)
				}
			}
		}
	}
}

// TestShareOfLambdaIsExact: lambda and weight shares have no exact binary form,
// their product with K often is whole.
func TestShareOfLambdaIsExact(t *testing.T) {
	for _, tt := range []struct {
		rtt    time.Duration
		lambda float64
		want   int
	}{
		{35 * time.Microsecond, 0.8, 3500}, {70 * time.Microsecond, 0.8, 7000}, {300 * time.Microsecond, 0.17, 6375}, {258 * time.Microsecond, 2, 64500},
	} {
		for _, name := range []string{"dctcp-red", "mq-ecn", "ideal-red"} {
			e := env()
			e.RTTs = OneRTT(tt.rtt)
			s, err := Table().New(name, map[string]any{"lambda": tt.lambda}, e)
			if err != nil {
				t.Fatal(err)
			}
			if at, above := s.Arrive(0, nil, View{Packets: 9, Bytes: tt.want, PortBytes: 1}), s.Arrive(0, nil, View{Packets: 9, Bytes: tt.want + 1, PortBytes: 1}); at != Pass || above != Mark {
				t.Errorf("%s, %v, lambda %v: %v at %d bytes, %v above", name, tt.rtt, tt.lambda, at, tt.want, above)
			}
		}
	}
}

// TestStandardTimesAreExact: as with bytes, so with nanoseconds.
func TestStandardTimesAreExact(t *testing.T) {
	for us := 10; us <= 1000; us += 30 {
		for thousandths := 10; thousandths < 2000; thousandths += 70 {
			e := env()
			e.RTTs = OneRTT(time.Duration(us) * time.Microsecond)
			lambda := float64(thousandths) / 1000
			s, err := Table().New("tcn", map[string]any{"lambda": lambda}, e)
			if err != nil {
				t.Fatal(err)
			}
			limit := time.Duration(us * thousandths)
			if at, above := s.Depart(0, nil, View{Waited: limit}), s.Depart(0, nil, View{Waited: limit + 1}); at != Pass || above != Mark {
				t.Errorf("tcn, RTT %v, lambda %v: %v at %v, %v above", e.RTTs.Min, lambda, at, limit, above)
			}
		}
	}
}
