package results_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"aqmlab/results"
	"aqmlab/results/resultstest"
)

func TestManifestRoundTrip(t *testing.T) {
	m := resultstest.StarManifest()
	m.Start = m.Start.UTC()
	m.Points = []results.PointInfo{results.InfoOf(resultstest.Measured()[0])}
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var back results.Manifest
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(m, back) {
		t.Errorf("wrote %+v, read %+v", m, back)
	}
	if !bytes.Contains(b, []byte(`"base_rtt_us":85.5`)) {
		t.Errorf("base RTT is not in microseconds: %s", b)
	}
	if err := json.Unmarshal([]byte(`{"base_rtt_us":"fast"}`), &back); err == nil {
		t.Error("a base RTT in words was read")
	}
}
