package kind_test

import (
	"testing"

	"aqmlab/kind"
)

func TestNearest(t *testing.T) {
	known := []string{"droptail", "dctcp-red", "tcn", "fifo", "dwrr", "mtu"}
	for name, want := range map[string]string{
		"droptail":  "droptail",
		"drop-tail": "droptail",  // inserted
		"drotail":   "droptail",  // left out
		"dctcp_red": "dctcp-red", // replaced
		"DCTCP-RED": "dctcp-red", // case
		"dctpc-red": "dctcp-red", // swapped
		"drr":       "dwrr",
		"tnc":       "tcn",
		"ffio":      "fifo",
		"codel":     "",
		"red":       "",
		"":          "",
		"xy":        "",
	} {
		if got := kind.Nearest(name, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
	if got := kind.Nearest("tcn", nil); got != "" {
		t.Errorf("Nearest among none = %q", got)
	}
}
