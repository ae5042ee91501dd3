package live

import (
	"maps"
	"math"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"aqmlab/results"
)

// Account is what the server of a flow sent again for it: from the request on,
// until the next request on the connection or its end, so that what is sent
// again needlessly behind the last byte counts.
type Account struct {
	Flow        int64 // id
	Retransmits int64 // packets; [results.Unknown] where the kernel could not be asked
	Timeouts    int64 // retransmission timers that expired; [results.Unknown] before Linux 6.7
}

// ledger holds the accounts of a server.
type ledger struct {
	mu   sync.Mutex
	open map[*socket]entry
	done []Account
}

// entry is an account that is open.
type entry struct {
	socket *socket
	flow   int64
	before retransmits
}

// busy appends the accounts that are open to a list.
func (l *ledger) busy(list []entry) []entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.AppendSeq(list, maps.Values(l.open))
}

// begin opens the account of the flow that a connection is asked for, and ends
// that of the one before.
func (l *ledger) begin(s *socket, flow int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := s.retransmits()
	l.settle(s, now)
	l.open[s] = entry{s, flow, now}
}

// end ends the account of a connection's last flow, while the connection can
// still be asked.
func (l *ledger) end(s *socket) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settle(s, s.retransmits())
}

// settle closes an account if one is open; l.mu is held.
func (l *ledger) settle(s *socket, now retransmits) {
	e, ok := l.open[s]
	if !ok {
		return
	}
	delete(l.open, s)
	sum := now.since(e.before)
	l.done = append(l.done, Account{e.flow, sum.packets, sum.timeouts})
}

// Accounts ends all accounts and returns those that no call has returned before.
// It is meant for when all flows of a trace are over.
func (s *Server) Accounts() []Account {
	l := &s.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	for sock := range l.open {
		l.settle(sock, sock.retransmits())
	}
	done := l.done
	l.done = nil
	return done
}

// retransmits counts what a socket has sent again, SYNs included, since it was made.
type retransmits struct{ packets, timeouts int64 }

// unknown are the counts of a socket that cannot be asked any more.
func unknown() retransmits { return retransmits{results.Unknown, results.Unknown} }

// retransmits asks the kernel. Linux counts timeouts from 6.7 on (tcpi_total_rto); an
// older one fills less of the structure.
func (s *socket) retransmits() retransmits {
	var info unix.TCPInfo
	size, err := s.info(&info)
	if err != nil {
		return unknown()
	}
	a := retransmits{int64(info.Total_retrans), results.Unknown}
	if size >= unsafe.Offsetof(info.Total_rto)+unsafe.Sizeof(info.Total_rto) {
		a.timeouts = int64(info.Total_rto)
	}
	return a
}

// info reads TCP_INFO and says how many bytes of it this kernel knows. It makes the
// call by hand because package unix does not return that number.
func (s *socket) info(info *unix.TCPInfo) (size uintptr, err error) {
	length := uint32(unix.SizeofTCPInfo)
	err = control(s.raw, func(fd int) error {
		_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.IPPROTO_TCP, unix.TCP_INFO,
			uintptr(unsafe.Pointer(info)), uintptr(unsafe.Pointer(&length)), 0)
		if errno != 0 {
			return os.NewSyscallError("getsockopt TCP_INFO", errno)
		}
		return nil
	})
	return uintptr(length), err
}

// since is what was sent again after an earlier look.
func (a retransmits) since(before retransmits) retransmits {
	return retransmits{less(a.packets, before.packets), less(a.timeouts, before.timeouts)}
}

func less(now, before int64) int64 {
	if now == results.Unknown || before == results.Unknown {
		return results.Unknown
	}
	return now - before
}

// Sampling says how the senders of a server are looked at while flows are under
// way.
type Sampling struct {
	Start    time.Time     // wall time of lab time zero
	Dilation float64       // wall time over lab time, above zero
	Every    time.Duration // lab time between two looks, above zero; more where the machine is slower
	// Alpha reads DCTCP's estimate of a connection; [results.Unknown] where there
	// is none.
	Alpha func(syscall.RawConn) float64
}

// Sample looks at every connection that has payload to deliver, until over is
// closed. Times and round-trip times are lab time.
func (s *Server) Sample(g Sampling, over <-chan struct{}) []results.SenderSample {
	tick := time.NewTicker(max(1, time.Duration(float64(g.Every)*g.Dilation)))
	defer tick.Stop()
	var samples []results.SenderSample
	var busy []entry
	for {
		select {
		case <-over:
			return samples
		case <-tick.C:
		}
		busy = s.ledger.busy(busy[:0])
		for _, e := range busy {
			if sample, ok := g.look(e); ok {
				samples = append(samples, sample)
			}
		}
	}
}

// unset is the slow-start threshold of a connection that has none yet
// (TCP_INFINITE_SSTHRESH).
const unset = math.MaxInt32

// look asks the kernel about a connection. One on which all is acknowledged waits
// for its next flow, and one that was closed cannot be asked.
func (g Sampling) look(e entry) (results.SenderSample, bool) {
	var info unix.TCPInfo
	now, lab := time.Now(), dilated{g.Start, g.Dilation}.lab
	if _, err := e.socket.info(&info); err != nil || info.Unacked == 0 && info.Notsent_bytes == 0 {
		return results.SenderSample{}, false
	}
	mss := int64(info.Snd_mss)
	sample := results.SenderSample{
		At:    lab(now.Sub(g.Start)),
		Flow:  e.flow,
		Cwnd:  int64(info.Snd_cwnd) * mss,
		SRTT:  lab(time.Duration(info.Rtt) * time.Microsecond),
		Alpha: g.Alpha(e.socket.raw),
	}
	if info.Snd_ssthresh < unset {
		sample.SSThresh = int64(info.Snd_ssthresh) * mss
	}
	return sample, true
}
