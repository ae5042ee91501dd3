package testbed

import (
	"net/netip"
	"slices"
	"testing"

	"aqmlab/kind"
	"aqmlab/labs"
	"aqmlab/orchestrator/netns"
	"aqmlab/trafficgen/live"
)

// TestAcquireAll: what several entries speak is acquired once, and each has a subnet with
// what its connections are to have.
func TestAcquireAll(t *testing.T) {
	needRoot(t)
	lab := parse(t, small, func(l *labs.Lab) {
		l.Host.Transport = "ecn-star"
		for _, name := range []string{"cubic", "reno", "cubic"} {
			l.Transports = append(l.Transports, labs.Speech{Name: name, Transport: kind.Choice{Kind: name}, Hosts: []string{"h2"}, DSCP: -1})
		}
	})
	all, spoken, err := acquireAll(lab, "test")
	if err != nil {
		t.Fatal(err)
	}
	tb := Testbed{lab: lab, controls: all, speaks: spoken.describe()}
	want := []netns.Speech{
		{Subnet: netip.MustParsePrefix("10.78.0.0/16"), Congestion: "cubic"},
		{Subnet: netip.MustParsePrefix("10.79.0.0/16"), Congestion: "reno"},
		{Subnet: netip.MustParsePrefix("10.80.0.0/16"), Congestion: "cubic"},
	}
	if got := tb.alsoSpeaks(); len(all) != 3 || !slices.Equal(got, want) {
		t.Errorf("%d acquired, subnets %+v, want %+v", len(all), got, want)
	}
	if got, want := tb.expect()[0], (live.Expected{Congestion: "reno", ECN: true}); got != want {
		t.Errorf("connections of the hosts' transport are to have %+v, want %+v", got, want)
	}
	if err := all.close(); err != nil {
		t.Error(err)
	}
}
