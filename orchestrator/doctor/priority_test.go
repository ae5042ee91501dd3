package doctor

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWithoutRealTime: a cgroup of version 1 without time for real-time threads is told by
// the file that says so (Linux, Documentation/scheduler/sched-rt-group.rst).
func TestWithoutRealTime(t *testing.T) {
	top := t.TempDir()
	for group, runtime := range map[string]string{"none": "0\n", "some": "950000\n", "other": ""} {
		if err := os.Mkdir(filepath.Join(top, group), 0o755); err != nil {
			t.Fatal(err)
		}
		if runtime == "" { // a kernel without CONFIG_RT_GROUP_SCHED has no such file
			continue
		}
		if err := os.WriteFile(filepath.Join(top, group, "cpu.rt_runtime_us"), []byte(runtime), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	v1 := "proc /proc proc rw 0 0\ncgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0\ncgroup " + top + " cgroup rw,nosuid,cpu,cpuacct 0 0\n"
	for name, tt := range map[string]struct{ groups, mounts, want string }{
		"no time":          {"4:cpuset:/some\n3:cpu,cpuacct:/none\n", v1, filepath.Join(top, "none", "cpu.rt_runtime_us")},
		"some time":        {"3:cpu,cpuacct:/some\n", v1, ""},
		"no such file":     {"3:cpu,cpuacct:/other\n", v1, ""},
		"not mounted":      {"3:cpu,cpuacct:/none\n", "proc /proc proc rw 0 0\n", ""},
		"version 2":        {"0::/none\n", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n", ""},
		"nothing is known": {"", "", ""},
	} {
		if got := withoutRealTime(tt.groups, tt.mounts); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
