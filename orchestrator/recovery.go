package orchestrator

import (
	"fmt"

	"github.com/cilium/ebpf/features"

	"aqmlab/labs"
)

// rackOnly is the first kernel that finds losses in one way: Linux 6.17 removed
// what RFC 6675 describes ("tcp: remove obsolete and unused RFC3517/RFC6675 loss
// recovery code").
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

// recovers says when real hosts on a kernel do not find losses as the lab asks.
func recovers(lab *labs.Lab, version uint32) string {
	if lab.Host.LossRecovery != labs.RecoverSACK || version < rackOnly {
		return ""
	}
	return fmt.Sprintf("host.loss_recovery: Linux %d.%d has rack alone, without tail loss probes; %s needs one before 6.17, such as that of runtime %s", version>>16, version>>8&0xff, labs.RecoverSACK, UML)
}
