package fabric

import (
	"encoding/json"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"aqmlab/switch/packet"
	"aqmlab/units"
)

// TestFurtherAddresses: packets to any address of a host are for it, and those from an
// address with a codepoint get that. The spec is whole after a way as JSON.
func TestFurtherAddresses(t *testing.T) {
	spec := star(3, units.Gbps, 10*us)
	also := []Address{
		{Addr: netip.MustParseAddr("10.9.0.1")},
		{Addr: netip.MustParseAddr("10.9.0.2"), Codepoint: packet.Codepoint{Set: true, ECN: packet.ECT1}},
	}
	spec.Hosts[1].Also = also
	text, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	var again Spec
	if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(again.Hosts[1].Also, also) {
		t.Errorf("%+v, %v", again.Hosts[1], err)
	}
	r := newRig(t, spec)
	for _, a := range append([]Address{{Addr: spec.Hosts[1].Addr}}, also...) {
		if host, ok := r.Host(a.Addr); !ok || host != 1 {
			t.Errorf("%v is of host %d, %v", a.Addr, host, ok)
		}
		k := &packet.Packet{ECN: packet.ECT0}
		r.Recode(k, a.Addr)
		if want := a.Codepoint.Of(packet.ECT0, false); k.ECN != want {
			t.Errorf("from %v: %v, want %v", a.Addr, k.ECN, want)
		}
	}
	spec.Hosts[2].Also = also[:1]
	if _, err := New(nil, spec, Attachment{}); err == nil || !strings.Contains(err.Error(), "address 10.9.0.1 is taken") {
		t.Errorf("an address of two hosts: %v", err)
	}
}
