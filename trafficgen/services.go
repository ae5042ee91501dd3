package trafficgen

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"

	"aqmlab/kind"
	"aqmlab/trafficgen/traffic"
)

// What decides which service a flow belongs to.
const (
	ByFlow       = "flow"        // each flow picks one at random
	ByPair       = "pair"        // each pair of client and server belongs to one for good, dealt out at random
	ByPairNumber = "pair-number" // the same by the number of the pair, modulo the sum of the weights
)

// ServiceRules lists what [Spec.ServiceBy] may be. Pair numbers are those of
// the ns-2 scripts of the MQ-ECN and TCN papers: with hosts counted from 0,
// (client + 1) x hosts + server + 1. Where the number of services divides that
// of the hosts, all that a host sends is of one service.
func ServiceRules() []string { return []string{ByFlow, ByPair, ByPairNumber} }

// What the weights of services are shares of.
const (
	OfFlows = "flows" // by pair, every pair has as many
	OfBytes = "bytes" // by pair, every pair offers as much payload, as in the scripts mentioned above
)

// Shares lists what [Spec.SharesOf] may be.
func Shares() []string { return []string{OfFlows, OfBytes} }

const (
	maxServices  = traffic.MaxDSCP + 1
	maxWeight    = 1_000_000 // keeps the sum of the weights far from overflow
	maxPairHosts = 4096      // bounds the memory of services by pair to some bytes a pair
)

// weights are running sums, so that service i is picked for a number below
// sums[i] and not below sums[i-1].
type weights []int

func newWeights(services []int) (weights, error) {
	if len(services) == 0 {
		return weights{1}, nil
	}
	if len(services) > maxServices {
		return nil, fmt.Errorf("services: %d weights are too many: want at most %d, one for each DSCP", len(services), maxServices)
	}
	sums, sum := make(weights, len(services)), 0
	for i, w := range services {
		if w < 0 || w > maxWeight {
			return nil, fmt.Errorf("services: weight %d of service %d is outside 0 to %d", w, i, maxWeight)
		}
		sum += w
		sums[i] = sum
	}
	if sum == 0 {
		return nil, errors.New("services: all weights are zero: want at least one above")
	}
	return sums, nil
}

func (w weights) sum() int { return w[len(w)-1] }

func (w weights) pick(r *rand.Rand) int { return w.at(r.IntN(w.sum())) }

// at is the service for a number from 0 to below the sum.
func (w weights) at(n int) int { return sort.SearchInts(w, n+1) }

// shares is how large a part each service has.
func (w weights) shares() []float64 {
	shares, before := make([]float64, len(w)), 0
	for i, sum := range w {
		shares[i] = float64(sum-before) / float64(w.sum())
		before = sum
	}
	return shares
}

// pairing gives every pair of a pattern to a service.
type pairing struct {
	hosts    int
	services []uint8 // of client x hosts + server
	shares   []float64
}

// newPairing deals the pairs out: at random, so that each service has a share
// of them by its weight, to within one pair, or by their numbers.
func newPairing(l layout, p pattern, w weights, rule string, r *rand.Rand) (*pairing, error) {
	if l.hosts > maxPairHosts {
		return nil, fmt.Errorf("services by pair: %d hosts have too many pairs: want at most %d hosts", l.hosts, maxPairHosts)
	}
	var cells []int
	for client := range l.hosts {
		for server := range l.hosts {
			if p.has(l, client, server) {
				cells = append(cells, client*l.hosts+server)
			}
		}
	}
	r.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
	made := &pairing{l.hosts, make([]uint8, l.hosts*l.hosts), make([]float64, len(w))}
	for k, cell := range cells {
		n := k * w.sum() / len(cells)
		if rule == ByPairNumber {
			n = (cell + l.hosts + 1) % w.sum()
		}
		service := w.at(n)
		made.services[cell] = uint8(service)
		made.shares[service]++
	}
	for i := range made.shares {
		made.shares[i] /= float64(len(cells))
	}
	return made, nil
}

func (p *pairing) service(client, server int) int { return int(p.services[client*p.hosts+server]) }

// checkServices tells whether rule and shares are empty or known.
func (spec Spec) checkServices() error {
	if spec.SharesOf != "" && !slices.Contains(Shares(), spec.SharesOf) {
		return kind.Unknown("shares of services", spec.SharesOf, Shares())
	}
	if spec.ServiceBy != "" && !slices.Contains(ServiceRules(), spec.ServiceBy) {
		return kind.Unknown("rule for services", spec.ServiceBy, ServiceRules())
	}
	return nil
}
