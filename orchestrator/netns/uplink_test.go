package netns_test

import (
	"fmt"
	"math"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"aqmlab/orchestrator/netns"
)

// uplinkOf reads back how a host's eth0 is shaped.
func uplinkOf(t *testing.T, h netns.Host) (tbf *netlink.Tbf) {
	t.Helper()
	in(t, h.Namespace, func() error {
		link, err := netlink.LinkByName(netns.Device)
		if err != nil {
			return err
		}
		disciplines, err := netlink.QdiscList(link)
		if err != nil {
			return err
		}
		for _, q := range disciplines {
			if found, ok := q.(*netlink.Tbf); ok && q.Attrs().Parent == netlink.HANDLE_ROOT {
				tbf = found
				return nil
			}
		}
		return fmt.Errorf("%s: queueing disciplines of eth0 are %v, want a tbf at the root", h.Name, disciplines)
	})
	return tbf
}

// checkUplink compares a host's shape with the plan. What the kernel counts of
// a frame is the packet and 14 bytes, what the wire carries is 24 more
// (preamble 8, FCS 4, gap 12): full frames at the tbf's rate fill the link.
func checkUplink(t *testing.T, h netns.Host, p netns.Plan) {
	t.Helper()
	tbf := uplinkOf(t, h)
	if tbf == nil {
		return
	}
	counted := float64(p.MTU + 14)
	if wire := 8 * float64(tbf.Rate) * (counted + 24) / counted; math.Abs(wire-float64(p.Uplink)) > 1e-3*float64(p.Uplink) {
		t.Errorf("%s: full frames leave at %.0f bit/s of the wire, want %d", h.Name, wire, p.Uplink)
	}
	// The bucket is the time that it takes to fill: a frame that does not fit
	// in would be dropped, and the queue holds 1000 of them.
	if bucket := float64(tbf.Rate) * float64(tbf.Buffer) / netlink.TickInUsec() / 1e6; bucket < counted {
		t.Errorf("%s: a bucket of %.0f bytes does not hold a frame of %.0f", h.Name, bucket, counted)
	}
	if tbf.Limit != uint32(1000*counted) {
		t.Errorf("%s: a queue of %d bytes, want 1000 frames of %.0f", h.Name, tbf.Limit, counted)
	}
}

// TestFreeUplink: a host whose link has a queue of its own is not held to a rate, before and
// after its lab changes speed.
func TestFreeUplink(t *testing.T) {
	p := plan(1)
	p.Uplink = 0
	lab := up(t, p)
	for range 2 {
		in(t, lab.Hosts[0].Namespace, func() error {
			link, err := netlink.LinkByName(netns.Device)
			if err != nil {
				return err
			}
			disciplines, err := netlink.QdiscList(link)
			for _, q := range disciplines {
				if _, shaped := q.(*netlink.Tbf); shaped {
					t.Errorf("eth0 has a token bucket: %v", q)
				}
			}
			return err
		})
		if err := lab.Retime(p); err != nil {
			t.Fatal(err)
		}
	}
}

func TestUplink(t *testing.T) {
	tests := []struct {
		name   string
		uplink int64
		mtu    int
	}{
		{"slowest", 20_000, 1500},
		{"slowest, largest packets", 20_000, 65535},
		{"fast", 1e9, 1500},
		{"jumbo frames", 1e9, 9000},
		{"largest packets", 1e9, 65535},
		{"rate above 32 bits", 100e9, 1500},
		{"burst of less than a microsecond", 800e9, 1500},
		{"smallest packets", 400e9, 576},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := plan(1)
			p.Uplink, p.MTU = test.uplink, test.mtu
			checkUplink(t, up(t, p).Hosts[0], p)
		})
	}
}

func TestRetimeChangesUplinks(t *testing.T) {
	p := plan(3)
	lab := up(t, p)
	for _, rate := range []int64{125e6, 2e9} {
		p.Uplink = rate
		if err := lab.Retime(p); err != nil {
			t.Fatal(err)
		}
		for _, h := range lab.Hosts {
			checkUplink(t, h, p)
		}
	}
	p.Uplink = 19_999
	if err := lab.Retime(p); err == nil {
		t.Error("an uplink below the least is no error")
	}
}

// Hosts whose links differ send each at the rate of its own.
func TestUplinksOfTheirOwn(t *testing.T) {
	p := plan(3)
	p.Uplinks = []int64{1e8, 1e9, 3e9}
	lab := up(t, p)
	check := func() {
		t.Helper()
		for i, h := range lab.Hosts {
			own := p
			own.Uplink = p.Uplinks[i]
			checkUplink(t, h, own)
		}
	}
	check()
	p.Uplinks = []int64{2e9, 5e7, 1e9}
	if err := lab.Retime(p); err != nil {
		t.Fatal(err)
	}
	check()
}

// TestRerateKeepsWhatIsQueued: a host's rate changes while packets wait for its link. None
// is dropped, all leave, and other hosts keep theirs.
func TestRerateKeepsWhatIsQueued(t *testing.T) {
	p := plan(2)
	p.Uplink = 20_000
	lab := up(t, p)
	const packets = 60 // ten full frames leave at once, and 50 would take half a minute
	in(t, lab.Hosts[0].Namespace, func() error {
		c, err := net.Dial("udp4", netip.AddrPortFrom(lab.Hosts[1].Addr, 9).String())
		if err != nil {
			return err
		}
		defer c.Close()
		for range packets {
			if _, err := c.Write(make([]byte, 1300)); err != nil {
				return err
			}
		}
		return nil
	})
	if waits := uplinkOf(t, lab.Hosts[0]).Statistics.Queue.Qlen; waits < packets/2 {
		t.Fatalf("%d packets wait, want most of %d", waits, packets)
	}
	for _, rate := range []int64{30_000, 1e9} {
		if err := lab.Rerate(0, p, rate); err != nil {
			t.Fatal(err)
		}
		changed := p
		changed.Uplink = rate
		checkUplink(t, lab.Hosts[0], changed)
	}
	checkUplink(t, lab.Hosts[1], p)
	for {
		s := uplinkOf(t, lab.Hosts[0]).Statistics
		if s.Queue.Drops > 0 {
			t.Fatalf("%d packets dropped", s.Queue.Drops)
		}
		if s.Basic.Packets >= packets {
			break
		}
		select {
		case <-time.After(time.Millisecond):
		case <-t.Context().Done():
			t.Fatalf("%d of %d packets left", s.Basic.Packets, packets)
		}
	}
	if err := lab.Rerate(0, p, 19_999); err == nil {
		t.Error("a rate that the kernel cannot keep is no error")
	}
}
