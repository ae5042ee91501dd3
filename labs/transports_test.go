package labs_test

import (
	"reflect"
	"strings"
	"testing"

	"aqmlab/labs"
	"aqmlab/switch/packet"
	"aqmlab/trafficgen"
)

const withTransports = `
topology: {hosts: 4, rate: 1Gbps}
switch: {scheduler: {kind: dwrr, queues: 4}}
schemes: [{name: tcn, aqm: tcn, threshold: 100us}]
workload: {services: 3, load: 0.5}
background:
  - {name: incast, arrival: {kind: incast, fan_out: 4, queries: 2}, sizes: {kind: fixed, size: 20KB}, services: 4}
transports:
  - {name: bulk, transport: cubic, services: [1, 2]}
  - {name: old, transport: {kind: dctcp, g: 0.25}, hosts: [h3, h4], background: [workload]}
  - {name: queries, transport: reno, background: [incast], dscp: 0, ecn: none}
  - {name: l4s, transport: ecn-star, hosts: [h2], ecn: ect1, dscp: 3}
`

// TestTransports: what a lab says of transports is read, written, and made into rules for
// flows, taggings and codepoints.
func TestTransports(t *testing.T) {
	l := load(t, write(t, "x.yaml", withTransports))
	want := []trafficgen.Speaker{
		{Services: []int{1, 2}},
		{Servers: []int{2, 3}, Workloads: []int{0}},
		{Workloads: []int{1}},
		{Servers: []int{1}},
	}
	if got := l.Traffic(0.5, 1).Transports; !reflect.DeepEqual(got, want) {
		t.Errorf("rules %+v, want %+v", got, want)
	}
	if got := l.Tagging().Own; !reflect.DeepEqual(got, map[int]uint8{3: 0, 4: 3}) {
		t.Errorf("DSCPs %v, want 0 for the third, and 3 for the fourth", got)
	}
	for i, want := range []packet.Codepoint{{}, {All: true}, {}, {Set: true, All: true}, {Set: true, ECN: packet.ECT1}} {
		s := l.Speaks()[i]
		made, err := s.Build()
		if got := s.Codepoint(made); err != nil || got != want {
			t.Errorf("codepoint of transport %d: %+v, %v, want %+v", i, got, err, want)
		}
	}
	if got := l.Spoken(); got != "dctcp and cubic and reno and ecn-star" {
		t.Errorf("spoken are %s", got)
	}
	record := l.Transports[2].Record()
	if record.Name != "queries" || record.Transport.Name != "reno" || *record.DSCP != 0 || record.ECN != "none" || len(record.Background) != 1 {
		t.Errorf("the third is recorded as %+v", record)
	}
	yaml, err := l.YAML()
	if err != nil {
		t.Fatal(err)
	}
	again, err := labs.Parse("x.yaml", yaml)
	if err != nil || !reflect.DeepEqual(again.Transports, l.Transports) {
		t.Errorf("written and read again: %+v, %v\n%s", again, err, yaml)
	}
	over := load(t, write(t, "x.yaml", withTransports), "transports.bulk.transport=reno", "transports.l4s.dscp=1")
	if over.Transports[0].Transport.Kind != "reno" || over.Transports[3].DSCP != 1 {
		t.Errorf("overridden: %+v", over.Transports)
	}
}

// TestNoTransports: a lab that names none is written as before there were any.
func TestNoTransports(t *testing.T) {
	l := load(t, write(t, "x.yaml", base))
	yaml, err := l.YAML()
	if err != nil || strings.Contains(string(yaml), "transports") || l.Traffic(0.5, 1).Transports != nil || l.Tagging().Own != nil {
		t.Errorf("%v\n%s", err, yaml)
	}
}

// TestBadTransports: each mistake has an error with the key and what is wanted.
func TestBadTransports(t *testing.T) {
	for change, want := range map[string]string{
		"services: [1, 2]}|services: [1, 4]}":                            "transports.bulk.services[1]: no flow is of service 4: want 0 to 3",
		"services: [1, 2]}|services: [3], background: [workload]}":       "transports.bulk.services[0]: no flow is of service 3: want 0 to 2",
		"services: [1, 2]}|services: [1, 1]}":                            "transports.bulk.services[1]: 1 is there twice",
		", services: [1, 2]}|}":                                          "transports.bulk: fits every flow: want services, hosts or background",
		"hosts: [h3, h4]|hosts: [h3, h9]":                                `transports.old.hosts[1]: no host "h9": want one of h1 to h4`,
		"background: [incast], dscp|background: [nothing], dscp":         "transports.queries.background[0]: unknown workload \"nothing\"",
		"transport: cubic, |":                                            "transports.bulk.transport: missing: want one of dctcp",
		"transport: cubic|transport: cubik":                              "transports.bulk.transport.kind: unknown kind \"cubik\"",
		"g: 0.25|g: 2":                                                   "transports.old.transport.g: 2 is outside (0, 1]",
		"ecn: ect1|ecn: ect2":                                            "transports.l4s.ecn",
		"dscp: 3|dscp: 64":                                               "transports.l4s.dscp: 64 is outside -1 to 63",
		"name: incast|name: workload":                                    "background.workload: the name stands for the workload itself",
		"name: old|name: bulk":                                           "bulk",
		"topology: {hosts: 4|capture: pcapng\ntopology: {hosts: 4":       "",
		"transport: cubic|transport: dcqcn":                              "",
		"topology:|capture: pcapng\nhost: {transport: dcqcn}\ntopology:": "capture.format: a capture holds packets of one sort, not of dcqcn beside ecn-star",
	} {
		from, to, _ := strings.Cut(change, "|")
		_, err := labs.Parse("x.yaml", []byte(strings.Replace(withTransports, from, to, 1)))
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", change, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %s", change, err, want)
		}
	}
}

// TestShadowedTransport: an entry is refused of which an earlier one leaves no flow.
func TestShadowedTransport(t *testing.T) {
	const two = base + `workload: {services: 2}
switch: {scheduler: {kind: dwrr, queues: 2}}
transports:
  - {name: first, transport: cubic, services: [0]}
  - {name: second, transport: reno, services: [0], hosts: [h2]}
`
	const want = "transports.second: first, which comes first, fits every flow that this one fits: want this one before it, or out"
	if _, err := labs.Parse("x.yaml", []byte(two)); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	for _, other := range []string{"services: [1]", "services: [0, 1]", "hosts: [h2]", "background: [workload]"} {
		if _, err := labs.Parse("x.yaml", []byte(strings.Replace(two, "services: [0], hosts: [h2]", other, 1))); err != nil {
			t.Errorf("%s: %v", other, err)
		}
	}
}

// TestOneDCTCP: one kernel has no two sorts of it.
func TestOneDCTCP(t *testing.T) {
	l := load(t, write(t, "x.yaml", base+"transports: [{name: old, transport: {kind: dctcp, on_loss: alpha}, hosts: [h2]}]\n"), "host.transport=dctcp")
	if err := l.CheckReal(); err == nil || !strings.Contains(err.Error(), "transports.old.transport.on_loss: alpha, and half at host.transport: a kernel has one dctcp") {
		t.Errorf("%v", err)
	}
	if err := load(t, write(t, "x.yaml", base), "host.transport=dctcp").CheckReal(); err != nil {
		t.Error(err)
	}
}

// TestDatagrams: traffic that does not respond needs a rate and a stop of each flow that is
// of it, and none of the others, and is in no capture.
func TestDatagrams(t *testing.T) {
	const two = base + `workload:
  arrival: {kind: static, count: [1, 1], servers: [2, 3], services: [0, 1], stop: [1s, 1s], rate: [0bps, 50Mbps]}
  services: 2
switch: {scheduler: {kind: dwrr, queues: 2}}
transports: [{name: cbr, transport: udp, services: [1]}]
`
	load(t, write(t, "x.yaml", two))
	for change, want := range map[string]string{
		"services: [1]|services: [0]":             "transports.cbr.transport: flows of the workload have no rate, or no time to stop, which udp needs: want arrival static with rate and stop",
		"stop: [1s, 1s]|stop: [1s, 0s]":           "transports.cbr.transport: flows of the workload",
		"switch:|host: {transport: udp}\nswitch:": "host.transport: flows of the workload",
		"switch:|capture: pcapng\nswitch:":        "capture.format: a capture has no datagrams of modelled hosts, and some speak udp: want none",
	} {
		from, to, _ := strings.Cut(change, "|")
		if _, err := labs.Parse("x.yaml", []byte(strings.Replace(two, from, to, 1))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", change, err, want)
		}
	}
}
