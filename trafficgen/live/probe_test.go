package live

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"aqmlab/trafficgen/traffic"
)

// datagrams is a network whose hosts are ports of 127.0.0.1.
type datagrams struct{ echo map[int]*net.UDPAddr }

func (n datagrams) ListenPacket(host int) (*net.UDPConn, error) {
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err == nil {
		n.echo[host] = c.LocalAddr().(*net.UDPAddr)
	}
	return c, err
}

func (n datagrams) DialPacket(_, to int) (*net.UDPConn, error) {
	if n.echo[to] == nil {
		return nil, errors.New("nobody answers there")
	}
	return net.DialUDP("udp4", nil, n.echo[to])
}

// echoing are hosts 1 and 2, which answer for the length of the test.
func echoing(t *testing.T) datagrams {
	t.Helper()
	n := datagrams{map[int]*net.UDPAddr{}}
	e, err := ServeEchoes(n, []int{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// answering is host 1, whose packets handle sees and may answer.
func answering(t *testing.T, handle func(k probePacket, from origin, back func(probePacket))) datagrams {
	t.Helper()
	n := datagrams{map[int]*net.UDPAddr{}}
	s, err := openEcho(n, 1)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			k, from, err := s.read()
			if err != nil {
				return
			}
			handle(k, from, func(k probePacket) {
				k.put(&s.out)
				_, _ = s.WriteToUDPAddrPort(s.out[:], from.addr)
			})
		}
	}()
	t.Cleanup(func() { s.Close(); <-done })
	return n
}

const ms = time.Millisecond

// probeOf is a probe without an end of its own.
func probeOf(name string, to int, dscp uint8) traffic.Probe {
	return traffic.Probe{Name: name, To: to, DSCP: dscp, Start: 2 * ms, Every: 2 * ms}
}

func openProbes(t *testing.T, n PacketNetwork, cfg ProbeConfig) *Prober {
	t.Helper()
	if cfg.Dilation == 0 {
		cfg.Dilation = 1
	}
	p, err := OpenProbes(n, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// Probes are sent at their times and answered; times are lab time.
func TestProbes(t *testing.T) {
	a, b := probeOf("a", 1, 0), probeOf("b", 2, 5)
	a.Every, a.Stop = 30*ms, 90*ms
	b.Every, b.Stop = 20*ms, 60*ms
	p := openProbes(t, echoing(t), ProbeConfig{Probes: []traffic.Probe{a, b}, Dilation: 2, Patience: time.Minute})
	begin := time.Now()
	samples, err := p.Run(t.Context(), begin, nil)
	took := time.Since(begin)
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, s := range samples {
		// Late packets, of which a busy machine has some, may be left out.
		if s.Lost || s.RTT <= 0 || s.RTT > took/2 || s.At < 2*ms {
			t.Errorf("sample %+v", s)
		}
		count[s.Probe]++
	}
	if count["a"] == 0 || count["a"] > 3 || count["b"] == 0 || count["b"] > 3 || samples[0].Probe != "a" {
		t.Errorf("%v packets of each, want 3, the first probe's first", count)
	}
}

// A probe has 64 bytes at the network layer and its DSCP, and so has the answer;
// neither is ECN-capable.
func TestProbeOnTheWire(t *testing.T) {
	over, tos := make(chan struct{}), 0
	n := answering(t, func(k probePacket, from origin, back func(probePacket)) {
		if k.number == 0 {
			tos = from.tos
			close(over)
		}
		back(k)
	})
	if _, err := openProbes(t, n, ProbeConfig{Probes: []traffic.Probe{probeOf("a", 1, 9)}, Patience: time.Minute}).Run(t.Context(), time.Now(), over); err != nil {
		t.Fatal(err)
	}
	if tos != 9<<2 {
		t.Errorf("TOS %#x, want %#x", tos, 9<<2)
	}
	c, err := echoing(t).DialPacket(0, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s, err := newStamped(c)
	if err == nil {
		err = errors.Join(s.set("IP_RECVTOS", unix.IPPROTO_IP, unix.IP_RECVTOS, 1), s.setTOS(7<<2|1))
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, dscp := range []int{7, 3, 3} {
		if err := s.setTOS(dscp << 2); err != nil {
			t.Fatal(err)
		}
		probePacket{number: 8}.put(&s.out)
		if _, err := s.Write(s.out[:]); err != nil {
			t.Fatal(err)
		}
		k, from, err := s.read()
		if err != nil || from.tos != dscp<<2 || k.number != 8 || k.left < k.arrived {
			t.Errorf("answer %+v with TOS %#x (%v), want %#x", k, from.tos, err, dscp<<2)
		}
	}
	if len(s.out)+20+8 != 64 {
		t.Errorf("%d bytes of payload, want 36", len(s.out))
	}
}

// A packet that nobody answers is lost, and one that is answered twice counts
// once. The run does not wait for what was lost long ago.
func TestLostProbe(t *testing.T) {
	over := make(chan struct{})
	n := answering(t, func(k probePacket, _ origin, back func(probePacket)) {
		switch k.number {
		case 0:
			return
		case 3:
			close(over)
		}
		back(probePacket{number: 1 << 40}) // was never sent
		back(k)
		back(k)
	})
	p := openProbes(t, n, ProbeConfig{Probes: []traffic.Probe{probeOf("a", 1, 0)}, Patience: ms})
	samples, err := p.Run(t.Context(), time.Now(), over)
	if err != nil || len(samples) < 4 {
		t.Fatalf("%d samples, %v", len(samples), err)
	}
	for i, s := range samples {
		// The last answers may come after the patience of this test.
		if i == 0 && (!s.Lost || s.RTT != 0) || s.Lost != (s.RTT == 0) {
			t.Errorf("sample %d: %+v", i, s)
		}
	}
}

// Probes without an end of their own end with the traffic.
func TestProbesEndWithTheTraffic(t *testing.T) {
	over := make(chan struct{})
	n := answering(t, func(k probePacket, _ origin, back func(probePacket)) {
		if back(k); k.number == 3 {
			close(over)
		}
	})
	samples, err := openProbes(t, n, ProbeConfig{Probes: []traffic.Probe{probeOf("a", 1, 0)}, Patience: time.Minute}).Run(t.Context(), time.Now(), over)
	if err != nil || len(samples) < 4 {
		t.Errorf("%d samples (%v), want the 4 until the end at least", len(samples), err)
	}
}

// The end of the context ends all, however patient, and is the error.
func TestProbesAreCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	n := answering(t, func(probePacket, origin, func(probePacket)) { cancel(enough) })
	p := openProbes(t, n, ProbeConfig{Probes: []traffic.Probe{probeOf("a", 1, 0)}, Patience: time.Hour})
	if _, err := p.Run(ctx, time.Now(), nil); !errors.Is(err, enough) {
		t.Errorf("error %v", err)
	}
}

func TestRoundTrip(t *testing.T) {
	sent := time.Now()
	answered := probePacket{arrived: 5000, left: 5000 + int64(30*ms)} // by a clock of its own
	for _, tt := range []struct {
		name          string
		received, now time.Duration // after sent
		want          time.Duration
	}{
		{"less what the far host took", 50 * ms, 51 * ms, 20 * ms},
		{"the clock was set forward", time.Hour, 51 * ms, 51 * ms},
		{"the clock was set back", -time.Hour, 51 * ms, 51 * ms},
	} {
		if got := roundTrip(sent, sent.Add(tt.received), sent.Add(tt.now), answered); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestParseProbe(t *testing.T) {
	want := probePacket{number: 1 << 60, arrived: 12, left: 1 << 50}
	var b [probePayload]byte
	want.put(&b)
	if got, ok := parseProbe(b[:]); !ok || got != want {
		t.Errorf("read %+v (%v), want %+v", got, ok, want)
	}
	if _, ok := parseProbe(b[:35]); ok {
		t.Error("a packet that is cut short is a probe")
	}
	b[0]++
	if _, ok := parseProbe(b[:]); ok {
		t.Error("a packet of something else is a probe")
	}
}

func TestOpenProbesRefuses(t *testing.T) {
	good := []traffic.Probe{probeOf("a", 1, 0)}
	for want, cfg := range map[string]ProbeConfig{
		"dilation 0":     {Probes: good},
		"probes itself":  {Probes: []traffic.Probe{probeOf("a", 0, 0)}, Dilation: 1},
		"nobody answers": {Probes: append(good, probeOf("b", 3, 0)), Dilation: 1},
	} {
		if _, err := OpenProbes(echoing(t), cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}
