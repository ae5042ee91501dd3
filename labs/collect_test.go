package labs_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"aqmlab/labs"
	"aqmlab/units"
)

const plain = "topology: {rate: 1Gbps, hosts: 3}\nrtt: 200us\nschemes: [{name: d, aqm: droptail}]\n"

// What is collected is off without its keys, has defaults with one, and is read
// back as it was written.
func TestCollectAndCapture(t *testing.T) {
	tests := map[string]struct {
		file    string
		collect labs.Collect
		capture labs.Capture
	}{
		"nothing": {"", labs.Collect{}, labs.Capture{Snap: 128, Size: 64 * units.MB}},
		"short":   {"capture: pcapng\n", labs.Collect{}, labs.Capture{Format: "pcapng", Snap: 128, Size: 64 * units.MB}},
		"all": {"collect: {queues: 20us, senders: 1ms, estimates: true}\ncapture: {format: pcapng, ports: [s1:h1, s1:h3], snap: 64B, size: 1MB}\n",
			labs.Collect{Queues: 20 * time.Microsecond, Senders: time.Millisecond, Estimates: true},
			labs.Capture{Format: "pcapng", Ports: []string{"s1:h1", "s1:h3"}, Snap: 64, Size: units.MB}},
		"hosts' ports": {"host: {port: switch}\ncapture: {format: pcapng, ports: h2:s1}\n", labs.Collect{},
			labs.Capture{Format: "pcapng", Ports: []string{"h2:s1"}, Snap: 128, Size: 64 * units.MB}},
	}
	for name, tt := range tests {
		l, err := labs.Parse("x.yaml", []byte(plain+tt.file))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(l.Collect, tt.collect) || !reflect.DeepEqual(l.Capture, tt.capture) {
			t.Errorf("%s: %+v and %+v", name, l.Collect, l.Capture)
		}
		if again := reload(t, l); !reflect.DeepEqual(l, again) {
			t.Errorf("%s: wrote\n%+v\nand read\n%+v", name, l, again)
		}
		yaml, err := l.YAML()
		if err != nil {
			t.Fatal(err)
		}
		if tt.file == "" && (strings.Contains(string(yaml), "capture") || strings.Contains(string(yaml), "collect")) {
			t.Errorf("a lab that asks for nothing is stored as if it did:\n%s", yaml)
		}
	}
}

// Overrides make a capture from nothing.
func TestCaptureOverridden(t *testing.T) {
	l := load(t, write(t, "x.yaml", plain), "capture.format=pcapng", "capture.ports=s1:h1,s1:h2", "collect.senders=100us")
	if want := []string{"s1:h1", "s1:h2"}; !reflect.DeepEqual(l.Capture.Ports, want) || l.Collect.Senders != 100*time.Microsecond {
		t.Errorf("%+v and %+v", l.Capture, l.Collect)
	}
}

func TestBadCollections(t *testing.T) {
	const fabric = "topology: {kind: leaf-spine, rate: 1Gbps, hosts_per_leaf: 4}\nrtt: 200us\nschemes: [{name: d, aqm: droptail}]\n"
	tests := map[string]struct{ lab, keys, want string }{
		"no format":      {plain, "capture: {ports: [s1:h1]}", "x.yaml:4: capture.format: missing: want pcapng"},
		"other format":   {plain, "capture: pcap", `x.yaml:4: capture.format: unknown format "pcap": want one of pcapng (did you mean pcapng?)`},
		"no port":        {plain, "capture: {format: pcapng, ports: [s1:h4]}", `x.yaml:4: capture.ports[0]: unknown port "s1:h4": want one of s1:h1, s1:h2, s1:h3 (did you mean s1:h1?)`},
		"no host port":   {plain, "capture: {format: pcapng, ports: [h1:s1]}", `x.yaml:4: capture.ports[0]: unknown port "h1:s1": want one of s1:h1, s1:h2, s1:h3`},
		"of eight":       {"topology: {hosts: 8, rate: 1Gbps}\nrtt: 200us\nschemes: [{name: d, aqm: droptail}]\n", "capture: {format: pcapng, ports: [eth0]}", `x.yaml:4: capture.ports[0]: unknown port "eth0": want one of s1:h1, s1:h2, s1:h3, s1:h4, s1:h5, s1:h6, s1:h7, s1:h8`},
		"of many":        {fabric, "capture: {format: pcapng, ports: [l1:p1, p1:l2, l1:h5]}", `x.yaml:4: capture.ports[2]: no port "l1:h5": want a node and its neighbour, such as l1:h1`},
		"twice":          {plain, "capture: {format: pcapng, ports: [s1:h1, s1:h1]}", "x.yaml:4: capture.ports[1]: s1:h1 is there twice"},
		"snap too short": {plain, "capture: {format: pcapng, snap: 63B}", "x.yaml:4: capture.snap: 63B is outside 64B to 9.018KB"},
		"too large":      {plain, "capture: {format: pcapng, size: 257MB}", "x.yaml:4: capture.size: 257MB is outside 1MB to 256MB"},
		"too often":      {plain, "collect: {queues: 999ns}", "x.yaml:4: collect.queues: 999ns is outside 1us to 1000s"},
		"no yes or no":   {plain, "collect: {estimates: 1ms}", `x.yaml:4: collect.estimates: "1ms" is not true or false`},
		"unknown":        {plain, "collect: {sender: 1ms}", `x.yaml:4: collect.sender: unknown key "sender": want one of queues, senders, delays, estimates (did you mean senders?)`},
	}
	for name, tt := range tests {
		l, err := labs.Parse("x.yaml", []byte(tt.lab+tt.keys+"\n"))
		if err == nil {
			t.Errorf("%s: loaded %+v, %+v", name, l.Collect, l.Capture)
		} else if err.Error() != tt.want {
			t.Errorf("%s: got\n%v\nwant\n%s", name, err, tt.want)
		}
	}
	// A network that is not known has no ports to choose from.
	_, err := labs.Parse("x.yaml", []byte(strings.Replace(fabric, "leaf-spine", "ring", 1)+"capture: {format: pcapng, ports: [l1:p1]}\n"))
	if err == nil || !strings.Contains(err.Error(), "topology.kind") || strings.Contains(err.Error(), "capture") {
		t.Errorf("got %v", err)
	}
}
