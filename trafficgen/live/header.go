package live

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"aqmlab/trafficgen/traffic"
	"aqmlab/units"
)

const (
	idSize       = 16 // what a response repeats of its request
	responseSize = idSize + 8
	requestSize  = idSize + 3*8 + traffic.MaxThresholds*8
)

// magic holds the protocol's name and version.
const magic = "aqm\x02"

// errProtocol is wrapped by the error for bytes that are not a header.
var errProtocol = errors.New("not a header of this protocol")

// request is what a client asks for. Rates and times are on the wall.
type request struct {
	flow    uint64
	bytes   int64
	service uint8
	count   uint8 // of the thresholds
	// thresholds are those of a [traffic.Tagging].
	thresholds [traffic.MaxThresholds]units.Size
	rate       int64         // most bytes a second; 0: no limit
	lasts      time.Duration // until the server stops; 0: never
	gap        uint16        // silence that ends a message, in [gapUnit]; 0: none. Of datagrams: payload of a full one
}

// gapUnit is the unit of a request's gap. Scheduling by the kernel is no more exact.
const gapUnit = 100 * time.Microsecond

// gapOf is a wall time in gap units, at least one.
func gapOf(wall float64) uint16 {
	return uint16(min(max(1, math.Round(wall/float64(gapUnit))), math.MaxUint16))
}

func (q *request) tagging() traffic.Tagging {
	return traffic.Tagging{Thresholds: q.thresholds[:q.count]}
}

// dscp is that of the byte at an offset.
func (q *request) dscp(offset int64) uint8 { return q.tagging().DSCP(int(q.service), offset) }

// put writes the request over b.
func (q *request) put(b *[requestSize]byte) {
	copy(b[:], magic)
	b[4], b[5] = q.service, q.count
	binary.BigEndian.PutUint16(b[6:], q.gap)
	binary.BigEndian.PutUint64(b[8:], q.flow)
	for i, n := range q.numbers() {
		binary.BigEndian.PutUint64(b[idSize+8*i:], uint64(n))
	}
}

// numbers lists what stands behind the id.
func (q *request) numbers() (all [3 + traffic.MaxThresholds]int64) {
	all[0], all[1], all[2] = q.bytes, q.rate, int64(q.lasts)
	for i, threshold := range q.thresholds {
		all[3+i] = int64(threshold)
	}
	return all
}

// parseRequest reads a request, refusing whatever put cannot have written.
func parseRequest(b *[requestSize]byte) (request, error) {
	q := request{service: b[4], count: b[5], gap: binary.BigEndian.Uint16(b[6:]), flow: binary.BigEndian.Uint64(b[8:])}
	switch {
	case !bytes.Equal(b[:4], []byte(magic)):
		return q, fmt.Errorf("%w: it begins with % x", errProtocol, b[:4])
	case q.count > traffic.MaxThresholds:
		return q, fmt.Errorf("%w: %d thresholds are above %d", errProtocol, q.count, traffic.MaxThresholds)
	}
	number := func(i int) int64 { return int64(binary.BigEndian.Uint64(b[idSize+8*i:])) }
	q.bytes, q.rate, q.lasts = number(0), number(1), time.Duration(number(2))
	for i := range q.thresholds {
		q.thresholds[i] = units.Size(number(3 + i))
	}
	if err := q.check(); err != nil {
		return q, fmt.Errorf("%w: %w", errProtocol, err)
	}
	return q, nil
}

func (q *request) check() error {
	switch {
	case q.bytes < 1 || q.bytes > traffic.MaxBytes:
		return fmt.Errorf("%d bytes of payload are outside 1 to %d", q.bytes, int64(traffic.MaxBytes))
	case q.rate < 0:
		return fmt.Errorf("rate %d is outside 0 to %d", q.rate, int64(math.MaxInt64))
	case q.lasts < 0:
		return fmt.Errorf("time %v is below zero", q.lasts)
	}
	for _, unused := range q.thresholds[q.count:] {
		if unused != 0 {
			return fmt.Errorf("threshold %v is beyond the number of them, %d", unused, q.count)
		}
	}
	return q.tagging().Check(int(q.service) + 1)
}

// putAnswer writes over b what precedes the payload of a response that began
// when the system's monotonic clock said now.
func putAnswer(b *[responseSize]byte, asked *[requestSize]byte, now int64) {
	copy(b[:idSize], asked[:])
	binary.BigEndian.PutUint64(b[idSize:], uint64(now))
}

// parseAnswer reads what precedes the payload of a response to the request
// that was sent.
func parseAnswer(b *[responseSize]byte, sent *[requestSize]byte) (began int64, err error) {
	if !bytes.Equal(b[:idSize], sent[:idSize]) {
		return 0, fmt.Errorf("%w: it is not the request's", errProtocol)
	}
	return int64(binary.BigEndian.Uint64(b[idSize:])), nil
}
