// Package traffic is what hosts are to send: flows, probes, and how both are tagged.
// It is all that whoever plays a trace needs to know of traffic.
package traffic

import (
	"time"

	"aqmlab/units"
)

// MaxBytes is the largest flow, 1 TiB.
const MaxBytes = 1 << 40

// Flow is one transfer of payload from a server to a client. The fields after the
// first six are optional.
type Flow struct {
	ID      int           // index in the trace
	Start   time.Duration // lab time, above zero
	Client  int           // index of the host that asks and receives
	Server  int           // index of the host that sends
	Bytes   int64         // payload, from 1 to [MaxBytes]
	Service int           // from 0; [Tagging] makes it the DSCP and queue of the payload

	Workload int           // index of its workload: 0 is the spec's own, 1 the first of [Spec.Background]
	Query    int           // from 1, distinct over the trace: the flows of one query, which is over when all are
	Push     bool          // the server sends at Start, by itself; otherwise the client asks at Start
	Stop     time.Duration // lab time, above Start, when the server's application has sent enough; the flow is over when that has come
	Rate     units.Rate    // most payload that the server's application offers
}

// End is the lab time of the last thing that a trace plans: a start or a stop.
func End(flows []Flow) time.Duration {
	var end time.Duration
	for _, f := range flows {
		end = max(end, f.Start, f.Stop)
	}
	return end
}
