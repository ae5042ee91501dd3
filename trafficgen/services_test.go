package trafficgen

import (
	"math"
	"slices"
	"testing"

	"aqmlab/kind"
)

// Every pair belongs to one service for good, whatever else the spec says, and
// the pairs are spread evenly: the large simulations of the TCN paper split 144
// x 143 pairs into 7 services.
func TestServicesByPair(t *testing.T) {
	simulation := func(change func(*Spec)) map[[2]int]int {
		flows := withSpec(t, func(s *Spec) {
			s.Hosts, s.Racks, s.Pattern, s.Flows = 144, nil, "all-to-all", 200_000
			s.Services, s.ServiceBy = slices.Repeat([]int{1}, 7), ByPair
			change(s)
		})
		of := map[[2]int]int{}
		for _, f := range flows {
			if before, ok := of[ends(f)]; ok && before != f.Service {
				t.Fatalf("pair %v is of services %d and %d", ends(f), before, f.Service)
			}
			of[ends(f)] = f.Service
		}
		return of
	}
	base := simulation(func(*Spec) {})
	counts := make([]int, 7)
	for _, service := range base {
		counts[service]++
	}
	if len(base) < 20_500 || slices.Max(counts)-slices.Min(counts) > 40 {
		t.Errorf("%d of 20592 pairs seen, by service %v", len(base), counts)
	}
	other := simulation(func(s *Spec) { s.Load, s.Sizes.Kind = 0.3, "hadoop" })
	for pair, service := range other {
		if before, ok := base[pair]; ok && before != service {
			t.Fatalf("pair %v moved from service %d to %d", pair, before, service)
		}
	}
	differ := 0
	for pair, service := range simulation(func(s *Spec) { s.Seed = 2 }) {
		if base[pair] != service {
			differ++
		}
	}
	if differ < len(base)/2 {
		t.Errorf("another seed changes the service of %d pairs only", differ)
	}
}

// Shares follow the weights to within a pair, and only pairs of the pattern
// count.
func TestPairsAreDealtByWeight(t *testing.T) {
	for _, c := range []struct {
		pattern string
		weights []int
		want    []int // pairs of each service, or one more
	}{
		{"all-to-all", []int{1, 1, 1, 1}, []int{18, 18, 18, 18}},
		{"all-to-all", []int{1, 2, 3, 4}, []int{7, 14, 21, 28}},
		{"many-to-one", []int{1, 1, 1}, []int{2, 2, 2}},
		{"many-to-one", []int{0, 1}, []int{0, 8}},
		{"inter-rack", []int{1, 1}, []int{27, 27}},
	} {
		spec := paperSpec()
		spec.Pattern, spec.Services, spec.ServiceBy = c.pattern, c.weights, ByPair
		w, err := newWorkload(spec, 0)
		if err != nil {
			t.Fatal(err)
		}
		counts, pairs := make([]int, len(c.weights)), 0
		for client := range 9 {
			for server := range 9 {
				if w.pattern.has(w.layout, client, server) {
					counts[w.service(client, server)]++
					pairs++
				}
			}
		}
		for i, n := range counts {
			if n < c.want[i] || n > c.want[i]+1 {
				t.Errorf("%s by %v: pairs %v, want %v or one more", c.pattern, c.weights, counts, c.want)
			}
			if share := float64(n) / float64(pairs); math.Abs(w.shares()[i]-share) > 1e-12 {
				t.Errorf("%s by %v: service %d has the share %v, want %v", c.pattern, c.weights, i, w.shares()[i], share)
			}
		}
	}
}

// In the scripts of the MQ-ECN and TCN papers a pair's service is its number
// modulo that of the services, so that with 144 hosts and eight services the
// sender alone decides, with 32 also whether the receiver's number is even, and
// with seven both. (reference-semantics of the scripts: service is
// ((receiver + 1) x hosts + sender + 1) mod n.)
func TestServicesByPairNumber(t *testing.T) {
	for n, of := range map[int]func(receiver, sender int) int{
		8:  func(_, sender int) int { return (sender + 1) % 8 },
		32: func(receiver, sender int) int { return ((receiver+1)%2*16 + sender + 1) % 32 },
		7:  func(receiver, sender int) int { return ((receiver+1)*144 + sender + 1) % 7 },
	} {
		for _, seed := range []uint64{1, 2} {
			flows := withSpec(t, func(s *Spec) {
				s.Hosts, s.Racks, s.Pattern, s.Flows, s.Seed = 144, nil, "all-to-all", 20_000, seed
				s.Services, s.ServiceBy = slices.Repeat([]int{1}, n), ByPairNumber
			})
			for _, f := range flows {
				if want := of(f.Client, f.Server); f.Service != want {
					t.Fatalf("%d services: from %d to %d: service %d, want %d", n, f.Server, f.Client, f.Service, want)
				}
			}
		}
	}
}

// With shares of bytes every pair offers as much, whatever the sizes of its
// service: here 1 KB and 10 KB.
func TestPairsOfferAsManyBytes(t *testing.T) {
	bytes := map[[2]int]int{}
	for _, f := range withSpec(t, func(s *Spec) {
		s.Pattern, s.Flows, s.Services, s.ServiceBy, s.SharesOf = "all-to-all", 200_000, []int{1, 1}, ByPairNumber, OfBytes
		s.ServiceSizes = []kind.Choice{
			{Kind: "fixed", Params: map[string]any{"size": "1KB"}},
			{Kind: "fixed", Params: map[string]any{"size": "10KB"}},
		}
	}) {
		bytes[ends(f)] += int(f.Bytes)
	}
	// 36 pairs have 5051 flows each, the other 36 a tenth: 5 % of deviation.
	mean := 0.0
	for _, n := range bytes {
		mean += float64(n) / float64(len(bytes))
	}
	for pair, n := range bytes {
		if off := float64(n)/mean - 1; len(bytes) != 72 || math.Abs(off) > 4*0.05 {
			t.Errorf("pair %v, one of %d, offers %.1f %% more than others", pair, len(bytes), 100*off)
		}
	}
}

// Sizes go round the services: with two of them, services 0 and 2 have the
// first, and 1 and 3 the second.
func TestServiceSizes(t *testing.T) {
	flows := withSpec(t, func(s *Spec) {
		s.ServiceSizes = []kind.Choice{
			{Kind: "fixed", Params: map[string]any{"size": "1KB"}},
			{Kind: "fixed", Params: map[string]any{"size": "2KB"}},
		}
	})
	for _, f := range flows {
		if want := int64(1000 * (1 + f.Service%2)); f.Bytes != want {
			t.Fatalf("a flow of service %d has %d bytes, want %d", f.Service, f.Bytes, want)
		}
	}
}

// One distribution for all is the same as one for each service, but for the
// rounding of the mean.
func TestServiceSizesOfOneKind(t *testing.T) {
	base := withSpec(t, func(*Spec) {})
	same := withSpec(t, func(s *Spec) { s.Sizes, s.ServiceSizes = kind.Choice{}, []kind.Choice{{Kind: "websearch"}} })
	if !slices.Equal(base, same) {
		t.Error("the traces differ")
	}
}
