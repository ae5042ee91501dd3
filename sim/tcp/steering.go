package tcp

import (
	"time"

	"aqmlab/switch/packet"
)

// steering is a control that decides by itself, at every acknowledgement, about the
// window, the rate at which data is paced, and the answer to marks, as those of Linux
// do that have cong_control. Nothing else changes its window, but a timeout that takes
// it to one segment. It is not held after a mark, nor reduced in proportion, nor made
// smaller for having been idle.
type steering interface {
	control
	// begin prepares the window of a new connection, after open.
	begin(w *window)
	// steer is told of every acknowledgement that none has overtaken.
	steer(w *window, s *sample)
	// resume is called before data is sent when none is in the network.
	resume(w *window, now time.Duration)
}

// steered is what a steering control has no use for.
type steered struct{}

func (steered) acked(*window, ack) {}

func (steered) resume(*window, time.Duration) {}

// sample is what an acknowledgement tells.
type sample struct {
	now        time.Duration
	rtt        time.Duration // of what was sent last of all that it tells to have arrived; below zero when nothing has
	srtt       time.Duration // smoothed; zero: not measured
	base       time.Duration // the longest of all connections without queues; zero: not known
	arrived    int64         // bytes that it tells to have arrived, SACKed ones included
	marks      int64         // marked packets that it tells of, with [echoCounts]
	lost       int64         // bytes that it shows to be lost; with RACK only
	flight     int64         // bytes in the network when it came
	pipe       int64         // bytes in the network after it
	una, nxt   int64         // all acknowledged, all sent
	limited    bool          // window or pacing were what limited the sender
	recovering bool          // losses are being repaired
	repairing  bool          // they are, or data is sent again after a timeout
	hash       uint32        // of the connection, in place of random numbers
	rate       delivery      // of a control that is metered
	meter      *meter        // likewise
}

// standing is what a sample is the difference to.
type standing struct {
	arrived, pipe, losses int64
	limited               bool
	rtt                   time.Duration // the sample's
}

// standing is where the sender stands before an acknowledgement.
func (e *Endpoint) standing() standing {
	return standing{arrived: e.arrived(), pipe: e.pipe(), losses: e.rack.losses, limited: e.una < e.limit.full}
}

// arrived is how many bytes are known to have arrived.
func (e *Endpoint) arrived() int64 {
	n := e.una
	if len(e.board.sacked.runs) > 0 {
		n += e.board.sacked.within(e.una, e.nxt)
	}
	return n
}

// newest is the round-trip time of what was sent last of all that a segment tells to
// have arrived; below zero if that is nothing. Without RACK the stamp that it echoes
// tells it, of new data.
func (e *Endpoint) newest(now time.Duration, s *packet.Segment, acked bool) time.Duration {
	switch a := &e.rack.arrived; {
	case e.stack.rack && a.turn > 0:
		return now - a.at
	case !e.stack.rack && acked:
		return now - s.Echo
	}
	return -1
}

// tell has a steering control decide about an acknowledgement that has been taken.
func (e *Endpoint) tell(now time.Duration, k *packet.Packet, was standing) {
	s := &e.sample // kept, so that none is allocated
	*s = sample{
		now: now, rtt: was.rtt, srtt: time.Duration(e.rtt.srtt), base: e.stack.config.BaseRTT,
		arrived: e.arrived() - was.arrived, marks: e.takeCount(&k.Segment), lost: e.rack.losses - was.losses,
		flight: was.pipe, pipe: e.pipe(), una: e.una, nxt: e.nxt,
		limited: was.limited, recovering: e.board.phase == recovering, repairing: e.board.phase != open,
		hash: e.ends.Hash, meter: e.rack.meter,
	}
	if s.meter != nil {
		s.rate = s.meter.take(e.rack.minRTT, e.rack.losses)
	}
	e.steer.steer(&e.win, s)
	if s.meter != nil {
		s.meter.gone = s.meter.gone[:0]
	}
}
