package netns_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"aqmlab/orchestrator/netns"
)

// TestKeepTimes: every interface of the switch gets a fq that paces nothing by
// itself; a kernel without it is told of.
func TestKeepTimes(t *testing.T) {
	lab := up(t, plan(2))
	err := lab.KeepTimes()
	if errors.Is(err, unix.ENOENT) {
		if !strings.Contains(err.Error(), "CONFIG_NET_SCH_FQ") {
			t.Errorf("got %v, want what the kernel lacks", err)
		}
		t.Skip("this kernel has no fq queueing discipline")
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range lab.Hosts {
		err := netns.Do(lab.Switches[h.Switch], func() error {
			link, err := netlink.LinkByName(h.Name)
			if err != nil {
				return err
			}
			all, err := netlink.QdiscList(link)
			if err != nil {
				return err
			}
			fq, ok := all[0].(*netlink.Fq)
			if len(all) != 1 || !ok || fq.Pacing != 0 || fq.FlowPacketLimit < 10_000 {
				t.Errorf("%s has %v", h.Name, all)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}
