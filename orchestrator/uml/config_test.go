package uml

import (
	"slices"
	"strings"
	"testing"
)

// TestMissing: an option that is a module, off, or not there is missing.
func TestMissing(t *testing.T) {
	v := table()[0]
	if off := v.missing(allConfig()); len(off) > 0 {
		t.Errorf("what is asked for lacks %v", off)
	}
	text := strings.Replace(allConfig(), "CONFIG_VETH=y", "CONFIG_VETH=m", 1)
	text = strings.Replace(text, "CONFIG_INET=y", "# CONFIG_INET is not set", 1)
	text = strings.Replace(text, "CONFIG_NET_NS=y\n", "", 1)
	text = strings.Replace(text, "CONFIG_STATIC_LINK=y\n", "", 1)
	if off := v.missing(text); !slices.Equal(off, []string{"NET_NS", "INET", "VETH", "STATIC_LINK"}) {
		t.Errorf("missing %v", off)
	}
}

// TestRecipe: a recipe names one configuration and set of edits, always alike, and
// another in each version.
func TestRecipe(t *testing.T) {
	seen := make(map[string]bool)
	for _, v := range table() {
		if a, b := v.recipe(), v.recipe(); a != b || len(a) != 8 || seen[a] {
			t.Errorf("recipes %q and %q", a, b)
		}
		seen[v.recipe()] = true
	}
}
