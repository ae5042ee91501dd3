package labs_test

import (
	"reflect"
	"testing"
	"time"

	"aqmlab/labs"
	"aqmlab/trafficgen/traffic"
)

// threeQueues is a lab with room for a probe.
const threeQueues = "topology: {rate: 1Gbps, hosts: 4}\nrtt: 200us\nschemes: [{name: d, aqm: droptail}]\nswitch: {scheduler: {kind: sp, queues: 3, inner: dwrr}}\n"

func probesOf(t *testing.T, l *labs.Lab) []traffic.Probe {
	t.Helper()
	probes, err := l.Probes()
	if err != nil {
		t.Fatal(err)
	}
	return probes
}

// A probe has packets of its own for each service, whose DSCP is that of the
// service's queue.
func TestProbe(t *testing.T) {
	const ms = time.Millisecond
	tests := map[string]struct {
		file string
		want []traffic.Probe
	}{
		"none":  {"", nil},
		"least": {"probe: {from: h2, to: h1}\n", []traffic.Probe{{Name: "service-0", From: 1, Every: ms}}},
		"all": {"probe: {from: h4, to: h3, service: [0, 2], every: 250us, start: 1s, stop: 2s}\n", []traffic.Probe{
			{Name: "service-0", From: 3, To: 2, DSCP: 0, Every: ms / 4, Start: time.Second, Stop: 2 * time.Second},
			{Name: "service-2", From: 3, To: 2, DSCP: 2, Every: ms / 4, Start: time.Second, Stop: 2 * time.Second},
		}},
		// The first queue is that of the priority.
		"behind PIAS": {"probe: {from: h2, to: h1, service: 1}\nworkload: {pias: 100KB}\n", []traffic.Probe{{Name: "service-1", From: 1, DSCP: 2, Every: ms}}},
	}
	for name, tt := range tests {
		l, err := labs.Parse("x.yaml", []byte(threeQueues+tt.file))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := probesOf(t, l); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
		if again := reload(t, l); !reflect.DeepEqual(l, again) {
			t.Errorf("%s: wrote\n%+v\nand read\n%+v", name, l, again)
		}
	}
}

// Each key can be overridden, and a probe be made from nothing.
func TestProbeOverridden(t *testing.T) {
	l := load(t, write(t, "x.yaml", threeQueues), "probe.from=h3", "probe.to=h1", "probe.service=0,1", "probe.every=2ms")
	probes := probesOf(t, l)
	if len(probes) != 2 || probes[1] != (traffic.Probe{Name: "service-1", From: 2, DSCP: 1, Every: 2 * time.Millisecond}) {
		t.Errorf("%+v", probes)
	}
	if got, want := l.ProbePatience(), 100*time.Millisecond+2*200*time.Microsecond; got != want {
		t.Errorf("patience %v, want %v", got, want)
	}
}

func TestBadProbes(t *testing.T) {
	tests := map[string]struct{ probe, want string }{
		"no from":      {"{to: h1}", "x.yaml:5: probe.from: missing: want a host such as h1"},
		"no to":        {"{from: h1}", "x.yaml:5: probe.to: missing: want a host such as h1"},
		"only service": {"{service: 1}", "x.yaml:5: probe.from: missing: want a host such as h1\nx.yaml:5: probe.to: missing: want a host such as h1"},
		"no such host": {"{from: h9, to: h1}", `x.yaml:5: probe.from: no host "h9": want one of h1 to h4`},
		"not a host":   {"{from: h1, to: 2}", "x.yaml:5: probe.to: 2 is not text"},
		"itself":       {"{from: h1, to: h1}", "x.yaml:5: probe.to: h1 probes itself: want another host"},
		"no queue":     {"{from: h2, to: h1, service: [0, 3]}", "x.yaml:5: probe.service[1]: service 3 is in queue 3, from 0: switch.scheduler.queues is 3"},
		"twice":        {"{from: h2, to: h1, service: [1, 1]}", "x.yaml:5: probe.service[1]: 1 is there twice"},
		"no DSCP":      {"{from: h2, to: h1, service: 64}", "x.yaml:5: probe.service[0]: 64 is outside 0 to 63"},
		"too often":    {"{from: h2, to: h1, every: 999ns}", "x.yaml:5: probe.every: 999ns is outside 1us to 1000s"},
		"over at once": {"{from: h2, to: h1, start: 1s, stop: 1s}", "x.yaml:5: probe.stop: 1s is not after probe.start, 1s"},
		"unknown key":  {"{from: h2, to: h1, evry: 1ms}", `x.yaml:5: probe.evry: unknown key "evry": want one of from, to, service, every, start, stop (did you mean every?)`},
		"no mapping":   {"h1", "x.yaml:5: probe: not a mapping: want keys such as from"},
	}
	for name, tt := range tests {
		l, err := labs.Parse("x.yaml", []byte(threeQueues+"probe: "+tt.probe+"\n"))
		if err == nil {
			t.Errorf("%s: loaded %+v", name, l.Probe)
		} else if err.Error() != tt.want {
			t.Errorf("%s: got\n%v\nwant\n%s", name, err, tt.want)
		}
	}
}
