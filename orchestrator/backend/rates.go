package backend

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"aqmlab/results"
	"aqmlab/switch/fabric"
	"aqmlab/units"
)

// Rates are those of the links that ports of a network send by, over its timeline. The
// rate that most ports have stands once, for all that are not listed.
func Rates(spec fabric.Spec) []results.PortRate {
	ports := make(map[results.PortName][]course)
	for i, l := range spec.Links {
		for _, way := range []struct {
			from, to string
			back     bool
		}{{l.A, l.B, false}, {l.B, l.A, true}} {
			if spec.HostPorts || slices.Contains(spec.Switches, way.from) {
				name := results.PortName{Switch: way.from, Port: way.to}
				ports[name] = append(ports[name], courseOf(spec.Timeline, i, way.back, l.Rate))
			}
		}
	}
	many := make(map[units.Rate]int) // ports whose rate never changes
	for _, p := range ports {
		if sum := together(p); len(sum) == 1 {
			many[sum[0].rate]++
		}
	}
	var usual units.Rate
	for _, r := range slices.Sorted(maps.Keys(many)) {
		if many[r] > many[usual] {
			usual = r
		}
	}
	var all []results.PortRate
	if usual > 0 {
		all = append(all, results.PortRate{Rate: int64(usual)})
	}
	names := slices.SortedFunc(maps.Keys(ports), func(a, b results.PortName) int {
		return cmp.Or(cmp.Compare(a.Switch, b.Switch), cmp.Compare(a.Port, b.Port))
	})
	for _, name := range names {
		sum := together(ports[name])
		if len(sum) == 1 && sum[0].rate == usual {
			continue
		}
		for _, s := range sum {
			all = append(all, results.PortRate{Switch: name.Switch, Port: name.Port, At: results.Micros(s.at), Rate: int64(s.rate)})
		}
	}
	return all
}

// course is the rate of one direction of a link over time, from zero on.
type course []rateAt

type rateAt struct {
	at   time.Duration
	rate units.Rate
}

// courseOf is that of a link; while it is down it has no rate.
func courseOf(t fabric.Timeline, link int, back bool, rate units.Rate) course {
	c := course{{0, rate}}
	for _, l := range t.Links {
		if l.Link != link || l.Back != back {
			continue
		}
		for _, s := range l.States {
			if s.Down {
				s.Rate = 0
			}
			if last := &c[len(c)-1]; last.at == s.At {
				last.rate = s.Rate
			} else if last.rate != s.Rate {
				c = append(c, rateAt{s.At, s.Rate})
			}
		}
	}
	return c
}

// together adds up links side by side.
func together(links []course) course {
	if len(links) == 1 {
		return links[0]
	}
	var times []time.Duration
	for _, c := range links {
		for _, r := range c {
			times = append(times, r.at)
		}
	}
	slices.Sort(times)
	var sum course
	for _, t := range slices.Compact(times) {
		at := rateAt{at: t}
		for _, c := range links {
			i, _ := slices.BinarySearchFunc(c, t+1, func(r rateAt, t time.Duration) int { return cmp.Compare(r.at, t) })
			at.rate += c[i-1].rate
		}
		sum = append(sum, at)
	}
	return sum
}
