package netns_test

import (
	"testing"

	"github.com/vishvananda/netlink"

	"aqmlab/orchestrator/netns"
)

// TestWatch: an interface of the switch is lost with its host's end, and when that is set
// down; what else happens to interfaces is no loss.
func TestWatch(t *testing.T) {
	for name, tt := range map[string]struct {
		do   func(netlink.Link) error
		lost bool
	}{
		"removed":   {netlink.LinkDel, true},
		"set down":  {netlink.LinkSetDown, true},
		"other MTU": {func(l netlink.Link) error { return netlink.LinkSetMTU(l, 1400) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			lab := up(t, plan(2))
			lost := make(chan string, 100)
			stop, err := netns.Watch(lab.Switches[0], func(link string) { lost <- link })
			if err != nil {
				t.Fatal(err)
			}
			in(t, lab.Hosts[1].Namespace, func() error {
				link, err := netlink.LinkByName(netns.Device)
				if err != nil {
					return err
				}
				return tt.do(link)
			})
			if tt.lost {
				if link := <-lost; link != lab.Hosts[1].Name {
					t.Errorf("%s was lost, want %s", link, lab.Hosts[1].Name)
				}
			}
			stop()
			if !tt.lost && len(lost) > 0 {
				t.Errorf("%s was lost", <-lost)
			}
		})
	}
	t.Run("bridge over the links", func(t *testing.T) { // as benchmarks have
		lab := up(t, plan(2))
		lost := make(chan string, 100)
		stop, err := netns.Watch(lab.Switches[0], func(link string) { lost <- link })
		if err != nil {
			t.Fatal(err)
		}
		in(t, lab.Switches[0], func() error {
			if err := netns.Bridge(lab.Hosts[0].Name, lab.Hosts[1].Name); err != nil {
				return err
			}
			return netns.RemoveBridge()
		})
		stop()
		if len(lost) > 0 {
			t.Errorf("%s was lost", <-lost)
		}
	})
	if _, err := netns.Watch("aqm-none-such", nil); err == nil {
		t.Error("a namespace is watched that is not there")
	}
}
