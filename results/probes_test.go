package results

import (
	"reflect"
	"testing"
)

func TestSummarizeProbes(t *testing.T) {
	got := SummarizeProbes([]ProbeSample{
		{Probe: "b", RTT: 300 * us}, {Probe: "a", Lost: true}, {Probe: "b", RTT: 100 * us}, {Probe: "b", Lost: true},
	})
	want := []ProbeSummary{
		{Probe: "b", Sent: 3, Lost: 1, RTT: FCT{Count: 2, Mean: 200, P50: 100, P95: 300, P99: 300, P999: 300}},
		{Probe: "a", Sent: 1, Lost: 1},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if SummarizeProbes(nil) != nil {
		t.Error("no samples have a summary")
	}
}
