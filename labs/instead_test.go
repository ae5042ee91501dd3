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

// TestInsteadOfTransports: of several transports those change for which something stands
// in. The others may be there, and a run fails if they are not.
func TestInsteadOfTransports(t *testing.T) {
	lab := func(host, other string) *Lab {
		text := "{name: x, topology: {rate: 1Gbps}, host: {transport: " + host + "}, transports: [{name: a, transport: " + other + ", hosts: [h2]}], schemes: [{name: a, aqm: droptail}]}"
		l, err := Parse("x.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	for host, want := range map[string]string{"dctcp": "ecn-star and ecn-star", "cubic": "cubic and ecn-star"} {
		l := lab(host, "dctcp")
		other, err := l.InsteadOfTransport()
		if err != nil || other.Host.Transport+" and "+other.Transports[0].Transport.Kind != want || l.Transports[0].Transport.Kind != "dctcp" {
			t.Errorf("%s: %+v, %v", host, other, err)
		}
	}
	if _, err := lab("cubic", "reno").InsteadOfTransport(); err == nil || !strings.Contains(err.Error(), "nothing stands in for cubic and reno") {
		t.Errorf("cubic and reno: %v", err)
	}
	if _, err := lab("cubic", "{kind: dctcp, on_loss: alpha}").InsteadOfTransport(); err == nil || !strings.Contains(err.Error(), "transports.a.transport: nothing stands in for dctcp") {
		t.Errorf("dctcp with a parameter: %v", err)
	}
}
