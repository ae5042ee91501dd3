package trafficgen

import (
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/trafficgen/traffic"
	"aqmlab/units"
)

func withStatic(t *testing.T, params map[string]any, change func(*Spec)) []traffic.Flow {
	t.Helper()
	return withSpec(t, func(s *Spec) {
		s.Arrival, s.Load, s.Flows = kind.Choice{Kind: "static", Params: params}, 0, 0
		change(s)
	})
}

// Static flows of the TCN paper, Fig. 5a: one flow of at most 500 Mbps from the
// first sender, one from the second, four from the third, in this order, each
// sender in a queue of its own.
func TestStaticGroups(t *testing.T) {
	flows := withStatic(t, map[string]any{
		"count": []any{1, 1, 4}, "servers": []any{2, 3, 4}, "services": []any{0, 1, 2},
		"start": []any{"0s", "10s", "20s"}, "stop": []any{"40s"}, "rate": []any{"500Mbps", "0bps", "0bps"},
	}, func(*Spec) {})
	var want []traffic.Flow
	for i, server := range []int{1, 2, 3, 3, 3, 3} {
		f := traffic.Flow{ID: i, Start: time.Duration(server-1) * 10 * time.Second, Server: server, Bytes: traffic.MaxBytes, Service: server - 1, Stop: 40 * time.Second}
		if i == 0 {
			f.Start, f.Rate = 1, 500*units.Mbps // no flow starts at zero
		}
		want = append(want, f)
	}
	if !slices.Equal(flows, want) {
		t.Errorf("got\n%+v\nwant\n%+v", flows, want)
	}
}

// TCN, Fig. 2: eight flows from as many senders, then two from the remaining.
func TestStaticTakesHostsInTurn(t *testing.T) {
	flows := withStatic(t, map[string]any{
		"count": []any{8, 2}, "start": []any{"0s", "10ms"}, "services": []any{0, 1}, "stop": []any{"50ms"},
	}, func(s *Spec) { s.Hosts, s.Racks = 11, nil })
	for i, f := range flows {
		late := i >= 8
		if f.Client != 0 || f.Server != i+1 || late != (f.Service == 1) || late != (f.Start == 10*time.Millisecond) {
			t.Errorf("flow %+v", f)
		}
	}
	if len(flows) != 10 {
		t.Errorf("%d flows, want 10", len(flows))
	}
}

// MQ-ECN, Fig. 1: eight flows from eight servers, spread evenly over the queues.
func TestStaticTakesServicesInTurn(t *testing.T) {
	flows := withStatic(t, map[string]any{"count": []any{8}}, func(s *Spec) { s.Services = []int{5, 1, 1} })
	if got, want := column(flows, service), []int{0, 1, 2, 0, 1, 2, 0, 1}; !slices.Equal(got, want) {
		t.Errorf("services %v, want %v", got, want)
	}
	pairs := withStatic(t, map[string]any{"count": []any{8}}, func(s *Spec) { s.ServiceBy = ByPair })
	counts := make([]int, 4)
	for _, f := range pairs {
		counts[f.Service]++
	}
	if !slices.Equal(counts, []int{2, 2, 2, 2}) {
		t.Errorf("eight pairs are of services %v, want two each", counts)
	}
}

// Without a stop a flow has a size: the long flows of the ABQ simulation, 30 MB
// between random hosts.
func TestStaticSizes(t *testing.T) {
	flows := withStatic(t, map[string]any{"count": []any{5}}, func(s *Spec) {
		s.Pattern, s.Sizes, s.Push = "all-to-all", kind.Choice{Kind: "fixed", Params: map[string]any{"size": "30MB"}}, true
	})
	for _, f := range flows {
		if f.Bytes != 30_000_000 || f.Stop != 0 || f.Client == f.Server || !f.Push {
			t.Errorf("flow %+v", f)
		}
	}
}

func TestStaticBetweenGivenHosts(t *testing.T) {
	flows := withStatic(t, map[string]any{"count": []any{1, 2}, "servers": []any{9, 3}, "clients": []any{4}}, func(s *Spec) { s.Pattern = "inter-rack" })
	if got, want := column(flows, ends), [][2]int{{3, 8}, {3, 2}, {3, 2}}; !slices.Equal(got, want) {
		t.Errorf("ends %v, want %v", got, want)
	}
	out := withStatic(t, map[string]any{"count": []any{2}, "clients": []any{5}}, func(s *Spec) { s.Pattern, s.Host = "one-to-many", 2 })
	if got, want := column(out, ends), [][2]int{{4, 2}, {4, 2}}; !slices.Equal(got, want) {
		t.Errorf("ends %v, want %v", got, want)
	}
}

func TestStaticErrors(t *testing.T) {
	for want, c := range map[string]struct {
		pattern string
		params  map[string]any
	}{
		"count: empty: want the number": {"", map[string]any{"count": []any{}}},
		"count: [1]: 0 is outside 1 to": {"", map[string]any{"count": []any{1, 0}}},
		"count: 8 is not a list":        {"", map[string]any{"count": 8}},
		"start: 2 values for 3 groups":  {"", map[string]any{"count": []any{1, 1, 1}, "start": []any{"1s", "2s"}}},
		"start: [0]: -1s is outside":    {"", map[string]any{"start": []any{"-1s"}}},
		"stop: 1s is not above the sta": {"", map[string]any{"start": []any{"1s"}, "stop": []any{"1s"}}},
		"rate: [0]: \"-1bps\" is not a": {"", map[string]any{"rate": []any{"-1bps"}}},
		"services: 4 is outside 0 to 3": {"", map[string]any{"services": []any{4}}},
		"client 1 or server 10 is outs": {"", map[string]any{"servers": []any{10}}},
		"client 1 or server 0 is outsi": {"", map[string]any{"servers": []any{0}}},
		"host 1 is both client and ser": {"", map[string]any{"servers": []any{1}}},
		"pattern all-to-all does not s": {"all-to-all", map[string]any{"servers": []any{2}}},
		"pattern many-to-one does not ": {"many-to-one", map[string]any{"clients": []any{2}}},
	} {
		spec := paperSpec()
		spec.Arrival = kind.Choice{Kind: "static", Params: c.params}
		if c.pattern != "" {
			spec.Pattern = c.pattern
		}
		_, err := Trace(spec)
		if err == nil || !strings.Contains(err.Error(), "arrival: static: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
