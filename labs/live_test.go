package labs

import (
	"errors"
	"strings"
	"testing"
	"time"

	"aqmlab/labs/clab"
	"aqmlab/switch/port"
	"aqmlab/units"
)

// standing is a lab that could be up.
func standing(t *testing.T) *Lab {
	t.Helper()
	l, err := Parse("up.yaml", []byte(`topology: {hosts: 3, rate: 1Gbps}
rtt: 200us
switch: {scheduler: {kind: dwrr, queues: 4}}
schemes: [{name: tcn, aqm: tcn, threshold: 250us}, {name: red, aqm: red}]
`))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestStored: a lab that was written is read with changes, whatever the environment says,
// and errors name who made the change, the key and what it may be.
func TestStored(t *testing.T) {
	t.Setenv("AQMLAB_SCHEMES_TCN_THRESHOLD", "7us")
	data, err := standing(t).YAML()
	if err != nil {
		t.Fatal(err)
	}
	l, err := Stored(data, port.Kinds{}, "lab set", "schemes.tcn.threshold=100us", "switch.scheduler.kind=wrr")
	if err != nil || l.Schemes[0].AQM.Params["threshold"] != "100us" || l.Switch.Scheduler.Kind != "wrr" || l.Switch.Queues != 4 {
		t.Errorf("%+v, %v", l, err)
	}
	for set, want := range map[string]string{
		"schemes.tcn.threshold=fast": `lab set: schemes.tcn.threshold: "fast" is not`,
		"schemes.tnc.threshold=1us":  `lab set: schemes.tnc.threshold: unknown scheme "tnc": want one of tcn, red`,
		"schemes.red.wait=1us":       "lab set: schemes.red.wait: unknown",
		"switch.scheduler.kind=fifo": "a fifo has one queue",
		"threshold":                  `lab set: "threshold" is not key=value`,
	} {
		if _, err := Stored(data, port.Kinds{}, "lab set", set); !errors.As(err, new(Errors)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", set, err, want)
		}
	}
}

// TestCheckChange: what stands in a lab that is up is refused with why, and what does not
// is not.
func TestCheckChange(t *testing.T) {
	if err := CheckChange("lab set", "schemes.tcn.threshold=1us", "Switch.Scheduler.queues=8", "switch.buffer.per_port=1MB", "switch.limiter.bucket=5KB", "novalue"); err != nil {
		t.Error(err)
	}
	for key, want := range map[string]string{
		"topology.rate":    "lab set: topology.rate: cannot change in a lab that is up: the hosts and links stand",
		"rtt":              "lab event changes the delay of a link",
		"host.rto_min":     "the hosts have been set up",
		"switch.lengths":   "the packets that wait",
		"switch.pause.xon": "the packets that wait",
		"workload.load":    "nothing in a lab that is up follows it; want a key below schemes., switch.scheduler, switch.buffer, switch.limiter",
		"events.0.rate":    "lab event makes one happen now",
		"schemes":          "cannot change",
		"hostess":          "nothing in a lab",
	} {
		if err := CheckChange("lab set", key+"=1"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", key, err, want)
		}
	}
	if err := CheckChange("lab set", "schemes.tcn.threshold=1us", "rtt=1ms", "novalue", "mtu=9000"); err == nil || !strings.Contains(err.Error(), "rtt: cannot") || !strings.Contains(err.Error(), "mtu: cannot") {
		t.Errorf("some that may change, and some that may not: %v", err)
	}
}

// TestParseEvents: words are those of a lab's events; errors name the word.
func TestParseEvents(t *testing.T) {
	l := standing(t)
	all, err := l.ParseEvents("lab event", []string{"link=s1:h2", "rate=500Mbps", "for=5ms"}, []string{"link=h2:s1", "down"}, []string{"host=h3", "rtt=300us"}, []string{"up", "link=s1:h2"})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"s1:h2 500Mbps for 5ms", "h2:s1 down", "h3 rtt 300us", "s1:h2 up"} {
		if got := all[i].String(); got != want {
			t.Errorf("event %d is %q, want %q", i, got, want)
		}
	}
	for words, want := range map[string]string{
		"link=s1:h9 rate=1Gbps":      `lab event: link: no link "s1:h9": want a node and its neighbour, such as`,
		"link=s1:h2 rate=fast":       "lab event: rate: ",
		"link=s1:h2 loss=5":          "lab event: loss: ",
		"link=s1:h2":                 "lab event: changes nothing: want rate, delay, loss, down",
		"rate=1Gbps":                 "lab event: of nothing: want link or host",
		"host=h1 rtt=1us":            "lab event: rtt: 1us is below rtt.min, 200us",
		"link=s1:h2 speed=1Gbps":     "lab event: speed: unknown key",
		"link=s1:h2 up at=5ms":       "lab event: at: ",
		"link=s1:h2 sideways":        "lab event: sideways: want keys and values",
		"link=s1:h2 from=h2 down":    "lab event: from: not used with down",
		"link=s1:h2 rate=1Gbps for=": "lab event: for: ",
	} {
		if _, err := l.ParseEvents("lab event", strings.Fields(words)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", words, err, want)
		}
	}
	if none, err := l.ParseEvents("lab event"); err != nil || none != nil {
		t.Errorf("of none: %v, %v", none, err)
	}
}

// TestSupersedes: an event makes an earlier one forgotten that set no more of the same
// link and direction, unless that is to end later.
func TestSupersedes(t *testing.T) {
	yes := true
	e := Event{At: time.Second, Link: "s1:h2", Rate: units.Gbps, Down: &yes}
	for name, c := range map[string]struct{ earlier, later Event }{
		"rate":  {Event{Link: "s1:h2", Rate: units.Mbps}, Event{Link: "s1:h2", Down: &yes}},
		"delay": {Event{Link: "s1:h2", Delay: new(time.Duration)}, Event{Link: "s1:h2", Down: &yes}},
		"loss":  {Event{Link: "s1:h2", Loss: new(clab.Share)}, Event{Link: "s1:h2", Down: &yes}},
		"down":  {Event{Link: "s1:h2", Down: &yes}, Event{Link: "s1:h2", Loss: new(clab.Share)}},
		"rtt":   {Event{Host: "h2", RTT: time.Millisecond}, Event{Host: "h2"}},
	} {
		if c.later.Supersedes(c.earlier) || !c.earlier.Supersedes(c.earlier) || !c.later.Supersedes(c.later) {
			t.Errorf("%s: %+v by %+v, or one not by its like", name, c.earlier, c.later)
		}
	}
	for name, c := range map[string]struct {
		earlier Event
		want    bool
	}{
		"same":      {Event{Link: "s1:h2", Rate: units.Mbps}, true},
		"over":      {Event{Link: "s1:h2", Down: &yes, For: time.Second}, true},
		"to end":    {Event{Link: "s1:h2", Down: &yes, For: time.Second + 1}, false},
		"more":      {Event{Link: "s1:h2", Delay: new(time.Duration)}, false},
		"elsewhere": {Event{Link: "s1:h3", Rate: units.Mbps}, false},
		"one way":   {Event{Link: "s1:h2", From: "s1", Rate: units.Mbps}, false},
	} {
		if got := e.Supersedes(c.earlier); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
