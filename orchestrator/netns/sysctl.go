package netns

import (
	"errors"

	"aqmlab/orchestrator/host"
)

// ackDefer makes a receiver that works off its backlog acknowledge several
// segments at once. The kernel's own DCTCP then tells its sender of one mark
// where there were many. It came with Linux 6.7.
const ackDefer = "net.ipv4.tcp_backlog_ack_defer"

// ackEverything turns it off, where it is.
func ackEverything() error {
	err := host.Setting{Key: ackDefer, Value: "0"}.Set()
	if errors.Is(err, host.ErrNoSysctl) {
		return nil
	}
	return err
}

// hostSysctls are the settings of a host's namespace, in the order in which
// they are made: before its device is, so that the device inherits them.
func hostSysctls(p Plan) []host.Setting {
	settings := []host.Setting{
		// The reverse path filter knows nothing of a gateway that is no neighbour's
		// address. The larger of "all" and the device's counts, hence both.
		{Key: "net.ipv4.conf.all.rp_filter", Value: "0"},
		{Key: "net.ipv4.conf.default.rp_filter", Value: "0"},
		// What one connection learned (ssthresh, RTT) must not shape the next:
		// runs are independent.
		{Key: "net.ipv4.tcp_no_metrics_save", Value: "1"},
		{Key: "net.ipv4.tcp_slow_start_after_idle", Value: bit(p.TCP.IdleRestart)},
		{Key: "net.ipv4.tcp_ecn", Value: bit(p.TCP.ECN)},
		// A lost SYN that asked for ECN is repeated without, as if a middlebox had
		// swallowed it. Here it was the queue, and the flow would run without ECN to
		// its end.
		{Key: "net.ipv4.tcp_ecn_fallback", Value: "0"},
	}
	if p.TCP.SACKRecovery {
		settings = append(settings, host.Setting{Key: "net.ipv4.tcp_recovery", Value: "0"}, host.Setting{Key: "net.ipv4.tcp_early_retrans", Value: "0"})
	}
	return append(settings, p.Sysctls...)
}

func bit(on bool) string {
	if on {
		return "1"
	}
	return "0"
}
