package labs

import (
	"fmt"
	"time"

	"aqmlab/kind"
	"aqmlab/trafficgen/transport"
	"aqmlab/units"
)

const (
	transportPath  = "host.transport"
	rtoMinPath     = "host.rto_min"
	rtoInitialPath = "host.rto_initial"
	rtoMaxPath     = "host.rto_max"
	delayedACKPath = "host.delayed_ack"
	ackTimeoutPath = "host.ack_timeout"

	lossRecoveryPath = "host.loss_recovery"
	stackPath        = "host.stack"
	smallQueuePath   = "host.small_queue"
)

// What a host sends by.
const (
	HostNIC        = "nic"    // keeps all that it is given, and marks nothing
	HostSwitchPort = "switch" // a port like those of switches, with their buffer, scheduler and scheme
)

// How hosts find losses.
const (
	RecoverRACK = "rack" // by time, with tail loss probes (RFC 8985)
	RecoverSACK = "sack" // by what is selectively acknowledged (RFC 6675)
	// RecoverSACKPRR is RecoverSACK as Linux does it without RACK, with windows that
	// are reduced in proportion to what arrives (RFC 6937).
	RecoverSACKPRR = "sack-prr"
)

// What modelled hosts do around their transport.
const (
	StackLinux = "linux" // what Linux does, where losses are found as it does
	StackPlain = "plain" // nothing
)

// longestRTO is Linux's longest retransmission timeout (TCP_RTO_MAX).
const longestRTO = 120 * time.Second

// linuxHost is what real hosts do about the keys that only modelled hosts
// follow, and the default of these keys.
func linuxHost() Host {
	return Host{
		Transport:  "dctcp",
		RTOInitial: time.Second, // RFC 6298, section 2.1
		RTOMax:     longestRTO,
		DelayedACK: 2,                     // RFC 5681, section 4.2
		ACKTimeout: 40 * time.Millisecond, // Linux's shortest (TCP_DELACK_MIN)

		LossRecovery: RecoverRACK,
		Stack:        StackLinux,
		SmallQueue:   time.Millisecond, // TCP small queues at the default sk_pacing_shift
	}
}

// hostDefaults is a host for which a lab says nothing.
func hostDefaults() Host {
	h := linuxHost()
	h.InitCwnd, h.RTOMin, h.MTU, h.IdleRestart, h.Port = 10, 10*time.Millisecond, 1500, true, HostNIC
	return h
}

// transport reads the transport.
func (r *reader) transport(l *Lab) {
	c := r.choice(r.form.choice(transportPath), kind.Choice{Kind: linuxHost().Transport})
	l.Host.Transport, l.Host.TransportParams = c.Kind, c.Params
}

func (r *reader) checkHost(l *Lab) {
	h := l.Host
	c, ch := r.form.choice(transportPath), kind.Choice{Kind: h.Transport, Params: h.TransportParams}
	checkUsed(r, c, ch, transport.Table())
	build(r, c, ch, func(params map[string]any) (transport.Transport, error) {
		return transport.Table().New(h.Transport, params, struct{}{})
	})
	r.checkRTO(rtoMinPath, h.RTOMin, h.RTOMax)
	r.checkRTO(rtoInitialPath, h.RTOInitial, h.RTOMax)
}

func (r *reader) checkRTO(path string, rto, longest time.Duration) {
	if rto > longest && r.sound(path, rtoMaxPath) {
		r.fail(path, "%s is above host.rto_max, %s", units.FormatTime(rto), units.FormatTime(longest))
	}
}

// Sim is the runtime with modelled hosts. All others have real ones.
const Sim = "sim"

// Unsupported lists, one line each, the settings of the lab that hosts of a
// runtime do not follow, and what they do instead. Modelled hosts follow all.
// Real hosts do as Linux does in wall time, whatever the dilation.
func (l *Lab) Unsupported(runtime string) []string {
	if runtime == Sim {
		return nil
	}
	var lines []string
	add := func(key string, want, have any) {
		if want != have {
			lines = append(lines, fmt.Sprintf("%s: %v is for modelled hosts only, real hosts have %v", key, want, have))
		}
	}
	h, linux := l.Host, linuxHost()
	add(rtoInitialPath, units.FormatTime(h.RTOInitial), units.FormatTime(linux.RTOInitial))
	add(rtoMaxPath, units.FormatTime(h.RTOMax), units.FormatTime(linux.RTOMax))
	add(delayedACKPath, h.DelayedACK, linux.DelayedACK)
	add(ackTimeoutPath, units.FormatTime(h.ACKTimeout), units.FormatTime(linux.ACKTimeout))
	add(stackPath, h.Stack, linux.Stack)
	add(smallQueuePath, units.FormatTime(h.SmallQueue), units.FormatTime(linux.SmallQueue))
	for _, p := range h.params() {
		if want, given := h.TransportParams[p.Name]; given && p.Name != transport.OnLoss {
			add(join(transportPath, p.Name), fmt.Sprint(want), p.Default)
		}
	}
	if runtime == Docker {
		return lines
	}
	for _, key := range h.Container.unused() {
		lines = append(lines, fmt.Sprintf("%s: only hosts of runtime %s follow it", key, Docker))
	}
	return lines
}

// BuildTransport is the host's transport with the lab's parameters.
func (h Host) BuildTransport() (transport.Transport, error) {
	return transport.Table().New(h.Transport, h.TransportParams, struct{}{})
}

// params are the parameters of the host's transport.
func (h Host) params() []kind.Param {
	row, err := transport.Table().Find(h.Transport)
	if err != nil {
		return nil // a lab that was not loaded may name any
	}
	return row.Params
}
