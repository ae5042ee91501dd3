package results

import (
	"reflect"
	"testing"
)

// A line a scheme, values of one source together, in the order in which they were told.
func TestDerivedLines(t *testing.T) {
	got := DerivedLines([]Derived{
		{"a", "x", "1us", "the RTT"}, {"a", "y", "2us", "x"}, {"a", "z", "1us", "the RTT"}, {"b", "x", "1us", "the RTT"},
	})
	if want := []string{"a: x 1us, z 1us from the RTT; y 2us from x", "b: x 1us from the RTT"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if DerivedLines(nil) != nil {
		t.Error("lines without anything derived")
	}
}
