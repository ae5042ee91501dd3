package kernelaqm_test

import (
	"math/rand/v2"
	"time"

	"aqmlab/e2e/vm/kernelaqm"
)

// stretch is some time during which the queue is to hold that delay.
type stretch struct {
	delay time.Duration
	long  time.Duration
}

// steer makes traffic of random gaps that brings the queueing delay of the link
// to a wanted one and keeps it about there. What a discipline drops it does not
// know.
func steer(rng *rand.Rand, stretches ...stretch) []kernelaqm.Packet {
	const pull = 20 * time.Millisecond // how fast a wrong delay is corrected
	service := rate.Time(kernelaqm.MaxBytes)
	var packets []kernelaqm.Packet
	var now, free, end time.Duration // free: when the link will have sent all
	for _, s := range stretches {
		for end += s.long; now < end; {
			packets = append(packets, kernelaqm.Packet{At: now, Bytes: kernelaqm.MaxBytes})
			free = max(free, now) + service
			load := 1 + float64(s.delay-(free-now))/float64(pull)
			now += time.Duration(float64(service) * (0.5 + rng.Float64()) / min(max(load, 0.5), 2))
		}
	}
	return packets
}
