package traffic_test

import (
	"strings"
	"testing"
	"time"

	"aqmlab/trafficgen/traffic"
)

func probe() traffic.Probe {
	return traffic.Probe{Name: "p", From: 1, To: 0, DSCP: 3, Start: 2 * time.Millisecond, Every: time.Millisecond, Stop: 4 * time.Millisecond}
}

// A probe is sent at its start, every so often, and no more from its stop on.
func TestProbeTimes(t *testing.T) {
	p := probe()
	for n, want := range []time.Duration{2 * time.Millisecond, 3 * time.Millisecond} {
		if at, ok := p.At(n); !ok || at != want {
			t.Errorf("number %d at %v (%v), want %v", n, at, ok, want)
		}
	}
	if at, ok := p.At(2); ok {
		t.Errorf("one is sent at %v, when it stops", at)
	}
	p.Stop = 0
	if at, ok := p.At(1_000_000); !ok || at != 1000*time.Second+2*time.Millisecond {
		t.Errorf("without a stop, number 1,000,000 at %v (%v)", at, ok)
	}
}

func TestCheckProbes(t *testing.T) {
	if err := traffic.CheckProbes([]traffic.Probe{probe()}, 2); err != nil {
		t.Error(err)
	}
	for want, spoil := range map[string]func(*traffic.Probe){
		"not both in 0 to 1": func(p *traffic.Probe) { p.From = 2 },
		"hosts 1 and -1":     func(p *traffic.Probe) { p.To = -1 },
		"probes itself":      func(p *traffic.Probe) { p.To = 1 },
		"outside 0 to 63":    func(p *traffic.Probe) { p.DSCP = 64 },
		"not above zero":     func(p *traffic.Probe) { p.Every = 0 },
		"below zero":         func(p *traffic.Probe) { p.Start = -1 },
		"stops at 2ms":       func(p *traffic.Probe) { p.Stop = p.Start },
		"name of its own":    func(p *traffic.Probe) { p.Name = "" },
	} {
		p := probe()
		spoil(&p)
		if err := traffic.CheckProbes([]traffic.Probe{p}, 2); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if err := traffic.CheckProbes([]traffic.Probe{probe(), probe()}, 2); err == nil {
		t.Error("two probes have one name")
	}
}
