package collectors

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/results"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// burst has two hosts send 20 full segments each to a third, at once, and returns
// what was captured.
func burst(t testing.TB, spec CaptureSpec, scheme kind.Choice) results.Capture {
	t.Helper()
	network := star(3, 15*units.KB, scheme)
	loop, n, pool := build(t, network)
	c := NewCapture(spec, network.Hosts, packet.AppendTCP)
	c.Attach(loop, n)
	for i := range 20 {
		for src := range 2 {
			k := pool.Get()
			k.Src, k.Dst, k.Size, k.DSCP, k.ECN = int32(src), 2, 1500, 1, packet.ECT0
			k.Segment = packet.Segment{Conn: int32(src), Len: 1448, Seq: int64(i) * 1448, Flags: packet.ACK}
			n.Send(0, src, k)
		}
	}
	loop.RunUntil(10 * time.Millisecond)
	return c.End()
}

// marking marks what finds more than 3 KB, which 20 segments from each of two hosts
// do.
func marking() kind.Choice {
	return kind.Choice{Kind: "dctcp-red", Params: map[string]any{"threshold": "3KB"}}
}

func file(c results.Capture) []byte { return slices.Concat(c.Chunks...) }

// What enters the port and what leaves it or is dropped stand in the file in the
// order of time, with a comment on what the port did.
func TestCapture(t *testing.T) {
	c := burst(t, CaptureSpec{Ports: []string{"s1:h3"}, Snap: 128, Size: 1 << 20}, marking())
	f := readPcapng(t, file(c))
	if !slices.Equal(f.Ifaces, []string{"s1:h3"}) || len(f.Packets) != 40 || c.Packets != 40 || c.LeftOut != 0 || f.Seen[0] != 40 {
		t.Fatalf("%v with %d packets, %d seen, counted %d and %d left out: want 40 at s1:h3", f.Ifaces, len(f.Packets), f.Seen, c.Packets, c.LeftOut)
	}
	const wire = 12304 * time.Nanosecond // of a full frame at 1 Gbps
	dropped, marked, before := 0, 0, time.Duration(0)
	for i, p := range f.Packets {
		if p.At < before || p.Inbound || p.Queue != 1 || p.Length != 1514 || len(p.Data) != packet.EthernetSize+52 {
			t.Errorf("packet %d: %+v after %v", i, p, before)
		}
		before = p.At
		back := packet.Packet{Frame: p.Data}
		ce := p.Data[packet.EthernetSize+1]&3 == byte(packet.CE)
		if _, err := back.Parse(); err == nil { // without its payload it is cut short
			t.Errorf("packet %d has all of its bytes", i)
		}
		switch {
		case strings.HasPrefix(p.Comment, "dropped, no room in the buffer: queue 1 holds "):
			dropped++
		case strings.HasPrefix(p.Comment, "CE set on arrival: queue 1 holds "):
			if marked++; !ce {
				t.Errorf("packet %d is %q, and not marked", i, p.Comment)
			}
		case p.Comment != "" || ce:
			t.Errorf("packet %d: %q, marked: %v", i, p.Comment, ce)
		}
	}
	if dropped == 0 || marked == 0 || f.Packets[0].At != wire {
		t.Errorf("%d dropped, %d marked, the first at %v, want some, and %v", dropped, marked, f.Packets[0].At, wire)
	}
}

// Without ports named, all are captured, each by its name; a packet is seen where
// it enters and where it leaves.
func TestCaptureOfAllPorts(t *testing.T) {
	f := readPcapng(t, file(burst(t, CaptureSpec{Snap: 64, Size: 1 << 20}, kind.Choice{Kind: "droptail"})))
	if !slices.Equal(f.Ifaces, []string{"s1:h1", "s1:h2", "s1:h3"}) || !slices.Equal(f.Seen, []uint64{20, 20, 40}) {
		t.Errorf("%v saw %v packets", f.Ifaces, f.Seen)
	}
	for _, p := range f.Packets {
		if p.Inbound != (p.Iface != "s1:h3") || len(p.Data) != 64 || strings.HasPrefix(p.Comment, "CE") {
			t.Errorf("%+v", p)
		}
	}
}

// A full file takes no more packets, and says how many there were.
func TestCaptureEndsWhenFull(t *testing.T) {
	c := burst(t, CaptureSpec{Snap: 64, Size: 2000}, marking())
	f := readPcapng(t, file(c))
	if n := len(file(c)); n < 2000 || n > 2600 {
		t.Errorf("a file of %d bytes, of 2000 and the packet beyond", n)
	}
	var seen, out uint64
	for i := range f.Ifaces {
		seen, out = seen+f.Seen[i], out+f.LeftOut[i]
	}
	if seen != 80 || int(seen-out) != len(f.Packets) || c.LeftOut != int64(out) || out == 0 {
		t.Errorf("%d packets seen, %d left out, %d in the file, %+d counted", seen, out, len(f.Packets), c.LeftOut)
	}
}

// Moved to another zero, packets keep their distances; none is before it.
func TestShift(t *testing.T) {
	spec := CaptureSpec{Snap: 64, Size: 1 << 20}
	before := readPcapng(t, file(burst(t, spec, marking())))
	c := burst(t, spec, marking())
	const by = 100 * time.Microsecond
	Shift(c, -by)
	after := readPcapng(t, file(c))
	for i, p := range after.Packets {
		if want := max(0, before.Packets[i].At-by); p.At != want {
			t.Errorf("packet %d at %v, want %v", i, p.At, want)
		}
	}
}

// Other programs read the file as we do.
func TestTsharkReadsCaptures(t *testing.T) {
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Skip("tshark is not installed")
	}
	path := filepath.Join(t.TempDir(), "capture.pcapng")
	c := burst(t, CaptureSpec{Ports: []string{"s1:h3"}, Snap: 128, Size: 1 << 20}, marking())
	if err := os.WriteFile(path, file(c), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("tshark", "-o", "ip.check_checksum:TRUE", "-r", path, "-T", "fields", "-E", "separator=|",
		"-e", "frame.interface_name", "-e", "frame.time_epoch", "-e", "frame.len", "-e", "ip.checksum.status", "-e", "tcp.seq_raw", "-e", "frame.comment").Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	want := readPcapng(t, file(c)).Packets
	if len(lines) != len(want) {
		t.Fatalf("tshark sees %d packets, want %d", len(lines), len(want))
	}
	for i, p := range want {
		f := strings.Split(lines[i], "|")
		if at, err := time.ParseDuration(f[1] + "s"); err != nil || at != p.At || f[0] != "s1:h3" || f[2] != "1514" || f[3] != "1" || f[5] != p.Comment {
			t.Errorf("packet %d: tshark sees %q, we %v %q", i, lines[i], p.At, p.Comment)
		}
	}
}

// A capture takes memory by the chunk, not by the packet, comments included.
func TestCaptureAllocatesNothingPerPacket(t *testing.T) {
	l := newLoad(t, NewCapture(CaptureSpec{Snap: 128, Size: 1 << 30}, overload().Hosts, packet.AppendTCP))
	for range 20 {
		l.step()
	}
	if n := testing.AllocsPerRun(20, l.step); n > packets/50 {
		t.Errorf("%v allocations for %d packets, each seen twice", n, packets)
	}
}

// Files of several switches make one, of a section each; a switch without any of
// the ports has none.
func TestCapturesOfSeveralSwitches(t *testing.T) {
	one := burst(t, CaptureSpec{Ports: []string{"s1:h3"}, Snap: 64, Size: 1 << 20}, marking())
	two := burst(t, CaptureSpec{Snap: 64, Size: 1 << 20}, marking())
	none := burst(t, CaptureSpec{Ports: []string{"s2:h3"}, Snap: 64, Size: 1 << 20}, marking())
	if len(none.Chunks) != 0 {
		t.Errorf("%d bytes of no port", len(file(none)))
	}
	one.Chunks = append(one.Chunks, two.Chunks...)
	f := readPcapng(t, file(one))
	if want := []string{"s1:h3", "s1:h1", "s1:h2", "s1:h3"}; !slices.Equal(f.Ifaces, want) || len(f.Packets) != 40+80 || f.Packets[119].Iface != "s1:h3" {
		t.Errorf("%d packets at %v, the last at %s", len(f.Packets), f.Ifaces, f.Packets[len(f.Packets)-1].Iface)
	}
}
