package sim

import (
	"time"

	"aqmlab/results"
	"aqmlab/sim/tcp"
	"aqmlab/switch/event"
)

// senderInfo is what an endpoint knows as a sender.
type senderInfo struct {
	resent, timeouts int64                // since it was opened
	sample           results.SenderSample // without time and flow
}

// segments is an end of a TCP connection.
type segments struct{ *tcp.Endpoint }

func (e segments) info(time.Duration) senderInfo {
	l := e.Info()
	s := results.SenderSample{Cwnd: l.Cwnd, SSThresh: l.SSThresh, SRTT: l.SRTT, Alpha: l.Alpha}
	return senderInfo{l.Resent, l.Timeouts, s}
}

func (q queuePair) info(now time.Duration) senderInfo {
	l := q.Info(now)
	return senderInfo{l.Resent, l.Timeouts, results.SenderSample{Rate: int64(l.Rate), Alpha: l.Alpha}}
}

// senders samples what the servers of all flows under way know, at regular times.
type senders struct {
	sim     *Simulation
	every   time.Duration
	timer   *event.Timer
	samples []results.SenderSample
}

// newSenders samples that often; with zero, never.
func newSenders(s *Simulation, every time.Duration) *senders {
	c := &senders{sim: s, every: every}
	c.timer = event.NewTimer(c.sample)
	if every > 0 {
		s.loop.Schedule(c.timer, every)
	}
	return c
}

func (c *senders) sample(now time.Duration) {
	for _, x := range c.sim.sessions.slots {
		if x.flow == idle || x.ended {
			continue
		}
		s := x.server.info(now).sample
		s.At, s.Flow = now, c.sim.records[x.flow].ID
		c.samples = append(c.samples, s)
	}
	c.sim.loop.Schedule(c.timer, now+c.every)
}
