package labs

import (
	"strings"
	"testing"

	"aqmlab/switch/fabric"
	"aqmlab/units"
)

const lossless = `name: x
topology: {kind: star, hosts: 3, rate: 10Gbps}
rtt: 40us
host: {transport: dcqcn}
schemes: [{name: dctcp-red, aqm: dctcp-red, threshold: 100KB}]
`

// TestPause: flow control reaches the fabric, goes on two packets below where
// it stops unless the lab says otherwise, and is written as it was read.
func TestPause(t *testing.T) {
	tests := map[string]fabric.Pause{
		"":                               {},
		"switch: {pause: {xoff: 100KB}}": {XOff: 100 * units.KB, XOn: 100*units.KB - 2*1538},
		"switch: {pause: {xoff: 100KB, xon: 50KB}}": {XOff: 100 * units.KB, XOn: 50 * units.KB},
	}
	for text, want := range tests {
		l, err := Parse("x.yaml", []byte(lossless+text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		spec, err := l.Fabric("dctcp-red", 1)
		if err != nil || spec.Pause != want {
			t.Errorf("%q: %+v, %v, want %+v", text, spec.Pause, err, want)
		}
		yaml, err := l.YAML()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse("x.yaml", yaml)
		if err != nil || again.Switch.Pause != want {
			t.Errorf("written and read again: %+v, %v", again.Switch.Pause, err)
		}
	}
}

// TestPauseHeadroom: each of three links may bring XOff, two packets, and what
// its rate brings in 20 us: 100 + 3.076 + 25 KB.
func TestPauseHeadroom(t *testing.T) {
	tests := map[string]string{
		"switch: {pause: {xoff: 100KB}, buffer: {per_port: 384228B}}": "",
		"switch: {pause: {xoff: 100KB}, buffer: {per_port: 384227B}}": "x.yaml:6: switch.pause.xoff: switch s1 may come to hold 384.228KB before its links stop: a buffer of 384.227KB would drop some",
		"switch: {pause: {xoff: 1499B}}":                              "x.yaml:6: switch.pause.xoff: 1.499KB does not hold a packet: want at least host.mtu and the 38 bytes of Ethernet, 1538B",
		"switch: {pause: {xoff: 10KB, xon: 11KB}}":                    "x.yaml:6: switch.pause.xon: 11KB is above switch.pause.xoff, 10KB",
		"switch: {pause: {xon: 11KB}}":                                "x.yaml:6: switch.pause.xon: 11KB is above switch.pause.xoff, 0B",
	}
	for text, want := range tests {
		_, err := Parse("x.yaml", []byte(lossless+text))
		if got := errorText(err); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: error %q, want %q", text, got, want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
