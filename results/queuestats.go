package results

import "time"

// Interval is what the switches of a lab that is up did in a stretch of lab time.
type Interval struct {
	At     time.Duration `json:"at_ns"`       // its end, since the lab came up
	Length time.Duration `json:"interval_ns"` // of the stretch
	Queues []QueueStats  `json:"queues"`
	Links  []LinkCount   `json:"links,omitempty"` // those that have lost packets in it
}

// QueueStats is a queue of a port at the end of an interval, and what became in it of
// the packets that left the queue or were dropped. Sojourn times are of those that were
// sent; but for the mean they are right to a 64th, and rather too long.
type QueueStats struct {
	Switch string `json:"switch"`
	Port   string `json:"port"` // name of the node at the port's far end
	Queue  int    `json:"queue"`

	Bytes   int64 `json:"queue_bytes"`
	Packets int64 `json:"queue_packets"`

	SojournMean time.Duration `json:"sojourn_mean_ns"`
	SojournP50  time.Duration `json:"sojourn_p50_ns"`
	SojournP99  time.Duration `json:"sojourn_p99_ns"`
	SojournMax  time.Duration `json:"sojourn_max_ns"`

	MarkedEnqueue  int64 `json:"marked_enqueue"` // CE set by this port, when they joined the queue
	MarkedDequeue  int64 `json:"marked_dequeue"` // the same, when they left it
	DroppedFull    int64 `json:"dropped_full"`   // the buffer had no room
	DroppedEnqueue int64 `json:"dropped_enqueue"`
	DroppedDequeue int64 `json:"dropped_dequeue"`

	Sent      int64   `json:"sent"`
	SentBytes int64   `json:"sent_bytes"` // of the network layer
	Rate      float64 `json:"rate_bps"`   // of these bytes, in lab time
}
