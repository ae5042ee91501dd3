package netns_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"

	"aqmlab/orchestrator/netns"
)

// ring has three switches with a host each, a ring of trunks and one more
// beside the first.
func ring() netns.Plan {
	p := plan(3)
	p.Switches, p.At = []string{"a", "b", "c"}, []int{0, 1, 2}
	p.Trunks = [][2]int{{0, 1}, {1, 2}, {2, 0}, {0, 1}}
	return p
}

// Every switch has an interface for each of its links, named after who is at the
// other end, and removing the lab takes all of them away.
func TestTrunks(t *testing.T) {
	p := ring()
	lab := up(t, p)
	want := [][]string{{"lo", "h1", "b", "b-2", "c"}, {"lo", "h2", "a", "a-2", "c"}, {"lo", "h3", "a", "b"}}
	macs := map[string]bool{}
	for i, names := range want {
		in(t, lab.Switches[i], func() error {
			links, err := netlink.LinkList()
			got := map[string]bool{}
			for _, l := range links {
				got[l.Attrs().Name] = true
				if l.Attrs().Name == "lo" {
					continue
				}
				// A list may show a state that is about to change; asked for one link,
				// the kernel settles it first.
				if l, err = netlink.LinkByIndex(l.Attrs().Index); err != nil {
					return err
				}
				if l.Attrs().OperState != netlink.OperUp || l.Attrs().MTU != p.MTU || macs[l.Attrs().HardwareAddr.String()] {
					t.Errorf("switch %d: %+v", i, l.Attrs())
				}
				macs[l.Attrs().HardwareAddr.String()] = true
			}
			wanted := map[string]bool{}
			for _, name := range names {
				wanted[name] = true
			}
			if !reflect.DeepEqual(got, wanted) {
				t.Errorf("switch %d has %v, want %v", i, got, wanted)
			}
			return err
		})
	}
}

func TestBadTrunks(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*netns.Plan)
		want   string
	}{
		{"no switch", func(p *netns.Plan) { p.Switches, p.At, p.Trunks = nil, nil, nil }, "no switch"},
		{"two alike", func(p *netns.Plan) { p.Switches[1] = "a" }, `"a" is taken`},
		{"too few places", func(p *netns.Plan) { p.At = p.At[:2] }, "one for each of 3 hosts"},
		{"host nowhere", func(p *netns.Plan) { p.At[1] = 3 }, "host h2: no switch has the number 3"},
		{"trunk to nowhere", func(p *netns.Plan) { p.Trunks[0][1] = 3 }, "between switches 0 and 3"},
		{"trunk to itself", func(p *netns.Plan) { p.Trunks[0][1] = 0 }, "between switches 0 and 0"},
		{"long name", func(p *netns.Plan) { p.Switches[1] = "a-very-long-nam" }, `"a-very-long-nam-2"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := ring()
			tt.change(&p)
			if _, err := p.Lab("00ff"); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}
