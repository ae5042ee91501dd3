package labs_test

import (
	"strings"
	"testing"

	"aqmlab/labs"
)

// A scheme is checked for ports of every rate that the network has.
func TestSchemesSuitEveryRate(t *testing.T) {
	const lab = `topology: {kind: leaf-spine, rate: 10Gbps, core_rate: 1Gbps}
rtt: 80us
switch: {scheduler: {kind: dwrr, queues: 2}}
`
	_, err := labs.Load(write(t, "x.yaml", lab+"schemes: [{name: o, aqm: ideal-red, estimator: oracle, capacities: [5Gbps, 5Gbps]}]\n"), labs.Options{})
	if err == nil || !strings.Contains(err.Error(), "schemes.o.capacities: 5Gbps of queue 0 is more than a port of 1Gbps has") {
		t.Errorf("loading gives %v", err)
	}
	load(t, write(t, "x.yaml", lab+"schemes: [{name: o, aqm: ideal-red, estimator: oracle, shares: [0.5, 0.5]}]\n"))
}
