package aqm

import (
	"time"

	"aqmlab/switch/packet"
)

// dropTail leaves everything to the buffer: a packet that fits is queued, and any other
// is dropped.
type dropTail struct{}

var _ Scheme = dropTail{}

func newDropTail(struct{}, Env) (Scheme, error) { return dropTail{}, nil }

func (dropTail) Arrive(time.Duration, *packet.Packet, View) Verdict { return Pass }
func (dropTail) Depart(time.Duration, *packet.Packet, View) Verdict { return Pass }
