package results

import (
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
)

// ThisMachine describes the machine that the program runs on. What the system
// does not tell stays empty.
func ThisMachine() Machine { return machine(os.DirFS("/proc")) }

func machine(proc fs.FS) Machine {
	m := Machine{Cores: runtime.NumCPU(), GoVersion: runtime.Version()}
	if b, err := fs.ReadFile(proc, "sys/kernel/osrelease"); err == nil {
		m.Kernel = strings.TrimSpace(string(b))
	}
	m.CPU = procField(proc, "cpuinfo", "model name")
	kb, _, _ := strings.Cut(procField(proc, "meminfo", "MemTotal"), " ")
	if n, err := strconv.ParseInt(kb, 10, 64); err == nil {
		m.Memory = n * 1024 // the kernel's "kB" is 1024 bytes
	}
	return m
}

// procField is the value of the first "key : value" line of a /proc file.
func procField(proc fs.FS, file, key string) string {
	text, _ := fs.ReadFile(proc, file)
	for line := range strings.Lines(string(text)) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// UnknownRevision is the revision of a build that did not record it: go run does not, nor does
// go build in a git worktree, or with GOFLAGS=-buildvcs=false.
const UnknownRevision = "unknown"

// ThisBuild is the version of the program and the git revision that it was
// built from, with "+changes" when the tree had changes. Either is "unknown"
// when the build did not record it: of the revision, [UnknownRevision].
func ThisBuild() (version, revision string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown", UnknownRevision
	}
	return build(info)
}

func build(info *debug.BuildInfo) (version, revision string) {
	version, revision = info.Main.Version, UnknownRevision
	if version == "" {
		version = "unknown"
	}
	changed := false
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value
		case "vcs.modified":
			changed = s.Value == "true"
		}
	}
	if changed {
		revision = fmt.Sprintf("%s+changes", revision)
	}
	return version, revision
}
