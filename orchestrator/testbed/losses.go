package testbed

import (
	"fmt"

	"github.com/cilium/ebpf/features"

	"aqmlab/labs"
	"aqmlab/orchestrator/host/cc"
	"aqmlab/trafficgen/transport"
)

// rackOnly is the first kernel that finds losses in one way: Linux 6.17 removed what
// RFC 6675 describes ("tcp: remove obsolete and unused RFC3517/RFC6675 loss recovery
// code").
const rackOnly = 6<<16 | 17<<8

// kernelVersion is that of the running kernel as KERNEL_VERSION has it; zero when it
// is not known.
func kernelVersion() uint32 {
	version, err := features.LinuxVersionCode()
	if err != nil {
		return 0
	}
	return version
}

// otherLosses says, a line each, where real hosts on a kernel do not find or answer
// losses as the lab asks.
func otherLosses(lab *labs.Lab, version uint32) []string {
	var lines []string
	add := func(format string, a ...any) {
		release := fmt.Sprintf("Linux %d.%d", version>>16, version>>8&0xff)
		lines = append(lines, fmt.Sprintf(format, append([]any{release}, a...)...))
	}
	if r := lab.Host.LossRecovery; r != labs.RecoverRACK && version >= rackOnly {
		add("host.loss_recovery: %s has rack alone, without tail loss probes; %s needs one before 6.17, such as that of runtime uml", r)
	}
	t, err := lab.Host.BuildTransport()
	if err == nil && t.Name == "dctcp" && t.DCTCP.OnLoss == transport.OnLossHalf && version != 0 && version < cc.HalvesSince {
		add("host.transport.%[2]s: %[1]s has %[3]s; %[4]s needs 5.1 or later", transport.OnLoss, transport.OnLossAlpha, transport.OnLossHalf)
	}
	return lines
}
