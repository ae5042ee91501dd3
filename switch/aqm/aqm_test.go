package aqm

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// env is a 1 Gbps port with four equal queues and a base RTT of 250 us: the
// testbed of TCN, section 6.1.
func env() Env {
	return Env{
		Queues:  4,
		Weights: []int{1, 1, 1, 1},
		Rate:    units.Gbps,
		RTTs:    OneRTT(250 * time.Microsecond),
		Rand:    rand.New(rand.NewPCG(1, 1)),
	}
}

func build(t *testing.T, name string, params map[string]any) Scheme {
	t.Helper()
	s, err := Table().New(name, params, env())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestEveryScheme is what each row of the table must satisfy.
func TestEveryScheme(t *testing.T) {
	for _, k := range Table() {
		t.Run(k.Name, func(t *testing.T) {
			if k.Doc == "" || strings.HasSuffix(k.Doc, ".") {
				t.Errorf("doc line %q", k.Doc)
			}
			if !strings.Contains(k.Note, "ECN-capable") {
				t.Errorf("note %q does not say what becomes of a packet that is not ECN-capable", k.Note)
			}
			for _, p := range k.Params {
				if p.Doc == "" {
					t.Errorf("parameter %s has no documentation", p.Name)
				}
			}
			if _, err := Table().New(k.Name, map[string]any{"no_such_parameter": 1}, env()); err == nil {
				t.Error("accepts an unknown parameter")
			}
			if a, b := verdicts(t, k.Name), verdicts(t, k.Name); a != b {
				t.Errorf("same seed, other verdicts:\n%s\n%s", a, b)
			}
			s := build(t, k.Name, nil)
			p, v := &packet.Packet{Size: 1500, ECN: packet.ECT0}, View{Bytes: 30000, PortBytes: 60000, Packets: 20, Waited: time.Millisecond}
			if n := testing.AllocsPerRun(100, func() { s.Arrive(0, p, v); s.Depart(0, p, v) }); n != 0 {
				t.Errorf("%v allocations per packet", n)
			}
		})
	}
}

// verdicts is what a scheme decides on one seeded random walk of a queue.
func verdicts(t *testing.T, name string) string {
	s := build(t, name, nil)
	rng := rand.New(rand.NewPCG(7, 7))
	var out strings.Builder
	for i := range 500 {
		now := time.Duration(i) * 12 * time.Microsecond
		v := View{Queue: rng.IntN(4), Bytes: rng.IntN(96000)}
		v.PortBytes, v.Packets, v.Waited = v.Bytes, v.Bytes/1500, units.Gbps.Time(v.Bytes)
		p := &packet.Packet{Size: 1500, ECN: packet.ECT0}
		out.WriteString(s.Arrive(now, p, v).String() + " " + s.Depart(now, p, v).String())
	}
	return out.String()
}

func TestUnknownScheme(t *testing.T) {
	_, err := Table().New("tnc", nil, env())
	if err == nil || !strings.Contains(err.Error(), "droptail, dctcp-red, tcn") {
		t.Errorf("got %v, want the known names", err)
	}
}

func TestDropTailNeverMarks(t *testing.T) {
	s := build(t, "droptail", nil)
	v := View{Bytes: 1 << 30, PortBytes: 1 << 30, Waited: time.Hour}
	if a, d := s.Arrive(0, nil, v), s.Depart(0, nil, v); a != Pass || d != Pass {
		t.Errorf("arrive %v, depart %v", a, d)
	}
}

// TestDCTCPRED: K = C x RTT x lambda is 31,250 bytes for the port of env; the
// comparison is strict (TCN, section 2.1).
func TestDCTCPRED(t *testing.T) {
	tests := []struct {
		name   string
		params map[string]any
		bytes  int
		want   Verdict
	}{
		{"standard, at the threshold", nil, 31250, Pass},
		{"standard, above", nil, 31251, Mark},
		{"standard by name", map[string]any{"threshold": "standard"}, 31251, Mark},
		{"lambda 0.17, at", map[string]any{"lambda": 0.17}, 5312, Pass},
		{"lambda 0.17, above", map[string]any{"lambda": 0.17}, 5313, Mark},
		{"minimum of four queues, at", map[string]any{"threshold": "minimum"}, 7812, Pass},
		{"minimum of four queues, above", map[string]any{"threshold": "minimum"}, 7813, Mark},
		{"32 KB, at", map[string]any{"threshold": "32KB"}, 32000, Pass},
		{"32 KB, above", map[string]any{"threshold": "32KB"}, 32001, Mark},
		{"empty queue, threshold zero", map[string]any{"threshold": "0B"}, 0, Pass},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := build(t, "dctcp-red", tt.params)
			// Other queues hold more than any threshold: only its own counts.
			v := View{Queue: 2, Bytes: tt.bytes, PortBytes: 96000, Waited: time.Second}
			if got := s.Arrive(0, nil, v); got != tt.want {
				t.Errorf("arrive at %d bytes: %v, want %v", tt.bytes, got, tt.want)
			}
			if got := s.Depart(0, nil, v); got != Pass {
				t.Errorf("depart: %v, want pass", got)
			}
		})
	}
}

func TestMinimumFollowsWeights(t *testing.T) {
	e := env()
	e.Weights = []int{2, 1, 1, 1}
	s, err := Table().New("dctcp-red", map[string]any{"threshold": "minimum"}, e)
	if err != nil {
		t.Fatal(err)
	}
	for q, k := range []int{12500, 6250, 6250, 6250} {
		if s.Arrive(0, nil, View{Queue: q, Bytes: k}) != Pass || s.Arrive(0, nil, View{Queue: q, Bytes: k + 1}) != Mark {
			t.Errorf("queue %d does not mark above %d bytes only", q, k)
		}
	}
}

// TestTCN: mark on departure iff the sojourn time is larger than T; the
// standard T is RTT x lambda (TCN, section 4.1).
func TestTCN(t *testing.T) {
	us := time.Microsecond
	tests := []struct {
		name   string
		params map[string]any
		waited time.Duration
		want   Verdict
	}{
		{"no wait", map[string]any{"threshold": "256us"}, 0, Pass},
		{"at the threshold", map[string]any{"threshold": "256us"}, 256 * us, Pass},
		{"above", map[string]any{"threshold": "256us"}, 256*us + 1, Mark},
		{"standard, at", nil, 250 * us, Pass},
		{"standard, above", nil, 250*us + 1, Mark},
		{"half the RTT, above", map[string]any{"lambda": 0.5}, 125*us + 1, Mark},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := build(t, "tcn", tt.params)
			for q := range 4 {
				if got := s.Depart(0, nil, View{Queue: q, Waited: tt.waited}); got != tt.want {
					t.Errorf("queue %d: %v, want %v", q, got, tt.want)
				}
			}
			if got := s.Arrive(0, nil, View{Bytes: 1 << 30}); got != Pass {
				t.Errorf("arrive: %v, want pass", got)
			}
		})
	}
}

func TestBadParameters(t *testing.T) {
	noRTT := env()
	noRTT.RTTs = RTTs{}
	tests := []struct {
		scheme string
		params map[string]any
		env    Env
		param  string
	}{
		{"tcn", map[string]any{"threshold": "-1us"}, env(), "threshold"},
		{"tcn", map[string]any{"threshold": 256}, env(), "threshold"},
		{"tcn", map[string]any{"lambda": -1}, env(), "lambda"},
		{"tcn", nil, noRTT, "threshold"},
		{"dctcp-red", map[string]any{"threshold": "tiny"}, env(), "threshold"},
		{"dctcp-red", map[string]any{"lambda": 0}, env(), "lambda"},
		{"dctcp-red", nil, noRTT, "threshold"},
		{"droptail", map[string]any{"threshold": "1KB"}, env(), "threshold"},
	}
	for _, tt := range tests {
		_, err := Table().New(tt.scheme, tt.params, tt.env)
		var pe *kind.ParamError
		if err == nil {
			t.Errorf("%s %v: no error", tt.scheme, tt.params)
		} else if !strings.Contains(err.Error(), tt.param) || !errors.As(err, &pe) {
			t.Errorf("%s %v: %q does not name parameter %s", tt.scheme, tt.params, err, tt.param)
		}
	}
}
