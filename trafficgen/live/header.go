package live

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"aqmlab/trafficgen"
)

// headerSize is the length of a request, and of what precedes a payload.
const headerSize = 24

// magic holds the protocol's name and version.
const magic = "aqm\x01"

// maxDSCP is the largest value of the six bits of a DSCP.
const maxDSCP = 63

// errProtocol is wrapped by the error for bytes that are not a header.
var errProtocol = errors.New("not a header of this protocol")

// header precedes a request's and a response's payload.
type header struct {
	dscp  uint8
	flow  uint64
	bytes int64
}

// put writes the header over b.
func (h header) put(b *[headerSize]byte) {
	copy(b[:], magic)
	b[4], b[5], b[6], b[7] = h.dscp, 0, 0, 0
	binary.BigEndian.PutUint64(b[8:], h.flow)
	binary.BigEndian.PutUint64(b[16:], uint64(h.bytes))
}

// parseHeader reads a header, refusing whatever put cannot have written.
func parseHeader(b *[headerSize]byte) (header, error) {
	h := header{dscp: b[4], flow: binary.BigEndian.Uint64(b[8:])}
	size := binary.BigEndian.Uint64(b[16:])
	switch {
	case !bytes.Equal(b[:4], []byte(magic)):
		return h, fmt.Errorf("%w: it begins with % x", errProtocol, b[:4])
	case h.dscp > maxDSCP:
		return h, fmt.Errorf("%w: DSCP %d is above %d", errProtocol, h.dscp, maxDSCP)
	case b[5]|b[6]|b[7] != 0:
		return h, fmt.Errorf("%w: reserved bytes % x are not zero", errProtocol, b[5:8])
	case size < 1 || size > trafficgen.MaxBytes:
		return h, fmt.Errorf("%w: %d bytes of payload are outside 1 to %d", errProtocol, size, int64(trafficgen.MaxBytes))
	}
	h.bytes = int64(size)
	return h, nil
}
