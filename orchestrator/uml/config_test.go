package uml

import (
	"slices"
	"strings"
	"testing"
)

// TestMissing: an option that is a module, off, or not there is missing.
func TestMissing(t *testing.T) {
	if off := missing(configText()); len(off) > 0 {
		t.Errorf("what is asked for lacks %v", off)
	}
	text := strings.Replace(configText(), "CONFIG_VETH=y", "CONFIG_VETH=m", 1)
	text = strings.Replace(text, "CONFIG_INET=y", "# CONFIG_INET is not set", 1)
	text = strings.Replace(text, "CONFIG_NET_NS=y\n", "", 1)
	if off := missing(text); !slices.Equal(off, []string{"NET_NS", "INET", "VETH"}) {
		t.Errorf("missing %v", off)
	}
}

// TestRecipe: a recipe names one configuration and set of edits, always alike.
func TestRecipe(t *testing.T) {
	if a, b := recipe(), recipe(); a != b || len(a) != 8 {
		t.Errorf("recipes %q and %q", a, b)
	}
}
