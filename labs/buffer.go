package labs

import (
	"slices"
	"strings"

	"aqmlab/switch/port"
	"aqmlab/units"
)

const (
	perPortPath  = "switch.buffer.per_port"
	perQueuePath = "switch.buffer.per_queue"
	poolPath     = "switch.buffer.pool"
	alphaPath    = "switch.buffer.alpha"
)

// defaultAlpha lets a lone queue take half of the pool.
const defaultAlpha = 1

// bufferKey is a key of the buffer, and the sharings that use it.
type bufferKey struct {
	path string
	of   []string
}

// checkBuffer wants the sizes that the sharing uses, and no others.
func (r *reader) checkBuffer(l *Lab) {
	if !r.sound("switch.buffer.sharing") {
		return
	}
	b := &l.Switch.Buffer
	for _, key := range []bufferKey{
		{perPortPath, []string{port.SharedPort}},
		{perQueuePath, []string{port.SharedStatic}},
		{poolPath, []string{port.SharedPool, port.SharedDynamic}},
		{alphaPath, []string{port.SharedDynamic}},
	} {
		if !slices.Contains(key.of, b.Sharing) && r.get(key.path) != nil {
			r.fail(key.path, "not used when switch.buffer.sharing is %s: want %s", b.Sharing, strings.Join(key.of, " or "))
		}
	}
	switch b.Sharing {
	case port.SharedPort:
		r.checkHoldsPacket(l, perPortPath, b.PerPort)
		return
	case port.SharedStatic:
		r.checkHoldsPacket(l, perQueuePath, b.PerQueue)
	case port.SharedDynamic:
		if b.Alpha == 0 {
			b.Alpha = defaultAlpha
		}
		r.checkHoldsPacket(l, poolPath, b.Pool)
	case port.SharedPool:
		r.checkHoldsPacket(l, poolPath, b.Pool)
	}
	b.PerPort = 0
}

func (r *reader) checkHoldsPacket(l *Lab, path string, size units.Size) {
	mtu := units.Size(l.Host.MTU)
	switch {
	case size == 0 && r.sound(path):
		r.fail(path, "missing: switch.buffer.sharing is %s: want a size such as 96KB", l.Switch.Buffer.Sharing)
	case size < mtu && r.sound("host.mtu", path):
		r.fail(path, "%v does not hold one packet: want at least host.mtu, %dB", size, mtu)
	}
}
