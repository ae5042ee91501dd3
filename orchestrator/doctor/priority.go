package doctor

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// withoutRealTime is the file that keeps real-time threads from a process, whatever its
// rights: that of its cgroup (version 1) in a kernel with CONFIG_RT_GROUP_SCHED, if it says
// 0 us. It is empty if there is none. The texts are those of /proc/self/cgroup and
// /proc/self/mounts.
func withoutRealTime(groups, mounts string) string {
	const controller = "cpu"
	has := func(list string) bool { return slices.Contains(strings.Split(list, ","), controller) }
	var group, at string
	for line := range strings.Lines(groups) {
		if f := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3); len(f) == 3 && has(f[1]) {
			group = f[2]
		}
	}
	for line := range strings.Lines(mounts) {
		if f := strings.Fields(line); len(f) > 3 && f[2] == "cgroup" && has(f[3]) {
			at = f[1]
		}
	}
	if group == "" || at == "" {
		return ""
	}
	file := filepath.Join(at, group, "cpu.rt_runtime_us")
	if text, err := os.ReadFile(file); err != nil || strings.TrimSpace(string(text)) != "0" {
		return ""
	}
	return file
}
