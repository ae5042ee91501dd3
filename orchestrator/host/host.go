// Package host sets up and reads a lab host's part of the kernel: sysctls,
// offloads, receive steering, and the TCP counters.
//
// Functions that touch /proc, /sys or interfaces act on the network namespace
// of the calling OS thread: call them on a locked thread that is inside the
// host's namespace.
package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// sysctlRoot shows the calling thread's own network namespace below net.
const sysctlRoot = "/proc/sys"

// ErrNoSysctl is wrapped by the errors for a key that this kernel does not
// have.
var ErrNoSysctl = errors.New("this kernel does not have it")

// Setting is one sysctl and its value, as in sysctl.conf.
type Setting struct {
	Key   string // "net.ipv4.tcp_ecn"; no part may contain a dot of its own
	Value string
}

// Set writes the setting.
func (s Setting) Set() error {
	err := os.WriteFile(s.path(), []byte(s.Value), 0)
	if err != nil {
		return fmt.Errorf("set sysctl %s = %s: %w", s.Key, s.Value, plain(err))
	}
	return nil
}

// SetIfThere sets it where this kernel has it.
func (s Setting) SetIfThere() error {
	if err := s.Set(); !errors.Is(err, ErrNoSysctl) {
		return err
	}
	return nil
}

// Sysctl reads the sysctl key, without the line's end.
func Sysctl(key string) (string, error) {
	raw, err := os.ReadFile(Setting{Key: key}.path())
	if err != nil {
		return "", fmt.Errorf("read sysctl %s: %w", key, plain(err))
	}
	return strings.TrimSpace(string(raw)), nil
}

func (s Setting) path() string {
	return filepath.Join(sysctlRoot, strings.ReplaceAll(s.Key, ".", "/"))
}

// plain takes the path, which the key says already, out of an error.
func plain(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNoSysctl
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// DisableIPv6 turns IPv6 off for all devices, present and to come, so that
// none of its housekeeping (neighbour discovery, multicast reports) is in the
// traffic. A kernel without IPv6 needs nothing.
func DisableIPv6() error {
	for _, scope := range []string{"all", "default"} {
		if err := (Setting{"net.ipv6.conf." + scope + ".disable_ipv6", "1"}).SetIfThere(); err != nil {
			return err
		}
	}
	return nil
}
