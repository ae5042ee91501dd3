package cc

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// wire joins the TUN devices of client and server. It is one queue for both
// directions, and a packet is delivered only after everything before it: that
// is the round trip, without a clock. On the way it marks and drops data
// packets from the client.
type wire struct {
	ends  [2]int // descriptors: client, server
	stop  *os.File
	queue []frame

	mu   sync.Mutex
	plan plan
	seen counts
	rand *rand.Rand
}

type frame struct {
	from int // index in ends
	ip   []byte
}

// plan is what happens to the client's data packets.
type plan struct {
	mark float64 // probability of a CE mark, if ECN-capable
	drop int     // how many to drop, before all else
}

// counts are the client's data packets that were delivered.
type counts struct{ notECT, ect, ce int }

// newWire starts forwarding; it ends with the test.
func newWire(t *testing.T, client, server int) *wire {
	t.Helper()
	wake, stop, err := os.Pipe()
	must(t, err)
	w := &wire{ends: [2]int{client, server}, stop: wake, rand: rand.New(rand.NewPCG(1, 2))}
	done := make(chan error, 1)
	go func() { done <- w.forward() }()
	t.Cleanup(func() {
		must(t, stop.Close())
		must(t, errors.Join(<-done, wake.Close()))
	})
	return w
}

// set gives the wire a plan and starts the counts and the dice over.
func (w *wire) set(p plan) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.plan, w.seen = p, counts{}
	w.rand = rand.New(rand.NewPCG(1, 2))
}

func (w *wire) counts() counts {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen
}

func (w *wire) forward() error {
	for {
		stopped, err := w.fetch()
		if stopped || err != nil {
			return err
		}
		if len(w.queue) == 0 {
			continue
		}
		f := w.queue[0]
		w.queue = w.queue[1:]
		if f.from == 0 && !w.touch(f.ip) {
			continue
		}
		if _, err := unix.Write(w.ends[1-f.from], f.ip); err != nil {
			return err
		}
	}
}

// fetch appends what the hosts have sent. It waits if there is nothing to do.
func (w *wire) fetch() (stopped bool, err error) {
	wait := 0
	if len(w.queue) == 0 {
		wait = -1
	}
	polled := []unix.PollFd{
		{Fd: int32(w.ends[0]), Events: unix.POLLIN},
		{Fd: int32(w.ends[1]), Events: unix.POLLIN},
		{Fd: int32(w.stop.Fd())},
	}
	if _, err := unix.Poll(polled, wait); err != nil && !errors.Is(err, unix.EINTR) {
		return false, err
	}
	for from, fd := range w.ends {
		if err := w.drain(from, fd); err != nil {
			return false, err
		}
	}
	return polled[2].Revents&unix.POLLHUP != 0, nil
}

func (w *wire) drain(from, fd int) error {
	var buf [2048]byte
	for {
		n, err := unix.Read(fd, buf[:])
		if errors.Is(err, unix.EAGAIN) {
			return nil
		}
		if err != nil {
			return err
		}
		// The hosts also speak IPv6 to no one.
		if buf[0]>>4 == 4 {
			w.queue = append(w.queue, frame{from: from, ip: append([]byte(nil), buf[:n]...)})
		}
	}
}

// touch carries out the plan on a packet and reports whether it goes on.
func (w *wire) touch(ip []byte) bool {
	if !carriesData(ip) {
		return true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.plan.drop > 0:
		w.plan.drop--
		return false
	case ip[1]&3 == 0:
		w.seen.notECT++
		return true
	}
	w.seen.ect++
	if w.rand.Float64() < w.plan.mark {
		w.seen.ce++
		markCE(ip)
	}
	return true
}

// carriesData reports whether an IPv4 packet is TCP with a payload.
func carriesData(ip []byte) bool {
	header := int(ip[0]&15) * 4
	if ip[9] != unix.IPPROTO_TCP {
		return false
	}
	return len(ip) > header+int(ip[header+12]>>4)*4
}

// markCE sets the CE codepoint and mends the header checksum (RFC 1624, eq. 3).
func markCE(ip []byte) {
	before := binary.BigEndian.Uint16(ip)
	ip[1] |= 3
	after := binary.BigEndian.Uint16(ip)
	sum := uint32(^binary.BigEndian.Uint16(ip[10:])) + uint32(^before) + uint32(after)
	for sum>>16 != 0 {
		sum = sum&0xffff + sum>>16
	}
	binary.BigEndian.PutUint16(ip[10:], ^uint16(sum))
}
