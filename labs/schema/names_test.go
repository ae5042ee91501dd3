package schema

import (
	"strings"
	"testing"
)

// TestIsName: a name has 1 to 64 small letters, digits and hyphens, and does not begin with a
// hyphen.
func TestIsName(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "9": true, "tcn-2": true, "a-": true, strings.Repeat("x", 64): true,
		"": false, "-a": false, "A": false, "a b": false, "a_b": false, strings.Repeat("x", 65): false,
	} {
		if got := IsName(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
