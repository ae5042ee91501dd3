package store

import (
	"maps"
	"slices"
	"testing"
)

const labOfKeys = `name: star
title: one
seeds: [1, 2]
dilation: auto
baseline: droptail
switch:
  buffer: {per_port: 100KB}
  scheduler: {kind: dwrr, quanta: [1500B, 3000B]}
workload:
  load: [0.5]
  flows: 20
schemes:
  - {name: droptail, aqm: droptail}
  - {name: tcn, aqm: tcn, threshold: 2ms}
`

func TestLabKeys(t *testing.T) {
	k := LabKeysOf([]byte(labOfKeys))
	for key, want := range map[string]string{
		"switch.buffer.per_port":    "100KB",
		"switch.scheduler.quanta":   "[1500B, 3000B]",
		"schemes.tcn.threshold":     "2ms",
		"schemes.droptail.aqm":      "droptail",
		"workload.load":             "[0.5]",
		"schemes.droptail.no-such":  "",
		"schemes.tcn.threshold.not": "",
	} {
		if got := k.Values[key]; got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	for _, text := range []string{"", "{", "a: [", "just words", "- 1"} {
		if k := LabKeysOf([]byte(text)); k.has("tcn") {
			t.Errorf("%q has a scheme: %v", text, slices.Collect(maps.Keys(k.Values)))
		}
	}
}
