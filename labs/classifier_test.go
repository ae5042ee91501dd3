package labs_test

import (
	"strings"
	"testing"

	"aqmlab/labs"
)

const withClassifier = `
topology: {hosts: 4, rate: 1Gbps}
switch: {scheduler: {kind: dwrr, queues: 2}, classifier: {kind: map, queues: [0, 0, 1]}}
schemes: [{name: tcn, aqm: tcn, threshold: 100us}]
workload: {services: 5}
probe: {from: h2, to: h1, service: [4]}
`

// TestClassifier: with a list of queues there may be more services than queues. A lab that
// names no classifier is written as before there were any.
func TestClassifier(t *testing.T) {
	l := load(t, write(t, "x.yaml", withClassifier))
	spec, err := l.Fabric("tcn", 1)
	if err != nil || spec.Port.Classifier.Kind != "map" {
		t.Errorf("%+v, %v", spec.Port, err)
	}
	yaml, err := l.YAML()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := labs.Parse("x.yaml", yaml); err != nil || again.Hash() != l.Hash() {
		t.Errorf("written and read again: %v\n%s", err, yaml)
	}
	if plain, err := load(t, write(t, "x.yaml", base)).YAML(); err != nil || strings.Contains(string(plain), "classifier") {
		t.Errorf("%v\n%s", err, plain)
	}
}

// TestBadClassifiers: each mistake has an error with the key and what is wanted.
func TestBadClassifiers(t *testing.T) {
	for change, want := range map[string]string{
		"queues: [0, 0, 1]|queues: [0, 2]": "switch.classifier.queues: queue 2 of DSCP 1 is outside 0 to 1",
		", queues: [0, 0, 1]|":             "switch.classifier.queues: missing: want the queue of each DSCP",
		"kind: map|kind: dscp":             "switch.classifier.queues: not used when switch.classifier.kind is dscp: want map",
		"kind: map, |":                     "switch.classifier.kind: missing: want one of dscp, map",
		"{kind: map, queues: [0, 0, 1]}|dscp": "workload.services: 5 services: want at most one for each queue, " +
			"switch.scheduler.queues is 2, or switch.classifier: map",
		"services: 5|services: 5, pias: [10KB]": "workload.pias: each threshold needs a queue of its own: want no switch.classifier beside it",
	} {
		from, to, _ := strings.Cut(change, "|")
		_, err := labs.Parse("x.yaml", []byte(strings.Replace(withClassifier, from, to, 1)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", change, err, want)
		}
	}
}
