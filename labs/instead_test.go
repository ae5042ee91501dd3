package labs

import (
	"strings"
	"testing"
)

// TestInsteadOfTransport: hosts whose transport nobody provides may speak another one, as
// long as the lab asks for nothing that this cannot do. The lab itself stays as it is.
func TestInsteadOfTransport(t *testing.T) {
	for transport, want := range map[string]string{
		"dctcp":                                "ecn-star",
		"{kind: dctcp}":                        "ecn-star",
		"{kind: dctcp, on_loss: alpha}":        "",
		"ecn-star":                             "",
		"cubic":                                "",
		"{kind: dcqcn, rai: 40Mbps}":           "",
		"{kind: dctcp, initial_alpha: 0.5}":    "",
		"{kind: ecn-star, grow_on_echo: true}": "",
	} {
		lab, err := Parse("x.yaml", []byte("{name: x, topology: {rate: 1Gbps}, host: {transport: "+transport+"}, schemes: [{name: a, aqm: droptail}]}"))
		if err != nil {
			t.Fatal(err)
		}
		was := lab.Host.Transport
		other, err := lab.InsteadOfTransport()
		if want == "" {
			if err == nil || !strings.Contains(err.Error(), "host.transport") {
				t.Errorf("%s: %v", transport, err)
			}
			continue
		}
		if err != nil || other.Host.Transport != want || lab.Host.Transport != was {
			t.Errorf("%s: %v, speaks %s", transport, err, other.Host.Transport)
			continue
		}
		text, err := other.YAML()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse("x.yaml", text)
		if err != nil || again.Host.Transport != want {
			t.Errorf("%s: written as\n%s\n%v", transport, text, err)
		}
	}
}
