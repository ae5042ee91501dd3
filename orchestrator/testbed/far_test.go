package testbed

import (
	"errors"
	"strings"
	"testing"
	"time"

	"aqmlab/labs"
	"aqmlab/orchestrator/netns"
)

// TestTooFar: delays of links cannot make up for a way that takes longer than the base RTT.
// The dilation that the error names would do, as would the largest that we may choose.
func TestTooFar(t *testing.T) {
	const us = time.Microsecond
	bed := &Testbed{
		lab: &labs.Lab{}, plan: netns.Plan{Hosts: []string{"h1", "h2", "h3"}}, remotes: make([]*remote, 2),
		hosts: fleet{{process: process{machine: "m1"}}, {process: process{machine: "m1"}, number: 1}, {process: process{machine: "m2"}, number: 2}},
	}
	near, far := timedConnection{0, 1, 120 * us, 100 * us}, timedConnection{1, 2, 350 * us, 100 * us}
	for _, c := range []struct {
		chosen, dilation float64 // by the lab, and that at which it was measured
		found            []timedConnection
		want             float64 // least dilation; zero: no error
	}{
		{1, 1, []timedConnection{near}, 0},
		{1, 1, []timedConnection{near, far}, 5}, // 250 us are half of 5 times 100 us
		{2, 2, []timedConnection{far, near}, 10},
		{3, 3, []timedConnection{{1, 2, 180 * us, 100 * us}}, 0},
		{0, 1, []timedConnection{far}, 0},
		{0, 1, []timedConnection{{1, 2, 200_000 * us, 100 * us}}, 3998},
		{1, 1, []timedConnection{far, {0, 2, 180 * us, 100 * us}}, 0}, // one of the way was late: the machines are near
		{1, 1, []timedConnection{{1, 2, 350 * us, 0}}, 0},             // the lab wants no base RTT
	} {
		bed.lab.Dilation, bed.dilation = labs.Dilation(c.chosen), c.dilation
		err := bed.checkReach(c.found)
		var e *TooFarError
		switch {
		case c.want == 0 && err != nil, c.want > 0 && !errors.As(err, &e):
			t.Errorf("%+v: %v", c, err)
		case c.want > 0 && (e.Least() != c.want || !strings.Contains(err.Error(), "h2 on machine m1 and h3 on machine m2")):
			t.Errorf("%+v: %v, least dilation %v", c, err, e.Least())
		}
	}
	if least := bed.least([]timedConnection{near, far}); least != 5 {
		t.Errorf("dilations are tried from %v, want 5", least)
	}
	bed.remotes = nil // one machine: the label says it
	if err := bed.checkReach([]timedConnection{far}); err != nil {
		t.Error(err)
	}
}
