package testbed

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

// TooFarError says that machines are too far apart for a lab: the way between them takes
// longer than its base RTT. Links' delays cannot be shortened by more than they are.
type TooFarError struct {
	Hosts    [2]string     // of the connection whose way is the longest, for what the lab wants
	Machines [2]string     // that these are on
	Adds     time.Duration // wall time that this way takes longer than the lab's links
	RTT      time.Duration // base RTT that the lab wants of it, in lab time
	Dilation float64       // of the lab
}

// Least is the dilation with which that way adds no larger share to the base RTT than hosts
// and switch of one machine may.
func (e *TooFarError) Least() float64 { return float64(e.Adds) / (maxOverhead * float64(e.RTT)) }

func (e *TooFarError) Error() string {
	return fmt.Sprintf("a round trip between %s on machine %s and %s on machine %s takes %v longer than the lab's links, which is more than its base RTT of %v at dilation %v: want --dilation %v or more, or machines that are closer",
		e.Hosts[0], e.Machines[0], e.Hosts[1], e.Machines[1], e.Adds.Round(time.Microsecond), e.RTT, e.Dilation, math.Ceil(e.Least()))
}

// farthest is the way between two machines that adds the most to its base RTT, by the
// connection that it adds the least to: what others were longer by is the machines' other
// work. It is nil where none adds anything.
func (t *Testbed) farthest(found []timedConnection) *TooFarError {
	if len(t.remotes) < 2 {
		return nil
	}
	on := t.nodesOnMachines()
	least := map[[2]string]*TooFarError{}
	for _, c := range found {
		if c.want <= 0 {
			continue
		}
		e := &TooFarError{Adds: time.Duration(float64(c.rtt-c.want) * t.dilation), RTT: c.want, Dilation: t.dilation}
		for i, h := range []int{c.sender, c.receiver} {
			e.Hosts[i] = t.plan.Hosts[h]
			e.Machines[i] = on[e.Hosts[i]]
		}
		if way := least[e.Machines]; way == nil || e.Least() < way.Least() {
			least[e.Machines] = e
		}
	}
	var far *TooFarError
	for _, machines := range slices.SortedFunc(maps.Keys(least), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		if way := least[machines]; way.Adds > 0 && (far == nil || way.Least() > far.Least()) {
			far = way
		}
	}
	return far
}

// checkReach wants the machines to be near enough for the dilation that the lab asks for,
// or for the largest where that is left to us.
func (t *Testbed) checkReach(found []timedConnection) error {
	far := t.farthest(found)
	if far == nil {
		return nil
	}
	dilation := float64(t.lab.Dilation)
	if dilation == 0 {
		dilation = largest(t.lab)
	}
	if float64(far.Adds) > float64(far.RTT)*dilation {
		return far
	}
	return nil
}
