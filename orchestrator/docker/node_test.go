package docker

import (
	"slices"
	"testing"

	"github.com/docker/docker/api/types/container"
)

// TestNodes: no container may more than its part of a lab takes.
func TestNodes(t *testing.T) {
	service := []string{"NET_ADMIN", "NET_RAW", "CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "NET_BIND_SERVICE", "SETGID", "SETUID"}
	tests := []struct {
		name         string
		node         Node
		capabilities []string
		program      string
		mounts       map[string]string // target: source
		limits       container.Resources
	}{
		{"host", Node{Host: "h1", CPUSet: []int{0, 2}, CPUs: 0.5, Memory: 1e8}, []string{"NET_ADMIN", "NET_RAW"}, "/usr/local/bin/aqmlab",
			map[string]string{"/.aqmlab/owner.sock": "SOCKET"}, container.Resources{CpusetCpus: "0,2", NanoCPUs: 5e8, Memory: 1e8, MemorySwap: 1e8}},
		{"switch", Node{Host: "s1", Switch: true}, []string{"NET_ADMIN", "NET_RAW", "SYS_NICE"}, "/usr/local/bin/aqmlab",
			map[string]string{"/.aqmlab/owner.sock": "SOCKET"}, container.Resources{CgroupParent: "ROOT", CPUShares: 262144}},
		{"named image", Node{Host: "h1", Image: "debian:12"}, service, "/.aqmlab/bin/aqmlab",
			map[string]string{"/.aqmlab/owner.sock": "SOCKET", "/.aqmlab/bin": "VOLUME"}, container.Resources{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, h := tt.node.config("REF", []string{"agent", "switch"}), tt.node.hostConfig("SOCKET", "VOLUME", "ROOT")
			if h.Privileged || h.NetworkMode != "none" || !h.ReadonlyRootfs || h.PidMode != "" || h.IpcMode != "" || len(h.Devices) > 0 {
				t.Errorf("host config %+v", h)
			}
			if !slices.Equal(h.SecurityOpt, []string{"no-new-privileges"}) || !slices.Equal(h.CapDrop, []string{"ALL"}) || !slices.Equal(h.CapAdd, tt.capabilities) {
				t.Errorf("options %v, capabilities less %v with %v", h.SecurityOpt, h.CapDrop, h.CapAdd)
			}
			mounts := map[string]string{}
			for _, m := range h.Mounts {
				mounts[m.Target] = m.Source
				if !m.ReadOnly {
					t.Errorf("%s can be written", m.Target)
				}
			}
			if len(mounts) != len(tt.mounts) {
				t.Errorf("mounts %v, want %v", mounts, tt.mounts)
			}
			for target, source := range tt.mounts {
				if mounts[target] != source {
					t.Errorf("mounts %v, want %v", mounts, tt.mounts)
				}
			}
			if r := h.Resources; r.CpusetCpus != tt.limits.CpusetCpus || r.NanoCPUs != tt.limits.NanoCPUs || r.Memory != tt.limits.Memory ||
				r.MemorySwap != tt.limits.MemorySwap || r.CPUShares != tt.limits.CPUShares || r.CgroupParent != tt.limits.CgroupParent {
				t.Errorf("limits %+v, want %+v", r, tt.limits)
			}
			if p := h.PidsLimit; p == nil || *p <= 0 || *p > 1<<15 { // the kernel's own limit on small machines
				t.Errorf("limit of processes %v", p)
			}
			if !slices.Equal(c.Entrypoint, []string{tt.program}) || !slices.Equal(c.Cmd, []string{"agent", "join", "/.aqmlab/owner.sock", "agent", "switch"}) {
				t.Errorf("it runs %v %v", c.Entrypoint, c.Cmd)
			}
			if c.Image != "REF" || c.Hostname != tt.node.Host {
				t.Errorf("image %s, host name %s", c.Image, c.Hostname)
			}
		})
	}
	if !slices.Equal(capabilities, []string{"NET_ADMIN", "NET_RAW"}) {
		t.Errorf("the capabilities of all are %v by now", capabilities)
	}
}
