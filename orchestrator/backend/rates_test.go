package backend

import (
	"slices"
	"testing"
	"time"

	"aqmlab/results"
	"aqmlab/switch/fabric"
	"aqmlab/units"
)

// TestRates: the rate that most ports of switches have stands once; ports with another,
// with one that changes, and with two links side by side are listed. A link that is down
// has none.
func TestRates(t *testing.T) {
	const sec = time.Second
	spec := fabric.Spec{
		Hosts:    []fabric.Host{{Name: "h1"}, {Name: "h2"}, {Name: "h3"}},
		Switches: []string{"s1", "s2"},
		Links: []fabric.Link{
			{A: "h1", B: "s1", Rate: units.Gbps}, {A: "h2", B: "s1", Rate: units.Gbps}, {A: "h3", B: "s2", Rate: 4 * units.Gbps},
			{A: "s1", B: "s2", Rate: 2 * units.Gbps}, {A: "s1", B: "s2", Rate: 3 * units.Gbps},
		},
		Timeline: fabric.Timeline{Links: []fabric.LinkCourse{
			{Link: 1, Back: true, States: []fabric.LinkState{{At: sec, Rate: units.Gbps / 2}, {At: 2 * sec, Rate: units.Gbps / 2, Delay: 1}, {At: 3 * sec, Rate: units.Gbps}}},
			{Link: 3, States: []fabric.LinkState{{At: sec, Rate: 2 * units.Gbps, Down: true}}},
		}},
	}
	want := []results.PortRate{
		{Rate: 1e9},
		{Switch: "s1", Port: "h2", Rate: 1e9}, {Switch: "s1", Port: "h2", At: results.Micros(sec), Rate: 5e8}, {Switch: "s1", Port: "h2", At: results.Micros(3 * sec), Rate: 1e9},
		{Switch: "s1", Port: "s2", Rate: 5e9}, {Switch: "s1", Port: "s2", At: results.Micros(sec), Rate: 3e9},
		{Switch: "s2", Port: "h3", Rate: 4e9},
		{Switch: "s2", Port: "s1", Rate: 5e9},
	}
	if got := Rates(spec); !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	spec.HostPorts = true
	if got := results.RatesOf(Rates(spec), results.PortName{Switch: "h3", Port: "s2"}); !slices.Equal(got, want[6:7]) && (len(got) != 1 || got[0].Rate != 4e9) {
		t.Errorf("a host's port has %+v", got)
	}
}
