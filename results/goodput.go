package results

import (
	"maps"
	"slices"
)

// ServiceGoodput is the goodput of one service, see [Goodput].
type ServiceGoodput struct {
	Service int32   `json:"service"`
	Goodput float64 `json:"goodput_gbps"`
}

// GoodputByService is the goodput of every service that flows belong to, in
// their order. Each counts from its own first request to its own last
// completion.
func GoodputByService(flows []Flow) []ServiceGoodput {
	of := make(map[int32][]Flow)
	for _, f := range flows {
		of[f.Service] = append(of[f.Service], f)
	}
	var out []ServiceGoodput
	for _, service := range slices.Sorted(maps.Keys(of)) {
		out = append(out, ServiceGoodput{service, Goodput(of[service])})
	}
	return out
}

// MeanGoodput is the mean over points; a service has none in a point without
// flows of it.
func MeanGoodput(points []Point) []ServiceGoodput {
	sum := make(map[int32]float64)
	for _, p := range points {
		for _, s := range GoodputByService(p.Flows) {
			sum[s.Service] += s.Goodput
		}
	}
	var out []ServiceGoodput
	for _, service := range slices.Sorted(maps.Keys(sum)) {
		out = append(out, ServiceGoodput{service, sum[service] / float64(len(points))})
	}
	return out
}
