package role_test

import (
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/netns"
	"aqmlab/orchestrator/role"
)

// bucket is the rate of a host's token bucket, in bytes per second as the kernel counts.
func bucket(t *testing.T, namespace string) (rate uint64) {
	t.Helper()
	err := netns.Do(namespace, func() error {
		link, err := netlink.LinkByName(netns.Device)
		if err != nil {
			return err
		}
		all, err := netlink.QdiscList(link)
		for _, q := range all {
			if tbf, ok := q.(*netlink.Tbf); ok {
				rate = tbf.Rate
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return rate
}

// TestFollowRates: hosts send at the rates of their links along the wall clock, those of
// the moment at once, until there are others.
func TestFollowRates(t *testing.T) {
	l := newLab(t)
	var nothing agent.Nothing
	follow := func(after time.Duration, steps ...role.RateStep) {
		t.Helper()
		zero, err := host.Monotonic()
		if err != nil {
			t.Fatal(err)
		}
		r := role.Rates{Zero: zero - int64(after), Hosts: []role.HostRates{{Namespace: l.ends[1].Namespace, MTU: 1500, Steps: steps}}}
		if err := l.sw.FollowRates(r, &nothing); err != nil {
			t.Fatal(err)
		}
	}
	of := func(host int, bits float64) bool {
		// Frames of 1514 bytes take 1538 on the wire: preamble, FCS and gap.
		want := bits / 8 * 1514 / 1538
		got := float64(bucket(t, l.ends[host].Namespace))
		return got > 0.999*want && got < 1.001*want
	}
	has := func(bits float64) bool { return of(1, bits) }
	if !has(1e8) {
		t.Fatal("the host does not begin at the rate of the plan")
	}
	follow(0, role.RateStep{Rate: 1e7}, role.RateStep{At: time.Hour, Rate: 2e7})
	if !has(1e7) {
		t.Error("the first rate does not hold from the beginning")
	}
	follow(time.Minute, role.RateStep{At: time.Second, Rate: 1e7}, role.RateStep{At: 2 * time.Second, Rate: 2e7}, role.RateStep{At: time.Hour, Rate: 3e7})
	if !has(2e7) {
		t.Error("not the rate of the moment")
	}
	follow(0, role.RateStep{Rate: 2e7}, role.RateStep{At: 20 * time.Millisecond, Rate: 4e7})
	for !has(4e7) {
		select {
		case <-time.After(time.Millisecond):
		case <-t.Context().Done():
			t.Fatal("no rate changes in time")
		}
	}
	if !of(0, 1e8) {
		t.Error("another host changed")
	}
	follow(0, role.RateStep{Rate: 5e7}, role.RateStep{At: time.Hour, Rate: 6e7})
	if err := l.sw.Close(); err != nil { // which does not wait for that
		t.Error(err)
	}
	for _, bad := range []role.HostRates{
		{Namespace: "aqm-none", MTU: 1500, Steps: []role.RateStep{{Rate: 1e7}}},
		{Namespace: l.ends[1].Namespace, MTU: 1500, Steps: []role.RateStep{{Rate: 1}}},
		{Namespace: l.ends[1].Namespace, MTU: 1500},
	} {
		if err := l.sw.FollowRates(role.Rates{Hosts: []role.HostRates{bad}}, &nothing); err == nil {
			t.Errorf("%+v is no error", bad)
		}
	}
}
