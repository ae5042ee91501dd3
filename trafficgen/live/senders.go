package live

import (
	"math"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"aqmlab/results"
)

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
	now := time.Now()
	if _, err := e.socket.info(&info); err != nil || info.Unacked == 0 && info.Notsent_bytes == 0 {
		return results.SenderSample{}, false
	}
	mss := int64(info.Snd_mss)
	sample := results.SenderSample{
		At:    g.lab(now.Sub(g.Start)),
		Flow:  e.flow,
		Cwnd:  int64(info.Snd_cwnd) * mss,
		SRTT:  g.lab(time.Duration(info.Rtt) * time.Microsecond),
		Alpha: g.Alpha(e.socket.raw),
	}
	if info.Snd_ssthresh < unset {
		sample.SSThresh = int64(info.Snd_ssthresh) * mss
	}
	return sample, true
}

func (g Sampling) lab(wall time.Duration) time.Duration {
	return time.Duration(float64(wall) / g.Dilation)
}
